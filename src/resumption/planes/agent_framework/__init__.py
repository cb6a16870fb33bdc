"""Microsoft's Agent Framework: workflows of executors, with a checkpoint after each superstep."""
