"""AutoGen AgentChat as a plane: a `Swarm` whose state its caller saves and loads."""
