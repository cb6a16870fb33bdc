"""The reference plane: resume semantics on SQLite, written straight from the contract.

It is the positive control of the harness (every property conforms on it) and, with one rule exchanged at a time
(`resumption.planes.faulty`), the negative controls. Every decision is one of `resumption.decide`, taken between
`BEGIN IMMEDIATE` and a write; SQL names keys only.
"""

from resumption.planes.reference.spec import SPECS

__all__ = ["SPECS"]
