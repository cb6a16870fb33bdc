"""The lines of a report that say whether verdicts depend on the storage backend."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from resumption.harness.invariance import backend_invariance
from resumption.report.marks import MARKS
from resumption.report.text import hang, heading
from resumption.report.view import View

__all__ = ["print_invariance"]

_INDENT = 4


def print_invariance(view: View, console: Console) -> None:
    """Print how many cells say the same on every backend, and those that don't; nothing where no cell has several."""
    found = backend_invariance(view.receipt.cells)
    if not found.compared:
        return
    same = found.compared - found.varying
    heading(console, f"Backends: {same} of {found.compared} cells with several say the same on each")
    for variance in found.variances:
        told = "; ".join(f"{MARKS[label].word} on {backend}" for backend, label in variance.labels.items())
        hang(console, Text(f" {variance.cell}"), f"{variance.probe}: {told}", indent=_INDENT)
