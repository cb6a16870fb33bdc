"""Whether verdicts depend on the storage backend: computed cell by cell, over what was measured on several.

A cell is compared probe by probe, since a probe may apply to one backend alone: no process dies on a backend in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from resumption.contract.verdicts import Label
from resumption.harness.receipts import Cell

__all__ = ["Invariance", "Variance", "backend_invariance"]

_ANY = "*"
_VERDICTS = frozenset({Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT, Label.HOLDS})
"""The labels that say something of the plane; the others say that there was nothing to say."""


@dataclass(frozen=True, slots=True)
class Variance:
    """A probe that says different things of one cell on different backends."""

    cell: str
    """The cell's identity, with `*` for the backend."""
    probe: str
    labels: Mapping[str, Label]
    """What it says, by backend."""


@dataclass(frozen=True, slots=True)
class Invariance:
    """How many cells have verdicts on several backends, and where those differ."""

    compared: int
    variances: Sequence[Variance]

    @property
    def varying(self) -> int:
        """How many of the compared cells differ."""
        return len({variance.cell for variance in self.variances})


def backend_invariance(cells: Iterable[Cell]) -> Invariance:
    """Compare what each probe says of each cell across backends, release by release."""
    said: dict[tuple[str, str, str], dict[str, Label]] = {}
    for cell in cells:
        name = replace(cell, backend=_ANY).identity
        for part in cell.parts:
            if part.label in _VERDICTS:
                said.setdefault((name, cell.version, part.probe), {})[cell.backend] = part.label
    several = {key: labels for key, labels in said.items() if len(labels) > 1}
    return Invariance(
        compared=len({(name, version) for name, version, _ in several}),
        variances=[
            Variance(f"{name}@{version}" if version else name, probe, labels)
            for (name, version, probe), labels in sorted(several.items())
            if len(set(labels.values())) > 1
        ],
    )
