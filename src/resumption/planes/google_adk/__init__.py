"""Google's Agent Development Kit: resumable workflows, rebuilt from the events of a session."""
