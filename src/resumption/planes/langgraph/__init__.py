"""LangGraph as planes: its specs (standard library only), its adapters, and what LangGraph states of itself."""
