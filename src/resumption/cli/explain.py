"""`resumption explain`: what a code in a report or an error stands for."""

from __future__ import annotations

import inspect

import click
from rich.console import Console
from rich.text import Text

import resumption.errors
from resumption.cli.probes import print_probe
from resumption.cli.selection import choose_probes
from resumption.contract.properties import STATEMENTS, Property
from resumption.contract.verdicts import Label
from resumption.errors import ResumptionError, UnknownName
from resumption.harness.probes import PROBES
from resumption.report.marks import MARKS
from resumption.report.text import hang, mark, report_console

__all__ = ["error_classes", "explain"]


@click.command()
@click.argument("code")
def explain(code: str) -> None:
    """Explain CODE: a property (EO), a label (divergent), an error (RSM-301), or a probe (fork/two-values)."""
    console = report_console()
    lower = code.lower()
    properties = {property_.lower(): property_ for property_ in Property}
    labels = {name: label for label in Label for name in (label.value, MARKS[label].word)}
    errors = {error.code.lower(): error for error in error_classes()}
    if lower in properties:
        _explain_property(console, properties[lower])
    elif lower in labels:
        _explain_label(console, labels[lower])
    elif lower in errors:
        _explain_error(console, errors[lower])
    elif lower and any(probe.address.startswith(lower) for probe in PROBES):
        for probe in choose_probes([lower]):
            print_probe(console, probe)
    else:
        raise UnknownName(
            f"There is nothing called {code!r} to explain.",
            advice=f"Properties are {', '.join(Property)}; `resumption probes` lists the probes.",
        )


def error_classes() -> tuple[type[ResumptionError], ...]:
    """Every error class of this package, by code."""
    found = [error for error in vars(resumption.errors).values() if inspect.isclass(error)]
    return tuple(sorted((e for e in found if issubclass(e, ResumptionError)), key=lambda error: error.code))


def _explain_property(console: Console, property_: Property) -> None:
    statement = STATEMENTS[property_]
    console.print(Text(f"{property_}  {statement.name}", style="bold"))
    for text in (statement.question, statement.statement, f"Source: {statement.source}."):
        hang(console, Text(), text, indent=4)
    decided = [probe.address for probe in PROBES if property_ in probe.decides]
    hang(console, Text(), f"Probes: {', '.join(decided) or 'none yet'}.", indent=4)


def _explain_label(console: Console, label: Label) -> None:
    console.print(mark(console, label) + Text(f"  {MARKS[label].word}", style="bold"))
    hang(console, Text(), f"{MARKS[label].meaning}.", indent=4)


def _explain_error(console: Console, error: type[ResumptionError]) -> None:
    console.print(Text(f"{error.code}  {error.__name__}", style="bold"))
    for paragraph in inspect.cleandoc(error.__doc__ or "").split("\n\n"):
        hang(console, Text(), " ".join(paragraph.split()), indent=4)
