"""LlamaIndex Workflows as planes: its specs (standard library only), its adapters, and what it states of itself."""
