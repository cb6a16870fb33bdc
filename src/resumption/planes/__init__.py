"""Planes: one adapter for each framework mechanism, over one interface."""
