"""Histories: what was asked of a plane and what was observed, as typed events in one append-only file."""
