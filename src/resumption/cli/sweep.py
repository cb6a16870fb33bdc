"""`resumption sweep`: the same planes over many releases."""

from __future__ import annotations

import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import click

from resumption.cli.selection import choose_probes, choose_targets
from resumption.cli.sides import Bench
from resumption.errors import ResumptionError
from resumption.harness.measurement import installation_of, join
from resumption.harness.policy import ExitCode, FailOn, Policy
from resumption.harness.receipts import Receipt, write
from resumption.harness.runner import default_jobs
from resumption.harness.targets import Target
from resumption.report.comparison import print_changes
from resumption.report.output import check_writable, writing
from resumption.report.tables import print_matrix
from resumption.report.text import report_console
from resumption.report.view import View

__all__ = ["sweep"]


@click.command(
    epilog="Exit codes: 0 all versions were measured, 2 usage, 3 some couldn't be.",
    short_help="Measure many releases, and tell what changed.",
)
@click.argument("name", metavar="PLANE")
@click.option("--versions", metavar="VERSION,…", required=True, help="The releases, in the order to tell them in.")
@click.option("--json-dir", "folder", metavar="DIR", type=click.Path(path_type=Path), help="Write a receipt of each.")
@click.option("--all", "everything", is_flag=True, help="All paths and backends, the slow ones too.")
@click.option("--probe", "prefixes", metavar="ADDRESS", multiple=True, help="Only probes whose address begins so.")
@click.option("--jobs", type=click.IntRange(min=1), help="Jobs at once.  [default: two for each core]")
@click.option("--python", metavar="PYTHON", default=sys.executable, help="The Python of the environments.")
@click.pass_context
def sweep(
    ctx: click.Context,
    name: str,
    versions: str,
    folder: Path | None,
    everything: bool,
    prefixes: tuple[str, ...],
    jobs: int | None,
    python: str,
) -> None:
    """Measure PLANE in many releases, show all in one matrix, and tell what changed from each to the next.

    Every version has an environment of its own. A version that can't be measured is told, and the others go on.
    """
    probes = choose_probes(prefixes)
    targets = choose_targets([f"{name}@{versions.replace(' ', '')}"], everything=everything)
    files = {target: folder / _file_name(target) for target in targets} if folder else {}
    if folder:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
    for file in files.values():
        check_writable(file)
    bench = Bench(probes, jobs or default_jobs(), python)
    receipts: dict[Target, Receipt] = {}
    for target in targets:
        try:
            installation_of(target, python=python, say=partial(click.echo, err=True))
            receipts[target] = bench.receipt(target)
        except ResumptionError as error:
            click.echo(f"{target} could not be measured: {error}", err=True)
            continue
        if folder:
            with writing(files[target]):
                write(receipts[target], files[target])
    _print(receipts, bench)
    ctx.exit(ExitCode.CLEAN if len(receipts) == len(targets) else ExitCode.INCONCLUSIVE)


def _file_name(target: Target) -> str:
    return "-".join(filter(None, (target.name, target.path, target.version))) + ".json"


def _print(receipts: dict[Target, Receipt], bench: Bench) -> None:
    if not receipts:
        return
    console = report_console()
    code = ExitCode.CLEAN
    print_matrix(View(receipt=join(list(receipts.values())), policy=Policy(FailOn.NEVER), code=code), console)
    for (before, old), (after, new) in pairwise(receipts.items()):
        print_changes(bench.compare((before, after), (old, new), (str(before), str(after))), console)
