"""Measure the harness: what one process of a protocol costs on a warm environment, and what the whole suite costs.

    python benchmarks/harness.py [TIMES]                                   one protocol, on LangGraph and SQLite
    python benchmarks/harness.py suite [--output benchmarks/harness.md]    every probe but the races, on six backends

A process counts from its launch to its end: it opens the run, serves one operation, and is reaped. Compare figures only
from a machine that does nothing else; processor time is told too, for machines that do.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any
from unittest.mock import patch

from resumption.harness.environments import Environment
from resumption.harness.lab import Lab
from resumption.harness.probes import PROBES
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.runner import default_jobs, run_suite
from resumption.harness.targets import parse_target
from resumption.harness.zygote import Launched, Spawner, Zygote
from resumption.worker.faults import Fault, Mode

TIMES = 50
BACKENDS = ("memory", "memory-async", "sqlite", "sqlite-async", "postgres", "postgres-async")

_PR_SET_CHILD_SUBREAPER = 36

EARLIER = """\
## Before

Commit `9dc7580`, the same machine, in turns with the present state within half an hour, seconds: SQLite 23.0 where
now 17.4 and 19.7, PostgreSQL 37.3 where now 32.9 and 32.7; all at once 116 to 121 where now 112 and 117. The machine's
speed differs by a tenth from hour to hour, and all at once the jobs empty each other's caches, so that what each
process saves hardly shows there. Page faults can be compared on any load: 2.63 million on SQLite and 3.43 on
PostgreSQL then.

The aim was 60 s for all at once, and it takes nearly twice that: 2,310 real processes, at about
91 ms each with their share of the database and the harness, are 211 seconds of two processors.

## What is shared

What trials have in common, up to a crash, is run once (`harness.prefixes`). Processes launched, before and now:

| | SQLite | PostgreSQL | all at once |
|---|---:|---:|---:|
| each trial ran all of its processes | 592 | 596 | 2578 |
| first halves and traces are run once | 469 | 473 | 2078 |

The table at the top is of now, on an idle machine, with 58 jobs and 130 protocols more than when these were counted;
then, with 2,430 processes, all at once took 116.8 s and 220 processor seconds. The aim, 60 s on two processors, would
be 120: the rest is what single processes cost.

To fill a database with the rows of another, compare the two, and hand it on took 68 ms where a copy by the server that
is dropped took 177, under that load.

## Where the time goes

One process of the graph plane on SQLite, forked, run to its gate and ended, 60 times, by `getrusage`:

| | processor ms | of which kernel | page faults |
|---|---:|---:|---:|
| before | 37 | 21 | 4290 |
| the trail's reducer is a Python function | 34 | 19 | 3550 |
| and LangGraph's caches are filled before the fork | 27 | 15 | 2940 |
| fork and end alone, which is part of each | 6 | 6 | 290 |

* A fault costs about 3 µs, most of it the new page. `operator.add` as a reducer cost 730 of them: LangGraph
  asks each reducer for its signature, and `inspect` looks that of a built-in up in a copy of `sys.modules`,
  which writes to every module.
* What is left is mostly LangGraph's own work, and pages that are copied since the objects on them are counted.
* A trial's database cost the server 44 ms (made by copy, used once, dropped); emptied and handed on, 19 ms, the
  trial's own session included.
* The harness's own process takes 2.4 s of SQLite's part, and 3.2 s of PostgreSQL's.
* `crash/spawned` starts two interpreters for each backend. Each imports LangGraph for 1.5 s where packages are
  compiled, as `make` installs them. Where they aren't, and Python may write no bytecode, each compiled LangGraph
  anew and took 4.0 to 4.8 processor seconds; with the zygote's bytecode, which is kept for the run, it takes
  1.8 to 2.3 (in turns, at a load of 8).

