"""Runs the suite: jobs in parallel, each with worker processes of its own, and nothing left behind however it ends."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from resumption.errors import BackendMissing, PostgresMissing, ResumptionError
from resumption.harness.cells import Job, Result, cells_of, history_name
from resumption.harness.environments import Environment
from resumption.harness.installations import INSTALLED, Installation
from resumption.harness.lab import Lab
from resumption.harness.prefixes import Prefixes
from resumption.harness.probes import Probe
from resumption.harness.receipts import Cell, Receipt, new_receipt
from resumption.harness.stores import PostgresServer, stores_for
from resumption.harness.workspace import workspace_folder
from resumption.history.ndjson import encode_history
from resumption.planes.interface import PlaneSpec
from resumption.planes.statements import load

__all__ = ["Progress", "default_jobs", "run_suite", "unmeasured_suite"]

_JOBS_PER_CORE = 2  # a protocol waits for commits for about half of its time


@dataclass(frozen=True, slots=True)
class Progress:
    """A job ended: it was the `done`-th of `total`. `problem` says why it could tell nothing, if it couldn't."""

    done: int
    total: int
    job: Job
    problem: str


def default_jobs() -> int:
    """How many jobs to run at once on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _JOBS_PER_CORE * cores


def run_suite(
    specs: Sequence[PlaneSpec],
    probes: Sequence[Probe],
    *,
    jobs: int,
    installation: Installation = INSTALLED,
    listen: Callable[[Progress], None] = lambda _: None,
    keep: Path | None = None,
    thorough: bool = False,
    postgres: str = "",
) -> Receipt:
    """Run `probes` on every backend and resume form of the planes, and return the receipt.

    `listen` hears of every job that ends, in the calling thread. With `keep`, stores, logs and histories stay in that
    folder. With `thorough`, sweeps leave nothing out. `postgres` is the connection string of a server; without one, a
    throwaway server is started if a backend needs it. Raises `EnvironmentBroken` if a framework can't be imported where
    it is installed.
    """
    with ExitStack() as stack:
        workspace = keep or Path(stack.enter_context(workspace_folder()))
        server = PostgresServer(postgres)
        stack.callback(server.close)
        environments: dict[str, Environment] = {}
        for spec in specs:
            name = _plane(spec, installation.version)
            folder = workspace / name
            folder.mkdir(parents=True, exist_ok=True)
            temporary = None if keep else workspace
            environments[name] = environment = Environment(spec, folder, jobs, installation, temporary)
            stack.callback(environment.close)
        results = _run_all(
            _plan(specs, probes, installation.version, thorough=thorough),
            environments,
            server,
            workspace,
            jobs,
            listen,
        )
        pins = {name: environment.pins for name, environment in environments.items()}
    histories = {
        history_name(result.job, number): encode_history(observation.history).decode()
        for result in results
        for number, observation in enumerate(result.observations, 1)
    }
    return _receipt(specs, probes, results, histories, pins)


def unmeasured_suite(specs: Sequence[PlaneSpec], probes: Sequence[Probe], release: str, reason: str) -> Receipt:
    """The receipt of a run that could not even begin: every cell is inconclusive, but for those that can't apply."""
    results = [Result(job, release, problem=reason) for job in _plan(specs, probes, release, thorough=False)]
    return _receipt(specs, probes, results, {}, {})


def _receipt(
    specs: Sequence[PlaneSpec],
    probes: Sequence[Probe],
    results: Sequence[Result],
    histories: dict[str, str],
    pins: dict[str, dict[str, str]],
) -> Receipt:
    receipt = new_receipt(_cells(specs, results), histories, pins)
    return replace(receipt, probes=tuple(probe.address for probe in probes))


def _cells(specs: Sequence[PlaneSpec], results: Sequence[Result]) -> list[Cell]:
    return [
        cell
        for spec in specs
        for cell in cells_of([result for result in results if result.job.spec is spec], load(spec))
    ]


def _plane(spec: PlaneSpec, release: str) -> str:
    return f"{spec.name}-{spec.path}" + (f"@{release}" if release else "")


def _plan(specs: Sequence[PlaneSpec], probes: Sequence[Probe], release: str, *, thorough: bool) -> list[Job]:
    """Every job there is: a probe without an operation once, others once for each form of theirs.

    Jobs that run side by side are of different backends, if there are several: forms on one backend share what they
    begin with, and would wait for each other.
    """
    return [
        Job(spec, backend, probe, form, release, thorough)
        for spec in specs
        for probe in probes
        for form in (spec.forms_of(probe.operation) if probe.operation else (None,))
        for backend in spec.backends
    ]


def _run_all(
    plan: Sequence[Job],
    environments: Mapping[str, Environment],
    server: PostgresServer,
    workspace: Path,
    jobs: int,
    listen: Callable[[Progress], None],
) -> list[Result]:
    prefixes = Prefixes(workspace / "prefixes")
    with ThreadPoolExecutor(jobs, thread_name_prefix="resumption-job") as pool:
        futures = {
            pool.submit(
                _run, job, environments[_plane(job.spec, job.release)], server, workspace / f"job-{number}", prefixes
            ): job
            for number, job in enumerate(plan)
        }
        try:
            for done, future in enumerate(as_completed(futures), 1):
                listen(Progress(done, len(plan), futures[future], future.result().problem))
        except BaseException:
            # Ctrl-C, for one: end the processes that the jobs wait for, so that every job ends at once.
            pool.shutdown(wait=False, cancel_futures=True)
            for environment in environments.values():
                environment.close()
            raise
        return [future.result() for future in futures]


def _too_old(spec: PlaneSpec, pins: Mapping[str, str]) -> str:
    """Why an installation can't have what a plane measures, and how to get it; empty if it can."""
    for package, first in spec.since.items():
        if package in pins and Version(pins[package]) < Version(first):
            return (
                f"What {spec.name}/{spec.path} measures isn't in {package} {pins[package]}: it came with {first}. "
                f"Install that, or name a release of {spec.package} that has it."
            )
    return ""


def _run(job: Job, environment: Environment, server: PostgresServer, folder: Path, prefixes: Prefixes) -> Result:
    version = environment.pins.get(job.spec.package, "") if job.spec.package else ""
    if job.reason_against:
        return Result(job, version)
    if too_old := _too_old(job.spec, environment.pins):
        return Result(job, version, not_run=too_old)
    try:
        stores = stores_for(job.spec, job.backend, environment, server)
    except (BackendMissing, PostgresMissing) as error:
        return Result(job, version, not_run=f"{error.what} {error.advice}")
    with environment.launcher() as launcher, environment.spawner() as spawner:
        lab = Lab(
            job.probe.address,
            job.spec,
            job.backend,
            job.form,
            launcher,
            folder,
            stores=stores,
            spawner=spawner,
            prefixes=prefixes,
            thorough=job.thorough,
        )
        try:
            job.probe.run(lab)
        except (ResumptionError, OSError, sqlite3.Error) as error:
            # What a probe could not do is told in its cells; what it saw before is kept as evidence.
            return Result(job, version, lab.observations, f"{type(error).__name__}: {error}")
    note = f"{lab.infeasible} moments that the plane doesn't have were passed by" if lab.infeasible else ""
    return Result(job, version, lab.observations, note=note)
