"""Programs on agent-framework-core."""
