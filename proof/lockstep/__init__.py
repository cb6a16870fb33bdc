"""The reference plane in lockstep with the model: breadth-first, one action at a time, every observation compared.

`driven` makes the plane take one action of the model, and reads from its store which state of the model it is in.
`walk` goes through all states that the plane can reach, and compares.
"""

from __future__ import annotations

from proof.lockstep.walk import Discrepancy, Walk, walk

__all__ = ["Discrepancy", "Walk", "walk"]
