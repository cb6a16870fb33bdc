"""The killable side of the harness: a zygote that imports a framework once, and the processes forked from it.

Everything here runs inside the environment of the framework under test, so it needs the standard library only.
"""
