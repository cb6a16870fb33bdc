"""`resumption planes`: what can be measured."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from resumption.planes.interface import Capability, Form, Operation, PlaneSpec
from resumption.planes.registry import families, specs
from resumption.planes.sites import Anchor, anchors
from resumption.planes.statements import Citation, cited_by, load
from resumption.report.text import hang, report_console

__all__ = ["planes"]

_INDENT = 4
_FAULTY = "faulty"  # the family of the negative controls


@click.command(short_help="List what can be measured, and how it is resumed.")
@click.argument("names", metavar="[PLANE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="The planes with planted faults too, which test the harness.")
@click.option("--sites", is_flag=True, help="List where the installed release decides, in its source, instead.")
def planes(names: tuple[str, ...], everything: bool, sites: bool) -> None:
    """List the planes and their backends; of PLANE, if any is named, everything, with the resume forms it documents."""
    console = report_console()
    if not (names or sites):
        _print_overview(console, [spec for family in families() for spec in specs(family)], everything=everything)
        return
    if sites:
        found = dict.fromkeys(
            anchor for name in names or families() for spec in specs(name) for anchor in anchors(spec)
        )
        for anchor in found:
            _print_anchor(console, anchor)
        if not found:
            console.print("No installed framework among these has known sites.")
        return
    for number, spec in enumerate(spec for name in names or families() for spec in specs(name)):
        if number:
            console.print()
        _print_plane(console, spec, load(spec))


def _print_overview(console: Console, found: Sequence[PlaneSpec], *, everything: bool) -> None:
    shown = [spec for spec in found if everything or not _is_faulty(spec)]
    width = max(len(_title(spec)) for spec in shown)
    for spec in shown:
        hang(console, Text(_title(spec), style="bold"), _backends(spec), indent=width + 2)
    console.print()
    hidden = len(found) - len(shown)
    faulty = f" {hidden} planes with planted faults are left out; --all lists them." if hidden else ""
    hang(
        console,
        Text(),
        "What stands in brackets is measured only if it is named, or with `check --all`. `resumption planes PLANE` "
        f"tells a plane's resume forms, with their sources.{faulty}",
        indent=0,
    )


def _title(spec: PlaneSpec) -> str:
    """The plane's name, in brackets if it isn't measured unless somebody asks for it."""
    title = f"{spec.name} {spec.path}"
    return title if spec.by_default else f"({title})"


def _backends(spec: PlaneSpec) -> str:
    """The names of the backends, likewise."""
    usual = [backend.name for backend in spec.backends if backend.by_default]
    other = [backend.name for backend in spec.backends if backend.name not in usual]
    return " ".join(filter(None, (", ".join(usual), f"({', '.join(other)})" if other else "")))


def _is_faulty(spec: PlaneSpec) -> bool:
    return spec in specs(_FAULTY)


def _print_plane(console: Console, spec: PlaneSpec, citations: tuple[Citation, ...]) -> None:
    package = spec.package or "in this package"
    hang(console, Text(), Text.assemble((f"{spec.name} {spec.path}", "bold"), f"  ({package})"), indent=0)
    _print_fact(console, "backends", ", ".join(backend.name for backend in spec.backends))
    _print_fact(console, "durability", f"decided by the {spec.durability}")
    _print_fact(console, "fork discriminator", spec.fork_discriminator or "none")
    for backend in spec.backends:
        for capability in Capability:
            if reason := spec.reason_against(backend, capability):
                _print_fact(console, f"{backend.name} lacks {capability}", reason)
    for operation in Operation:
        for form in spec.forms_of(operation):
            source = _source(spec, citations, form)
            primary = ", primary" if form == spec.forms_of(operation)[0] else ""
            _print_fact(console, f"{operation} in form {form.name}{primary}", f"{form.description} ({source})")


def _print_anchor(console: Console, anchor: Anchor) -> None:
    site = anchor.site
    line = anchor.line or f"no line of {site.symbol} holds {site.text!r} in this release"
    place = f"{anchor.version}  {anchor.file}:{line}  {site.symbol}"
    hang(console, Text(), Text.assemble((f"{site.property}  ", "bold"), place), indent=0)
    hang(console, Text(), site.decides, indent=_INDENT)


def _source(spec: PlaneSpec, citations: tuple[Citation, ...], form: Form) -> str:
    if not spec.package:
        return "defined here"
    citation = cited_by(citations, form)
    return f"documented: {citation.place}" if citation else "undocumented"


def _print_fact(console: Console, name: str, fact: str) -> None:
    hang(console, Text(), Text.assemble((f"{name}: ", "cyan"), fact), indent=_INDENT)
