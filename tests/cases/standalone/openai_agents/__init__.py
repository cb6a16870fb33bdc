"""Programs on openai-agents."""
