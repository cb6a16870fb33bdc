"""CrewAI Flows: state saved by method, checkpoints of the whole program, and questions that wait for a human."""
