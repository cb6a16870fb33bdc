"""Programs on pydantic-ai-slim."""
