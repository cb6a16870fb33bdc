"""`resumption explain`: what a code in a report or an error stands for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click
from rich.console import Console
from rich.text import Text

import resumption.errors
from resumption.cli.probes import print_probe
from resumption.cli.selection import choose_probes
from resumption.contract.properties import STATEMENTS, Property
from resumption.contract.verdicts import Facet, Label
from resumption.errors import ResumptionError, UnknownName
from resumption.harness.probes import PROBES
from resumption.planes.interface import Form, PlaneSpec
from resumption.planes.registry import families, specs
from resumption.planes.statements import Citation, cited_by, load
from resumption.report.marks import MARKS
from resumption.report.text import hang, mark, report_console

__all__ = ["error_classes", "explain"]

_FAULTY = "faulty"  # the family of the negative controls, whose forms are those of the reference

_FACETS: dict[Facet, str] = {
    Facet.CELL: "What the matrix shows of a property.",
    Facet.WINDOW: "EO where a run is cut off between an effect and its durable record, which no framework can close by "
    "itself. It stands in brackets beside the cell, and never makes a finding.",
    Facet.RACE: "EO where two operations on one run are under way at once, such as two workers that recover one "
    "crashed run. It stands beside the cell.",
    Facet.ORDER: "RD across the two orders in which an unordered pair of writes may have become durable. It stands "
    "beside the cell.",
}


@click.command(short_help="Explain whatever a report or an error calls something.")
@click.argument("code")
def explain(code: str) -> None:
    """Explain CODE: whatever a report or an error calls something.

    A property (EO), a label or its mark (divergent, D), a facet (window), a resume form (no-input), a statement that a
    verdict rests on (eo-before-interrupt), an error (RSM-301, AlreadyConsumed), or a probe (fork/two-values).
    """
    console = report_console()
    lower = code.lower()
    properties = {property_.lower(): property_ for property_ in Property}
    labels = {name.lower(): label for label in Label for name in _names_of(label)}
    errors = {name.lower(): error for error in error_classes() for name in (error.code, error.__name__)}
    facets = {facet.value: facet for facet in Facet}
    if lower in properties:
        _explain_property(console, properties[lower])
    elif lower in labels:
        _explain_label(console, labels[lower])
    elif lower in errors:
        _explain_error(console, errors[lower])
    elif lower in facets:
        _explain_facet(console, facets[lower])
    elif forms := [(spec, form) for spec in _planes(faulty=False) for form in spec.forms if form.name == lower]:
        _explain_form(console, forms)
    elif citations := dict.fromkeys(found for spec in _planes() for found in load(spec) if found.id == lower):
        for citation in citations:
            _explain_citation(console, citation)
    elif lower and any(probe.address.startswith(lower) for probe in PROBES):
        for probe in choose_probes([lower]):
            print_probe(console, probe)
    else:
        raise UnknownName(
            f"There is nothing called {code!r} to explain.",
            advice="It explains what a report calls something: a property (EO), a mark (D), a facet (window), a resume "
            "form (no-input), a statement's id, an error, or a probe.",
        )


def error_classes() -> tuple[type[ResumptionError], ...]:
    """Every error class of this package, by code."""
    found = [error for error in vars(resumption.errors).values() if inspect.isclass(error)]
    return tuple(sorted((e for e in found if issubclass(e, ResumptionError)), key=lambda error: error.code))


def _names_of(label: Label) -> tuple[str, ...]:
    mark_ = MARKS[label]
    return label.value, mark_.word, mark_.symbol, mark_.plain


def _planes(*, faulty: bool = True) -> Iterator[PlaneSpec]:
    return (spec for family in families() if faulty or family != _FAULTY for spec in specs(family))


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


def _explain_facet(console: Console, facet: Facet) -> None:
    console.print(Text(facet.value, style="bold"))
    hang(console, Text(), _FACETS[facet], indent=4)


def _explain_form(console: Console, found: list[tuple[PlaneSpec, Form]]) -> None:
    """Print what a form is on each family of planes that has one of the name, and where."""
    console.print(Text(found[0][1].name, style="bold"))
    told: dict[tuple[str, Form], list[PlaneSpec]] = {}
    for spec, form in found:
        told.setdefault((spec.name.partition("-")[0], form), []).append(spec)
    for (_, form), planes in told.items():
        where = ", ".join(f"{spec.name}/{spec.path}" for spec in planes)
        hang(console, Text(), f"A form to {form.operation} on {where}: {form.description.rstrip('.')}.", indent=4)
        hang(console, Text(), _source(planes[0], form), indent=4)


def _source(spec: PlaneSpec, form: Form) -> str:
    if not spec.package:
        return "Defined here."
    citation = cited_by(load(spec), form)
    return f"Documented: {citation.place}." if citation else "Nobody documents it: undocumented at worst."


def _explain_citation(console: Console, citation: Citation) -> None:
    console.print(Text(citation.id, style="bold"))
    of = citation.property or "a resume form"
    limits = [*citation.forms, *citation.paths]
    bears = f"Bears on {of} as a {citation.bears}, versions {citation.versions}"
    hang(console, Text(), f"“{citation.text}”", indent=4)
    hang(console, Text(), f"{citation.place}, read {citation.read}.", indent=4)
    hang(console, Text(), bears + (f", for {', '.join(limits)}." if limits else "."), indent=4)
