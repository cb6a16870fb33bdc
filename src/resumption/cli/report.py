"""`resumption report`: what a receipt says, in the format that its readers want."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import click

from resumption.errors import UnknownName
from resumption.harness.comparison import compare, compared_cells, drifts_from
from resumption.harness.policy import FailOn, Policy, exit_code
from resumption.harness.races import read_race
from resumption.harness.receipts import Receipt, read_receipt
from resumption.planes.registry import specs
from resumption.planes.statements import Citation, load
from resumption.report.badge import badge
from resumption.report.github import github_annotations
from resumption.report.html import html_page
from resumption.report.junit import junit
from resumption.report.markdown import markdown
from resumption.report.output import writing
from resumption.report.sarif import sarif
from resumption.report.terminal import print_report
from resumption.report.text import report_console
from resumption.report.view import View

__all__ = ["report"]

_FILE = click.Path(path_type=Path)
_SUMMARY = "GITHUB_STEP_SUMMARY"  # set by GitHub's runner: the file that a step appends its summary to


class _Format(StrEnum):
    TEXT = "text"
    HTML = "html"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    BADGE = "badge"


_TELLING = (_Format.TEXT, _Format.HTML, _Format.MARKDOWN)
"""The formats that tell what changed since another receipt, whatever is counted."""

_SUFFIXES = {".html": _Format.HTML, ".md": _Format.MARKDOWN, ".xml": _Format.JUNIT, ".sarif": _Format.SARIF}


@click.command(
    epilog="Exit codes: 0 written, 2 usage. Whether a receipt passes is for `resumption check` to say.",
    short_help="Make a page, JUnit, SARIF or Markdown of a receipt.",
)
@click.argument("receipt_file", metavar="RECEIPT", type=_FILE)
@click.option(
    "--format",
    "form",
    type=click.Choice([choice.value for choice in _Format]),
    help="What to write.  [default: by the suffix of -o, else text]",
)
@click.option("-o", "--output", metavar="FILE", type=_FILE, help="Where to.  [default: standard output]")
@click.option(
    "--fail-on",
    type=click.Choice([choice.value for choice in FailOn]),
    default=FailOn.VIOLATION.value,
    show_default=True,
    help="What counts as a failure in the formats that know failures; drift needs --since.",
)
@click.option("--strict", is_flag=True, help="Label by the strict rule: any breach of a documented form violates.")
@click.option(
    "--since", "since", metavar="RECEIPT", type=_FILE, help="In text, html and markdown, tell what changed since."
)
@click.option("--race", "race_file", metavar="FILE", type=_FILE, help="In html, show what `race --json` wrote too.")
@click.option("-v", "--verbose", is_flag=True, help="In text, tell every story, not one of each kind.")
def report(
    receipt_file: Path,
    form: str | None,
    output: Path | None,
    fail_on: str,
    strict: bool,
    since: Path | None,
    race_file: Path | None,
    verbose: bool,
) -> None:
    """Write what RECEIPT says, a file that `resumption check --json` wrote. Nothing is measured again.

    text is what `check` prints; html, one page with every history; markdown, for a comment; junit and sarif, for tools;
    github, annotations, and a summary of the step; badge, JSON for an endpoint of shields.io.
    """
    receipt = read_receipt(receipt_file)
    policy = Policy(FailOn(fail_on), strict)
    before = read_receipt(since) if since else None
    if policy.fail_on is FailOn.DRIFT and before is None:
        raise click.UsageError("--fail-on drift counts what changed --since a receipt: name one.")
    drifts = drifts_from(before, receipt) if before else None
    view = View(
        receipt=receipt,
        policy=policy,
        code=exit_code(receipt.cells, policy, drifts or ()),
        citations=_citations(receipt),
        drifts=drifts,
        before=compared_cells(before, receipt) if before else (),
        verbose=verbose,
    )
    chosen = _format(form, output)
    if before and not (chosen in _TELLING or (policy.fail_on is FailOn.DRIFT and chosen is not _Format.BADGE)):
        raise click.UsageError(f"{chosen} can't tell what changed --since; junit, sarif and github by --fail-on drift.")
    if race_file and chosen is not _Format.HTML:
        raise click.UsageError("--race is for html.")
    if chosen is _Format.TEXT:
        if output:
            raise click.UsageError("text is for the terminal: redirect it, or choose another --format for -o.")
        print_report(view, report_console())
        return
    if chosen is _Format.GITHUB:
        _summarise(view)
    if chosen is _Format.HTML:
        text = html_page(
            view,
            comparison=compare(before, receipt, names=(since.name, receipt_file.name)) if since and before else None,
            race=read_race(race_file) if race_file else None,
        )
    else:
        text = _WRITERS[chosen](view, receipt_file)
    if output is None:
        click.echo(text, nl=False)
        return
    with writing(output):
        output.write_text(text, encoding="utf-8")


_WRITERS: Mapping[_Format, Callable[[View, Path], str]] = {
    _Format.MARKDOWN: lambda view, _: markdown(view),
    _Format.JUNIT: lambda view, _: junit(view),
    _Format.SARIF: lambda view, file: sarif(view, _relative(file)),
    _Format.GITHUB: lambda view, _: github_annotations(view),
    _Format.BADGE: lambda view, _: badge(view),
}


def _format(form: str | None, output: Path | None) -> _Format:
    if form:
        return _Format(form)
    if output is None:
        return _Format.TEXT
    if output.suffix not in _SUFFIXES:
        raise click.UsageError(f"What is {output} to hold? Name a --format, or a suffix: {', '.join(_SUFFIXES)}.")
    return _SUFFIXES[output.suffix]


def _summarise(view: View) -> None:
    if summary := os.environ.get(_SUMMARY):
        file = Path(summary)
        with writing(file), file.open("a", encoding="utf-8") as stream:
            stream.write(markdown(view))


def _relative(file: Path) -> str:
    """The receipt as code scanning names files: relative to where the command runs, if it lies there."""
    file = file.resolve()
    return file.relative_to(Path.cwd()).as_posix() if file.is_relative_to(Path.cwd()) else file.name


def _citations(receipt: Receipt) -> dict[str, tuple[Citation, ...]]:
    """What the frameworks of the receipt's planes state; nothing of planes that aren't installed here."""
    found: dict[str, tuple[Citation, ...]] = {}
    for plane in dict.fromkeys(cell.plane for cell in receipt.cells):
        try:
            known = specs(plane)
        except UnknownName:
            continue
        found[plane] = tuple(dict.fromkeys(citation for spec in known for citation in load(spec)))
    return found
