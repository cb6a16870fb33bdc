"""The guarded planes with one protection taken out. This folder is on the path of their worker processes."""
