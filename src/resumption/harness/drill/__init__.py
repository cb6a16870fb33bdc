"""Drills: a user's own program, killed and resumed at every point, and compared with runs of it without faults."""
