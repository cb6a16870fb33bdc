"""Measure the model: R8 by the built-in checker and by TLC with one worker, the matrix at R8, and the proofs.

    python benchmarks/model.py            everything but TLC: a minute or two
    python benchmarks/model.py --tlc      TLC on R8 too: minutes, and gigabytes

Each measurement is a process of its own, so that its peak memory is its own. The figures of the last run with TLC are
in `benchmarks/model.md`.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import click

from resumption.model.catalogue import named_runs
from resumption.model.checking import check
from resumption.model.matrix import MatrixKind, matrix
from resumption.model.proofs import prove_all
from resumption.model.published import FIGURES
from resumption.model.results import Result, deviations
from resumption.model.tlc import tlc

RUN = "R8"
REQUIRED_SPEEDUP = 20
MEGABYTE = 1024  # ru_maxrss is in kilobytes on Linux


def _checked(result: Result) -> dict[str, Any]:
    """The figures of a run, after they were found to be the published ones."""
    if wrong := deviations(result, FIGURES[result.run]):
        raise click.ClickException("; ".join(wrong))
    return {**result.figures(), "seconds": result.seconds}


def _built_in() -> dict[str, Any]:
    return _checked(check(named_runs()[RUN]))


def _tlc() -> dict[str, Any]:
    return _checked(tlc(named_runs()[RUN], workers=1, heap="8g"))


def _matrix() -> dict[str, Any]:
    found = matrix(MatrixKind.CONTRACT, large=True)
    if not found.agrees:
        raise click.ClickException("a cell at the constants of R8 deviates: resumption model matrix --bounds R8")
    return {"cells": found.cells}


def _proofs() -> dict[str, Any]:
    sections = prove_all()
    if failed := [line for section in sections for line in section.failures]:
        raise click.ClickException("; ".join(failed))
    return {"obligations": sum(section.obligations for section in sections)}


MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "built-in checker, R8": _built_in,
    "TLC with one worker, R8": _tlc,
    "39 cells at R8": _matrix,
    "all proofs, two solvers": _proofs,
}


def measure(name: str) -> dict[str, Any]:
    """Run one measurement in a process of its own; wall and processor seconds, and the peak of its memory."""
    command = [sys.executable, __file__, "--only", name]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise click.ClickException(f"{name} failed")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_here(name: str) -> dict[str, Any]:
    """Run one measurement in this process."""
    begin = perf_counter()
    found = MEASUREMENTS[name]()
    wall = perf_counter() - begin
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    processor = sum(usage.ru_utime + usage.ru_stime for usage in (own, children))
    peak = max(own.ru_maxrss, children.ru_maxrss) / MEGABYTE
    return {**found, "seconds": found.get("seconds", wall), "processor": processor, "megabytes": peak}


@click.command()
@click.option("--tlc", "with_tlc", is_flag=True, help="Measure TLC on R8 too.")
@click.option("--only", type=click.Choice(list(MEASUREMENTS)), help="One measurement, in this process, as JSON.")
def main(with_tlc: bool, only: str | None) -> None:
    """Print a table of measurements, and fail if the built-in checker isn't fast enough."""
    if only is not None:
        click.echo(json.dumps(run_here(only)))
        return
    names = [name for name in MEASUREMENTS if with_tlc or not name.startswith("TLC")]
    rows = {name: measure(name) for name in names}
    click.echo(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
    )
    click.echo("| what | wall s | processor s | peak MB |")
    click.echo("|---|---:|---:|---:|")
    for name, row in rows.items():
        click.echo(f"| {name} | {row['seconds']:.1f} | {row['processor']:.1f} | {row['megabytes']:.0f} |")
    if with_tlc:
        speedup = _speedup(rows["built-in checker, R8"], rows["TLC with one worker, R8"])
        click.echo(f"\nThe built-in checker is {speedup:.0f} times as fast as TLC with one worker on {RUN}.")
        if speedup < REQUIRED_SPEEDUP:
            raise click.ClickException(f"expected at least {REQUIRED_SPEEDUP} times")


def _speedup(fast: dict[str, Any], slow: dict[str, Any]) -> float:
    """How many times as fast, in wall or in processor time, whichever says less: a busy machine distorts the former."""
    return float(min(slow[time] / fast[time] for time in ("seconds", "processor")))


if __name__ == "__main__":
    main()
