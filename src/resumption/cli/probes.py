"""`resumption probes`: the protocols of the suite."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from resumption.cli.selection import choose_probes
from resumption.harness.probes import Probe
from resumption.report.text import hang, report_console

__all__ = ["print_probe", "probes"]

_INDENT = 4


@click.command(short_help="List the protocols that measure.")
@click.argument("prefixes", metavar="[ADDRESS]...", nargs=-1)
def probes(prefixes: tuple[str, ...]) -> None:
    """List the probes and what they decide; of those whose address begins with ADDRESS, everything."""
    console = report_console()
    if not prefixes:
        _print_overview(console, choose_probes(()))
        return
    for number, probe in enumerate(choose_probes(prefixes)):
        if number:
            console.print()
        print_probe(console, probe)


def _print_overview(console: Console, found: Sequence[Probe]) -> None:
    width = max(len(probe.address) for probe in found)
    for probe in found:
        first = Text(probe.address, style="bold")
        hang(console, first, f"{', '.join(probe.decides)}: {probe.expectation}", indent=width + 2)
    console.print()
    hang(console, Text(), "`resumption probes ADDRESS` tells what a probe does, and where it comes from.", indent=0)


def print_probe(console: Console, probe: Probe) -> None:
    """Print one probe in full."""
    console.print(Text(probe.address, style="bold"))
    facts = {
        "does": probe.description,
        "expects": probe.expectation,
        "decides": ", ".join(probe.decides),
        "runs": f"once for each form to {probe.operation}" if probe.operation else "once",
        "needs": ", ".join(probe.needs) or "nothing special",
        "source": probe.source,
    }
    for name, fact in facts.items():
        hang(console, Text(), Text.assemble((f"{name}: ", "cyan"), fact), indent=_INDENT)
