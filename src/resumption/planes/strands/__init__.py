"""Strands Agents: an agent that calls tools, restored from snapshots of its conversation."""
