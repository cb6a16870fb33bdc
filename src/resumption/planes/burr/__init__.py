"""Apache Burr: applications whose state is stored after each action."""
