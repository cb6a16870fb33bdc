"""Public cases of frameworks as programs of their own: each runs where nothing but its framework is installed.

A folder is named by its distribution, and holds its programs and the locks of the releases that they run on. A program
writes what it saw as one JSON value.
"""
