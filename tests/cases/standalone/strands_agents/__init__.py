"""Programs on strands-agents."""
