"""DBOS Transact: durable workflows of recorded steps, measured as the engine that the matrix is compared with."""
