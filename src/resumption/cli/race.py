"""`resumption race`: how often one decision is acted upon when several workers bring it at the same time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from resumption.cli.selection import choose_targets
from resumption.harness.heats import Contest, Means, Terms
from resumption.harness.installations import Installation
from resumption.harness.measurement import installation_of
from resumption.harness.policy import ExitCode
from resumption.harness.races import PRESETS, Grid, Race, run_race
from resumption.planes.interface import PlaneSpec
from resumption.report.output import check_writable, writing
from resumption.report.races import print_race
from resumption.report.text import report_console

__all__ = ["race"]

_FILE = click.Path(path_type=Path)
_TENTHS = 10
_ENDLESS = float("inf")
_N = TypeVar("_N", int, float)


def _numbers(of: type[_N], least: int) -> Callable[[click.Context, click.Parameter, str | None], tuple[_N, ...] | None]:
    """Reads numbers with commas between them."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[_N, ...] | None:
        if value is None:
            return None
        try:
            numbers = tuple(of(part) for part in value.split(","))
        except ValueError as error:
            raise click.BadParameter(f"{value!r} isn't a list of numbers such as 2,4,8.") from error
        if not all(least <= number < _ENDLESS for number in numbers):
            raise click.BadParameter(f"{value!r}: each must be at least {least}, and finite.")
        return tuple(dict.fromkeys(numbers))

    return read


@click.command(
    epilog="Exit codes: 0 raced, 2 usage, 3 something could not be raced here.",
    short_help="Race workers for one run, and count effects.",
)
@click.argument("names", metavar="[PLANE[@VERSION]]...", nargs=-1)
@click.option("--racers", metavar="N,…", callback=_numbers(int, 2), help="How many at once.  [default: 2,4]")
@click.option(
    "--jitter", metavar="MS,…", callback=_numbers(float, 0), help="Milliseconds; each waits up to that.  [default: 0,5]"
)
@click.option(
    "--gate", metavar="MS,…", callback=_numbers(float, 0), help="Milliseconds of work in the gate.  [default: 80]"
)
@click.option("--repetitions", type=click.IntRange(min=1), help="Heats at each point.  [default: 3]")
@click.option("--seed", type=int, help="Of the jitter; each repetition derives its own.  [default: 1]")
@click.option("--preset", type=click.Choice(sorted(PRESETS)), help="A grid after the paper's; options change it.")
@click.option("--recoveries", is_flag=True, help="Race recoveries of a crashed run, not answers to a parked one.")
@click.option("--threads", is_flag=True, help="Racers are threads of one process.")
@click.option("--hosts", is_flag=True, help="Racers have networks of their own; for backends on a server.")
@click.option("--latency", type=click.FloatRange(min=0), default=0.0, help="Milliseconds, one way; needs --hosts.")
@click.option("--partition", is_flag=True, help="Cut the first racer off in its gate, then heal; needs --hosts.")
@click.option("--equal", is_flag=True, help="All bring the same decision.")
@click.option("--late", is_flag=True, help="The last process starts only when the others are let go.")
@click.option("--one-cpu", is_flag=True, help="All racers share one processor.")
@click.option("--control", is_flag=True, help="Each racer has a run of its own: all must fire, once each.")
@click.option("--python", metavar="PYTHON", default=sys.executable, help="The Python of a VERSION's environment.")
@click.option("--postgres", metavar="DSN", default="", help="The PostgreSQL server to use.  [default: a throwaway one]")
@click.option("--json", "race_file", metavar="FILE", type=_FILE, help="Write every heat.")
@click.option("--figure", metavar="FILE", type=_FILE, help="Draw fires against jitter, as SVG.")
@click.pass_context
def race(
    ctx: click.Context,
    names: tuple[str, ...],
    racers: tuple[int, ...] | None,
    jitter: tuple[float, ...] | None,
    gate: tuple[float, ...] | None,
    repetitions: int | None,
    seed: int | None,
    preset: str | None,
    recoveries: bool,
    threads: bool,
    hosts: bool,
    latency: float,
    partition: bool,
    equal: bool,
    late: bool,
    one_cpu: bool,
    control: bool,
    python: str,
    postgres: str,
    race_file: Path | None,
    figure: Path | None,
) -> None:
    """Let several workers resume one run of PLANE (langgraph, if none is named) at the same time, and count effects.

    Frequencies are as observed this time: they depend on the machine, and judge nothing. A name is written as for
    `resumption check`: langgraph[sqlite,postgres]@1.2.9.
    """
    terms = Terms(
        contest=Contest.RECOVERY if recoveries else Contest.RESUME,
        means=Means.HOSTS if hosts else Means.THREADS if threads else Means.PROCESSES,
        equal=equal,
        late=late,
        one_cpu=one_cpu,
        distinct=control,
        latency_ms=latency,
        partition=partition,
    )
    _refuse_contradictions(terms, threads=threads, hosts=hosts)
    usual = PRESETS[preset] if preset else Grid()
    grid = Grid(
        racers=racers or usual.racers,
        jitters_ms=jitter or usual.jitters_ms,
        gates_ms=gate or usual.gates_ms,
        repetitions=repetitions or usual.repetitions,
        seed=usual.seed if seed is None else seed,
    )
    _check_files(race_file, figure)
    run = run_race(_planes(names, python), terms, grid, postgres=postgres, listen=_tell)
    _write(run, race_file, figure)
    print_race(run, report_console())
    ctx.exit(ExitCode.CLEAN if run.heats and not run.is_open else ExitCode.INCONCLUSIVE)


def _refuse_contradictions(terms: Terms, *, threads: bool, hosts: bool) -> None:
    refused = (
        (threads and hosts, "--threads are in one process, and --hosts have one each: choose."),
        (terms.means is Means.THREADS and (terms.late or terms.distinct), "--late and --control race processes."),
        (terms.contest is Contest.RECOVERY and (terms.distinct or terms.equal), "--recoveries bring no decision."),
        (terms.late and terms.distinct, "--late needs a parked run, which --control gives to no latecomer."),
        (terms.means is not Means.HOSTS and (terms.partition or terms.latency_ms > 0), "That needs --hosts."),
        (terms.one_cpu and not hasattr(os, "sched_setaffinity"), "--one-cpu needs Linux."),
        (terms.contest is Contest.RECOVERY and terms.partition, "--partition waits for a decision to be consumed."),
    )
    for contradiction, message in refused:
        if contradiction:
            raise click.UsageError(message)


def _check_files(race_file: Path | None, figure: Path | None) -> None:
    for file in (race_file, figure):
        if file:
            check_writable(file)
    if figure and find_spec("matplotlib") is None:
        raise click.UsageError("--figure needs matplotlib: install '.[figures]'.")


def _planes(names: tuple[str, ...], python: str) -> list[tuple[PlaneSpec, Installation]]:
    say = partial(click.echo, err=True)
    return [
        (spec, installation_of(target, python=python, say=say))
        for target in choose_targets(names or ("langgraph",))
        for spec in target.specs()
    ]


def _tell(done: int, total: int) -> None:
    if done * _TENTHS // total > (done - 1) * _TENTHS // total:
        click.echo(f"{done} of {total} heats run", err=True)


def _write(run: Race, race_file: Path | None, figure: Path | None) -> None:
    if race_file:
        with writing(race_file):
            race_file.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")
    if figure and run.heats:
        from resumption.report.race_figure import draw  # matplotlib takes a second to import, and is an extra

        with writing(figure):
            draw(run, figure)
