"""LangGraph with the guard applied, as planes: the same programs and savers, run under `resumption.langgraph.guard`."""
