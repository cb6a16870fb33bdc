"""`resumption audit`: derive every verdict of a receipt from its histories again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from resumption.errors import ReceiptUnreadable
from resumption.harness.policy import ExitCode
from resumption.harness.probes import PROBES, Probe
from resumption.harness.receipts import Receipt, read_receipt, write
from resumption.harness.rejudging import disagreements, is_of_drill, rejudge, silent_on
from resumption.report.output import writing

__all__ = ["audit"]


@click.command(
    epilog="Exit codes: 0 verdicts and histories agree, 1 they don't, 2 what was named is no receipt, 3 a drill's.",
    short_help="Derive a receipt's verdicts from its histories again.",
)
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="Write what the histories say into the receipts.")
@click.pass_context
def audit(ctx: click.Context, paths: tuple[Path, ...], update: bool) -> None:
    """Judge the histories in receipts again, label them by the statements of this release, and say where that differs
    from the verdicts in the receipts.

    Nothing is run, and no network is needed. A folder stands for the receipts in it. Verdicts that rest on no history,
    such as that nothing applied, are counted as taken on trust. Those of a drill can't be derived again from its
    histories alone: `resumption replay` runs them again.
    """
    disagree = drilled = False
    for file in _files(paths):
        receipt = read_receipt(file)
        if drills := sum(is_of_drill(receipt, cell) for cell in receipt.cells):
            click.echo(f"{file}: {drills} cells of drills: not judged again (resumption replay runs them again)")
            drilled = True
        if drills and drills == len(receipt.cells):
            continue
        found = disagreements(receipt)
        click.echo(f"{file}: {_extent(receipt)}: {f'{len(found)} disagree' if found else 'agree'}")
        if silent := silent_on(receipt, PROBES):
            click.echo(f"  measured without these probes: {', '.join(_summed_up(silent))}")
        for difference in found:
            click.echo(f"  {difference}")
        if update and found:
            with writing(file):
                write(rejudge(receipt), file)
        disagree = disagree or bool(found)
    if disagree and not update:
        ctx.exit(ExitCode.FINDINGS)
    ctx.exit(ExitCode.INCONCLUSIVE if drilled else ExitCode.CLEAN)


def _summed_up(silent: Sequence[Probe]) -> list[str]:
    """The probes' addresses; a group that is missing as a whole is named once."""
    there, missing = Counter(map(_group, PROBES)), Counter(map(_group, silent))
    whole = {group for group, count in missing.items() if count == there[group]}
    told = (f"{_group(probe)}/…" if _group(probe) in whole else probe.address for probe in silent)
    return list(dict.fromkeys(told))


def _group(probe: Probe) -> str:
    return probe.address.partition("/")[0]


def _files(paths: Sequence[Path]) -> list[Path]:
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if not files:
        raise ReceiptUnreadable(
            f"There is no receipt in {', '.join(map(str, paths))}.", advice="Receipts are files that end in .json."
        )
    return files


def _extent(receipt: Receipt) -> str:
    parts = [part for cell in receipt.cells for part in cell.parts]
    derived = sum(bool(part.histories) for part in parts)
    return (
        f"{derived} verdicts of probes in {len(receipt.cells)} cells from {len(receipt.histories)} histories,"
        f" {len(parts) - derived} on trust"
    )
