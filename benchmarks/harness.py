"""Measure the harness: what one process of a protocol costs on a warm environment, on LangGraph and SQLite.

    python benchmarks/harness.py [TIMES]

A process counts from its launch to its end: it opens the run, serves one operation, and is reaped. Compare figures only
from a machine that does nothing else.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter

from resumption.harness.environments import Environment
from resumption.harness.lab import Lab
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.targets import parse_target
from resumption.worker.faults import Fault, Mode

TIMES = 50

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
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [f"{machine}, {times} times\n", "| what | median ms | slowest ms |", "|---|---:|---:|"]
    lines += [f"| {what} | {statistics.median(took):.0f} | {max(took):.0f} |" for what, took in timings.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES)
