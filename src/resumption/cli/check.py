"""`resumption check`: measure planes against the contract."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import click

from resumption.cli.progress import progress
from resumption.cli.selection import choose_probes, choose_targets
from resumption.harness.comparison import compared_cells, drifts_from
from resumption.harness.measurement import measure
from resumption.harness.policy import FailOn, Policy, exit_code, known_cells
from resumption.harness.receipts import Receipt, accept, read_receipt, stable_view, write
from resumption.harness.runner import default_jobs
from resumption.harness.targets import planes_of, released_targets
from resumption.planes.interface import PlaneSpec
from resumption.planes.statements import Citation, load
from resumption.report.output import check_writable, writing
from resumption.report.terminal import print_report
from resumption.report.text import report_console
from resumption.report.view import View

__all__ = ["check"]

_FILE = click.Path(path_type=Path)


@click.command(
    epilog="Exit codes: 0 clean, 1 findings, 2 usage, 3 inconclusive. Findings beat inconclusive cells.",
    short_help="Measure planes, and judge them by the contract.",
)
@click.argument("names", metavar="[PLANE[@VERSION]]...", nargs=-1)
@click.option("--probe", "prefixes", metavar="ADDRESS", multiple=True, help="Only probes whose address begins so.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All paths and backends, the slow ones too; without a PLANE, every framework.",
)
@click.option("--newest", is_flag=True, help="With --all and no PLANE: the newest releases.")
@click.option("--thorough", is_flag=True, help="Leave nothing out of the sweeps that are sampled otherwise.")
@click.option("--jobs", type=click.IntRange(min=1), help="Jobs at once.  [default: two for each core]")
@click.option("--python", metavar="PYTHON", default=sys.executable, help="The Python of a VERSION's environment.")
@click.option("--postgres", metavar="DSN", default="", help="The PostgreSQL server to use.  [default: a throwaway one]")
@click.option("--json", "receipt_file", metavar="FILE", type=_FILE, help="Write the receipt, histories included.")
@click.option("--stable", "stable_file", metavar="FILE", type=_FILE, help="Write what doesn't depend on time or host.")
@click.option("--strict", is_flag=True, help="Label by the strict rule: any breach of a documented form violates.")
@click.option(
    "--fail-on",
    type=click.Choice([choice.value for choice in FailOn]),
    default=FailOn.VIOLATION.value,
    show_default=True,
    help="What makes the exit code 1.",
)
@click.option("--baseline", metavar="FILE", type=_FILE, help="Compare with this receipt, and show what changed.")
@click.option("--accept", "accepted", metavar="CELL", multiple=True, help="Don't fail for this cell; needs --reason.")
@click.option("--reason", "reasons", metavar="TEXT", multiple=True, help="Why the cell is accepted: one per --accept.")
@click.option("--keep", metavar="DIR", type=_FILE, help="Keep stores, logs and histories in this folder.")
@click.option("-v", "--verbose", is_flag=True, help="Tell every story, not one of each kind.")
@click.pass_context
def check(
    ctx: click.Context,
    names: tuple[str, ...],
    prefixes: tuple[str, ...],
    everything: bool,
    newest: bool,
    thorough: bool,
    jobs: int | None,
    python: str,
    postgres: str,
    receipt_file: Path | None,
    stable_file: Path | None,
    strict: bool,
    fail_on: str,
    baseline: Path | None,
    accepted: tuple[str, ...],
    reasons: tuple[str, ...],
    keep: Path | None,
    verbose: bool,
) -> None:
    """Measure what "resume" means on each PLANE (langgraph, if none is named), and judge it by the contract.

    A VERSION is measured in an environment of its own, which is made once: langgraph@1.2.9, or several, and on chosen
    backends: langgraph[sqlite]@1.2.9,1.2.24. Without one, the installed framework is measured. A path is named behind
    a slash: langgraph/functional; `resumption planes` lists them.

    `check --all` without a PLANE measures every framework at the release that the paper measured, each in an
    environment of its own; with --newest, every framework at its newest release with a committed lock. One that can't
    be had or doesn't work leaves its cells inconclusive.

    Real processes are killed with SIGKILL, resumed in every documented form, and raced; whether an effect fired is
    taken from a record outside the framework.
    """
    whole = everything and not names
    if newest and not whole:
        raise click.UsageError("--newest goes with --all and no PLANE; name a release as PLANE@VERSION.")
    targets = (
        released_targets(newest=newest) if whole else choose_targets(names or ("langgraph",), everything=everything)
    )
    planes = planes_of(targets)
    probes = choose_probes(prefixes)
    policy = Policy(FailOn(fail_on), strict)
    before = read_receipt(baseline) if baseline else None
    if policy.fail_on is FailOn.DRIFT and before is None:
        raise click.UsageError("--fail-on drift compares with a --baseline: name one.")
    known = known_cells(planes, probes) | {cell.identity for cell in (before.cells if before else ())}
    acceptances = _acceptances(accepted, reasons, known)
    for file in (receipt_file, stable_file):
        if file:
            check_writable(file)
    if keep:
        keep = _empty_folder(keep)
    with progress() as listen:
        receipt = measure(
            targets,
            probes,
            jobs=jobs or default_jobs(),
            python=python,
            say=partial(click.echo, err=True),
            listen=listen,
            keep=keep,
            thorough=thorough,
            postgres=postgres,
            tolerant=whole,
        )
    receipt = _with_acceptances(receipt, acceptances)
    if receipt_file:
        with writing(receipt_file):
            write(receipt, receipt_file)
    if stable_file:
        with writing(stable_file):
            stable_file.write_bytes(stable_view(receipt))
    drifts = drifts_from(before, receipt) if before else None
    code = exit_code(receipt.cells, policy, drifts or (), accepted=acceptances)
    view = View(
        receipt=receipt,
        policy=policy,
        code=code,
        citations=_citations(planes),
        drifts=drifts,
        before=compared_cells(before, receipt) if before else (),
        verbose=verbose,
    )
    print_report(view, report_console())
    ctx.exit(code)


def _acceptances(accepted: Sequence[str], reasons: Sequence[str], known: frozenset[str]) -> dict[str, str]:
    """The reason for each accepted cell. Refuses pairs that don't match, and cells that the run can't have."""
    if len(accepted) != len(reasons) or not all(reason.strip() for reason in reasons):
        raise click.UsageError("Each --accept CELL needs one --reason TEXT, in the same order.")
    for identity in accepted:
        if identity not in known:
            raise click.UsageError(
                f"--accept {identity}: this run has no such cell. A name reads PLANE/PATH/BACKEND/PROPERTY, and then "
                f"/OPERATION/FORM where there are forms. {_meant(identity, known)}"
            )
    return dict(zip(accepted, reasons, strict=True))


def _meant(identity: str, known: frozenset[str]) -> str:
    """The cells that somebody may have meant: those that begin so, or else those that are written most alike."""
    meant = sorted(name for name in known if name.startswith(f"{identity}/"))
    meant = meant or get_close_matches(identity, sorted(known), n=3)
    return f"There is {', '.join(meant)}." if meant else "`check --json` writes the names of all."


def _empty_folder(path: Path) -> Path:
    """Make the folder `path`, which must not hold anything yet, and return where it really is."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise click.UsageError(f"--keep {path}: the folder isn't empty. Name a new one.")
    return path.resolve()


def _with_acceptances(receipt: Receipt, acceptances: Mapping[str, str]) -> Receipt:
    measured = {cell.identity for cell in receipt.cells}
    for identity, reason in acceptances.items():
        if identity in measured:
            receipt = accept(receipt, identity, reason)
        else:
            click.echo(f"--accept {identity}: this run has nothing to say of it.", err=True)
    return receipt


def _citations(planes: Sequence[PlaneSpec]) -> dict[str, tuple[Citation, ...]]:
    found: dict[str, tuple[Citation, ...]] = {}
    for spec in planes:
        found[spec.name] = tuple(dict.fromkeys((*found.get(spec.name, ()), *load(spec))))
    return found
