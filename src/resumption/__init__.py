"""What "resume" means for workflow frameworks: a contract, a model, a harness and a guard.

This module stays light on purpose: it is imported inside the environments of the frameworks under test, where only the
standard library and that framework may be needed.
"""

__version__ = "0.1.0"
