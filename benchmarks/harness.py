"""Measure the harness: what one process of a protocol costs on a warm environment, and what the whole suite costs.

    python benchmarks/harness.py [TIMES]      one protocol, on LangGraph and SQLite
    python benchmarks/harness.py suite        every probe but the races, on LangGraph and all of its kinds of saver

A process counts from its launch to its end: it opens the run, serves one operation, and is reaped. Compare figures only
from a machine that does nothing else; processor time is told too, for machines that do.
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
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

from resumption.harness.environments import Environment
from resumption.harness.lab import Lab
from resumption.harness.probes import PROBES
from resumption.harness.probes.workloads import SEQUENCE
from resumption.harness.runner import default_jobs, run_suite
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


def suite() -> None:
    """Print what the whole suite took, races apart: in seconds, and in seconds of the processors."""
    (target,) = parse_target("langgraph[memory,sqlite,postgres,memory-async,sqlite-async,postgres-async]")
    probes = [probe for probe in PROBES if not probe.address.startswith("consume/race")]
    begin = perf_counter()
    receipt = run_suite(target.specs(), probes, jobs=default_jobs())
    took = perf_counter() - begin
    spent = [usage for who in (RUSAGE_SELF, RUSAGE_CHILDREN) for usage in getrusage(who)[:2]]
    sys.stdout.write(
        f"{os.cpu_count()} cores: {took:.0f} s, of which the processors were busy for {sum(spent):.0f} s; "
        f"{len(probes)} probes, {len(receipt.cells)} cells, {len(receipt.histories)} histories\n"
    )


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
    if sys.argv[1:] == ["suite"]:
        suite()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES)
