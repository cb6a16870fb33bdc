"""Where the effect ledger keeps its records: SQLite and PostgreSQL, behind one small protocol."""
