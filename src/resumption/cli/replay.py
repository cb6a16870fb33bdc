"""`resumption replay`: run again what failed in a receipt."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from resumption.cli.drill import needs_posix, progress_lines
from resumption.harness.receipts import read_receipt, write
from resumption.harness.replay import Change, Replayed, exit_code_of, failures
from resumption.harness.replay import replay as run_again
from resumption.harness.runner import default_jobs
from resumption.report.marks import MARKS
from resumption.report.output import check_writable, writing
from resumption.report.text import hang, heading, report_console

__all__ = ["replay"]

_FILE = click.Path(path_type=Path)
_STYLES = {Change.FIXED: "green", Change.FAILED: "bold red", Change.CHANGED: "bold yellow"}
_INDENT = 9


@click.command(
    epilog="Exit codes: 0 fixed, or nothing had failed; 1 something still fails; 2 usage; 3 can't be told.",
    short_help="Run again what failed in a receipt.",
)
@click.argument("receipt", type=_FILE)
@click.option("--jobs", type=click.IntRange(min=1), help="Jobs at once.  [default: two for each core]")
@click.option("--json", "receipt_file", metavar="FILE", type=_FILE, help="Write the receipt of the new runs.")
@click.option("--real-effects", is_flag=True, help="Call effects for real again where the receipt's drill did.")
@click.pass_context
def replay(ctx: click.Context, receipt: Path, jobs: int | None, receipt_file: Path | None, real_effects: bool) -> None:
    """Run again what failed in RECEIPT, which `check` or `drill` wrote: FIXED, FAILED as before, or CHANGED.

    It is run with what is installed now. Whole actions are repeated, so that a failure that moved to another moment is
    found there. What was accepted in the receipt is left out.
    """
    needs_posix()
    before = read_receipt(receipt)
    if receipt_file:
        check_writable(receipt_file)
    if not failures(before):
        click.echo(f"Nothing failed in {receipt}.")
        return
    replayed, again = run_again(before, jobs=jobs or default_jobs(), real_effects=real_effects, listen=progress_lines())
    if receipt_file:
        with writing(receipt_file):
            write(again, receipt_file)
    code = exit_code_of(replayed)
    _print(replayed, report_console())
    click.echo(f"\n exit   {code:d}")
    ctx.exit(code)


def _print(replayed: tuple[Replayed, ...], console: Console) -> None:
    for one in replayed:
        word = Text(f" {one.change.upper()}", style=_STYLES[one.change])
        hang(console, word, f"{one.failure.cell.identity}, {one.failure.part.probe}", indent=_INDENT)
        for finding in one.failure.part.findings[:1]:
            hang(console, Text(""), finding.summary, indent=_INDENT)
        if one.change is Change.CHANGED:
            hang(console, Text(""), f"now {_now(one)}", indent=_INDENT)
    counts = [f"{change} {sum(one.change is change for one in replayed)}" for change in Change]
    heading(console, ", ".join(counts))


def _now(one: Replayed) -> str:
    if one.now is None:
        return "not run: this isn't measured any more"
    found = one.now.findings[0].summary if one.now.findings else one.now.reason
    return f"{MARKS[one.now.label].word}: {found}"
