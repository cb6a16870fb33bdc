"""What "resume" means for workflow frameworks: a contract, a model, a conformance harness and a guard.

This module stays light on purpose: it is imported inside the environments of the frameworks under test, where only the
standard library and that framework may be needed. The names of the effect ledger are loaded at their first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resumption.guard.effects import Fired, Ledger, NotFired, Unknown, current_key, effect, task_scope

__all__ = ["Fired", "Ledger", "NotFired", "Unknown", "__version__", "current_key", "effect", "task_scope"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(importlib.import_module("resumption.guard.effects"), name)
    raise AttributeError(f"module 'resumption' has no attribute {name!r}")
