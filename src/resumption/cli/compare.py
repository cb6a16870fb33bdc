"""`resumption compare`: what changed between two receipts, or between two releases."""

from __future__ import annotations

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path

import click

from resumption.cli.selection import choose_probes, choose_targets
from resumption.cli.sides import Bench, Side
from resumption.harness.comparison import Change, Comparison
from resumption.harness.measurement import installation_of
from resumption.harness.policy import ExitCode, is_open
from resumption.harness.receipts import read_receipt
from resumption.harness.runner import default_jobs
from resumption.harness.targets import Target
from resumption.report.comparison import as_json, as_markdown, print_comparison
from resumption.report.output import check_writable, writing
from resumption.report.text import report_console

__all__ = ["compare"]

_FILE = click.Path(path_type=Path)


class _FailOn(StrEnum):
    REGRESSION = "regression"
    DRIFT = "drift"
    NEVER = "never"


@click.command(
    epilog="Exit codes: 0 clean, 1 as --fail-on says, 2 usage, 3 some can't be told.",
    short_help="Tell what changed between two receipts or releases.",
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--all", "everything", is_flag=True, help="All paths and backends, the slow ones too.")
@click.option("--probe", "prefixes", metavar="ADDRESS", multiple=True, help="Measure only probes that begin so.")
@click.option("--jobs", type=click.IntRange(min=1), help="Jobs at once.  [default: two for each core]")
@click.option("--python", metavar="PYTHON", default=sys.executable, help="The Python of a VERSION's environment.")
@click.option("--json", "json_file", metavar="FILE", type=_FILE, help="Write the comparison as JSON.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=_FILE, help="Write the comparison as Markdown.")
@click.option(
    "--fail-on",
    type=click.Choice([choice.value for choice in _FailOn]),
    default=_FailOn.REGRESSION.value,
    show_default=True,
    help="What makes the exit code 1: a cell that held and breaches now, or any change.",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell every story, not one of each kind.")
@click.pass_context
def compare(
    ctx: click.Context,
    before: str,
    after: str,
    everything: bool,
    prefixes: tuple[str, ...],
    jobs: int | None,
    python: str,
    json_file: Path | None,
    markdown_file: Path | None,
    fail_on: str,
    verbose: bool,
) -> None:
    """Tell what changed from A to B: cells fixed, regressed, drifted, new and gone, with the stories of both sides.

    A and B are receipts, or what to measure now, such as langgraph@1.2.9 and langgraph@1.2.24. What changed is then
    measured again: a change that isn't seen twice is told as unsettled.
    """
    probes = choose_probes(prefixes)
    sides = _side(before, everything), _side(after, everything)
    for file in (json_file, markdown_file):
        if file:
            check_writable(file)
    say = partial(click.echo, err=True)
    for side in sides:
        if isinstance(side, Target):  # what can't be had is told before anything is measured
            installation_of(side, python=python, say=say)
    bench = Bench(probes, jobs or default_jobs(), python)
    found = bench.compare(sides, (bench.receipt(sides[0]), bench.receipt(sides[1])), (before, after))
    if json_file:
        with writing(json_file):
            json_file.write_bytes(as_json(found))
    if markdown_file:
        with writing(markdown_file):
            markdown_file.write_text(as_markdown(found), encoding="utf-8")
    print_comparison(found, report_console(), verbose=verbose)
    ctx.exit(_exit_code(found, _FailOn(fail_on)))


def _side(text: str, everything: bool) -> Side:
    if Path(text).suffix == ".json" or Path(text).is_file():
        return read_receipt(Path(text))
    targets = choose_targets([text], everything=everything)
    if len(targets) > 1:
        raise click.UsageError(f"{text} names several versions: a side of a comparison is one.")
    return targets[0]


def _exit_code(found: Comparison, fail_on: _FailOn) -> ExitCode:
    if fail_on is _FailOn.NEVER:
        return ExitCode.CLEAN
    settled = len(found.changes) - found.count(Change.UNSETTLED)
    if found.count(Change.REGRESSED) or (fail_on is _FailOn.DRIFT and settled):
        return ExitCode.FINDINGS
    lost = (change for change in found.changes if change.after and is_open(change.after))
    if found.count(Change.UNSETTLED) or any(change.before and not is_open(change.before) for change in lost):
        return ExitCode.INCONCLUSIVE
    return ExitCode.CLEAN