Tried without effect that could be told from noise: no garbage collection in children, one malloc arena,
`malloc_trim` before the fork, connections without TLS or GSSAPI. Huge pages for the zygote's heap saved 1.5 ms
of 27, and were not worth their code.
"""
"""What the page says of figures that no run can measure again."""

Timings = dict[str, list[float]]


@contextmanager
def _timed(timings: Timings, what: str) -> Iterator[None]:
    begin = perf_counter()
    yield
    timings.setdefault(what, []).append((perf_counter() - begin) * 1000)


def _protocol(lab: Lab, timings: Timings) -> None:
    """Park; answer, and be killed after the gate's effect; recover to the end: three processes."""
    with _timed(timings, "protocol of three processes"), lab.trial(SEQUENCE) as trial:
        with _timed(timings, "start, until it parks"):
            first = trial.process()
            first.start()
            first.close()
        with _timed(timings, "answer, until SIGKILL"):
            trial.process(Fault("effect:charge:after", Mode.KILL)).answer("yes", target="approve")
        with _timed(timings, "recover, until it is done"):
            third = trial.process()
            third.recover()
            third.close()


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run of the suite took, and what it brought."""

    backends: str
    wall: float
    processor: float
    """Seconds of the processors, of this process and of all that it started, the database server included."""
    faults: int
    cells: int
    histories: int
    processes: int


def _suite(backends: str) -> _Run:
    (target,) = parse_target(f"langgraph[{backends}]")
    probes = [probe for probe in PROBES if not probe.address.startswith("consume/race")]
    before, begin = _spent(), perf_counter()
    with _counting_launches() as logs:
        receipt = run_suite(target.specs(), probes, jobs=default_jobs())
    wall = perf_counter() - begin
    _reap_orphans()
    after = _spent()
    return _Run(
        backends,
        wall,
        after[0] - before[0],
        after[1] - before[1],
        len(receipt.cells),
        len(receipt.histories),
        len(logs),
    )


@contextmanager
def _counting_launches() -> Iterator[list[Path]]:
    """The logs of the processes that are launched in the block; one that histories share is launched once."""
    logs: list[Path] = []
    with ExitStack() as stack:
        for kind in (Zygote, Spawner):
            stack.enter_context(patch.object(kind, "launch", _noting(kind.launch, logs)))
        yield logs


def _noting(launch: Callable[[Any, Path], Launched], logs: list[Path]) -> Callable[[Any, Path], Launched]:
    def noting(launcher: Any, log: Path) -> Launched:
        logs.append(log)
        return launch(launcher, log)

    return noting


def _spent() -> tuple[float, int]:
    """Seconds of the processors and page faults until now, of this process and of all children that were reaped."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages), sum(usage.ru_minflt for usage in usages)


def _adopt_orphans() -> None:
    """Become the parent of every descendant whose parent ends: forks of zygotes, and the server, count for this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this system counts no orphans")


def _reap_orphans() -> None:
    """Wait for every descendant: its time counts once it was reaped."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def suite(output: Path | None) -> None:
    """Measure the whole suite, races apart: each backend alone, and all of them at once."""
    _adopt_orphans()
    rows = []
    for backends in (*BACKENDS, ",".join(BACKENDS)):
        rows.append(_row(_suite(backends)))
        sys.stderr.write(rows[-1] + "\n")
    lines = [
        "# What the suite takes",
        "",
        "Written by `python benchmarks/harness.py suite --output benchmarks/harness.md`.",
        f"{date.today().isoformat()}, {_machine()}, load {os.getloadavg()[0]:.1f} at the end, {default_jobs()} jobs.",
        "",
        "LangGraph's graph plane, every probe but the races, on one backend alone and on all at once. Processor",
        "time is that of every process that was started, the database server included; a process is one of a",
        "protocol's.",
        "",
        "| backend | seconds | processor seconds | cells | histories | processes | processor ms each | faults each |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    page = "\n".join([*lines, *rows, "", EARLIER])
    if output:
        output.write_text(page)
    else:
        sys.stdout.write(page)


def _row(run: _Run) -> str:
    name = run.backends if run.backends in BACKENDS else "**all at once**"
    told = f"{run.wall:.1f} | {run.processor:.1f} | {run.cells} | {run.histories} | {run.processes}"
    each = f"{run.processor / run.processes * 1000:.0f} | {run.faults / run.processes:.0f}"
    return f"| {name} | {told} | {each} |"


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main(times: int) -> None:
    """Print a table of what was measured."""
    (target,) = parse_target("langgraph[sqlite]")
    (spec,) = target.specs()
    timings: Timings = {}
    with tempfile.TemporaryDirectory() as folder:
        with _timed(timings, "zygote, until it has imported"):
            environment = Environment(spec, Path(folder), 1)
        with closing(environment), environment.launcher() as launcher:
            lab = Lab("benchmark", spec, spec.backends[0], None, launcher, Path(folder) / "lab")
            for _ in range(times):
                _protocol(lab, timings)
    lines = [f"{_machine()}, {times} times\n", "| what | median ms | slowest ms |", "|---|---:|---:|"]
    lines += [f"| {what} | {statistics.median(took):.0f} | {max(took):.0f} |" for what, took in timings.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", default=str(TIMES), help="how often, or: suite")
    parser.add_argument("--output", type=Path, help="with suite: where to write the page; default: the terminal")
    options = parser.parse_args()
    if options.what == "suite":
        suite(options.output)
    else:
        main(int(options.what))
