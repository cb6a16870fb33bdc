"""pydantic-graph's resume plane: a graph of nodes whose snapshots `FileStatePersistence` keeps in a JSON file."""
