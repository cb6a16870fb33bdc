"""The plane of a drill: a user's own LangGraph program, its named effects replaced by ones that are on record."""
