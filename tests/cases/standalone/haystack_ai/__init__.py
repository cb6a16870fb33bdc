"""Programs on haystack-ai."""
