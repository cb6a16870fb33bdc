"""The two sides of a comparison: a receipt that is there, or a target that is measured, again if need be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from resumption.cli.progress import progress
from resumption.harness.comparison import Comparison, changed_probes, compare, confirm
from resumption.harness.measurement import measure
from resumption.harness.probes import Probe
from resumption.harness.receipts import Receipt
from resumption.harness.targets import Target

__all__ = ["Bench", "Side"]

Side = Target | Receipt


@dataclass(frozen=True, slots=True)
class Bench:
    """How sides are measured: by which probes, how many jobs at once, and with which Python's environments."""

    probes: Sequence[Probe]
    jobs: int
    python: str

    def receipt(self, side: Side, probes: Sequence[Probe] | None = None) -> Receipt:
        """The receipt of a side, measured now if it is a target."""
        if isinstance(side, Receipt):
            return side
        click.echo(f"Measuring {side} …", err=True)
        with progress() as listen:
            return measure(
                [side], self.probes if probes is None else probes, jobs=self.jobs, python=self.python, listen=listen
            )

    def compare(
        self, sides: tuple[Side, Side], receipts: tuple[Receipt, Receipt], names: tuple[str, str]
    ) -> Comparison:
        """Compare the sides by their receipts, and measure again what changed on a side that is a target."""
        found = compare(*receipts, names=names)
        changed = [probe for probe in self.probes if probe.address in changed_probes(found)]
        if not changed or all(isinstance(side, Receipt) for side in sides):
            return found
        click.echo(f"Once more, to tell change from chance: {', '.join(probe.address for probe in changed)}.", err=True)
        before, after = sides
        return confirm(found, self.receipt(before, changed), self.receipt(after, changed))
