"""Runs a drill: the survey, two runs without faults, then every protocol, each in processes of its own."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from resumption.errors import DrillFailed, NothingObserved, ResumptionError
from resumption.harness.drill.findings import Found
from resumption.harness.drill.judging import in_doubt, judge_fork, judge_run, judge_twin
from resumption.harness.drill.protocols import Action, Protocol, enumerate_protocols, run
from resumption.harness.drill.request import Request
from resumption.harness.drill.site import Site, Survey, survey
from resumption.harness.drill.twin import Twin, differences, run_twin
from resumption.harness.workspace import workspace_folder
from resumption.history.history import History
from resumption.planes.drill.settings import short_name

__all__ = ["Drilled", "Listener", "Outcome", "drill"]

Listener = Callable[[int, int, str], None]
"""Told how many protocols are done, of how many, and the name of the last one."""

_SYNCHRONOUS = (
    "No synchronous function provided",
    "does not support sync",
    "do not support sync",
    "NotImplementedError",
)
"""What programs say that can only be awaited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one protocol showed."""

    protocol: Protocol
    history: History | None = None
    found: tuple[Found, ...] = ()
    problem: str = ""
    """Why it could tell nothing; empty if it could."""
    doubt: bool = False
    """Whether the run stopped to ask an operator whether an effect fired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drilled:
    """A program, drilled as it is or guarded."""

    request: Request
    guarded: bool
    asynchronous: bool
    version: str
    pins: dict[str, str]
    twin: Twin
    unsteady: tuple[str, ...] = ()
    """In what two runs without faults differ: then nothing else was tried."""
    in_twin: tuple[Found, ...] = ()
    """What is wrong without any fault."""
    outcomes: tuple[Outcome, ...] = ()
    left_out: int = 0
    """How many protocols the time didn't suffice for."""
    notes: tuple[str, ...] = field(default=())


def drill(
    request: Request,
    *,
    guarded: bool = False,
    jobs: int,
    listen: Listener = lambda *_: None,
    only: Callable[[Protocol], bool] = lambda _: True,
    keep: Path | None = None,
) -> Drilled:
    """Drill a program, as it is or guarded; `only` chooses among its protocols.

    Raises what is wrong with the request, `DrillFailed`, or `NothingObserved` if no effect fired.
    """
    started = time.monotonic()
    with workspace_folder() as name:
        workspace = keep or Path(name)
        found = survey(request.settings(), workspace)
        site, twin = _opened(request, found, workspace, jobs, guarded=guarded)
        with site:
            if not twin.observed.effects:
                raise NothingObserved(
                    f"None of the effects {', '.join(request.effects)} fired in a run without faults.",
                    advice="Check their names, the input and the decisions: a drill that sees no effect finds nothing.",
                )
            base = Drilled(
                request=request,
                guarded=guarded,
                asynchronous=site.settings.asynchronous,
                version=site.version,
                pins=site.pins,
                twin=twin,
            )
            if unsteady := differences(twin, run_twin(site, request, "twin/2")):
                return replace(base, unsteady=unsteady)
            deadline = started + request.seconds if request.seconds is not None else None
            return _drilled(base, site, jobs, listen, only, deadline)


def _opened(request: Request, found: Survey, workspace: Path, jobs: int, *, guarded: bool) -> tuple[Site, Twin]:
    """The site and the first twin. A program that says that it must be awaited is."""
    names = [short_name(name, request.effects) for name in request.effects]
    for asynchronous in (found.asynchronous, True):
        settings = request.settings(guarded=guarded, asynchronous=asynchronous)
        site = Site(settings, found, names, workspace / ("async" if asynchronous else "sync"), jobs)
        try:
            return site, run_twin(site, request, "twin/1")
        except DrillFailed as error:
            site.close()
            if asynchronous or not any(said in error.what for said in _SYNCHRONOUS):
                raise
        except BaseException:
            site.close()
            raise
    raise AssertionError("the second way returns or raises")


def _drilled(
    base: Drilled,
    site: Site,
    jobs: int,
    listen: Listener,
    only: Callable[[Protocol], bool],
    deadline: float | None,
) -> Drilled:
    request, twin = base.request, base.twin
    everything = enumerate_protocols(twin, request, guarded=base.guarded)
    protocols = [protocol for protocol in everything if only(protocol)]
    alternatives, notes = _alternatives(site, request, twin, protocols)
    protocols = [one for one in protocols if one.action is not Action.FORK or one.place in alternatives]
    outcomes = _run_all(site, request, twin, alternatives, protocols, jobs, listen, deadline)
    return replace(
        base,
        in_twin=judge_twin(twin),
        outcomes=tuple(outcomes),
        left_out=len(protocols) - len(outcomes),
        notes=tuple(notes),
    )


def _alternatives(
    site: Site, request: Request, twin: Twin, protocols: Sequence[Protocol]
) -> tuple[dict[int, Twin], list[str]]:
    """A run without faults for each second answer, and which answers can't be given."""
    found: dict[int, Twin] = {}
    notes = []
    for protocol in protocols:
        if protocol.action is Action.FORK:
            gate = twin.answered[protocol.place].gate
            other = request.decisions.other(gate)
            try:
                found[protocol.place] = run_twin(site, request, f"twin/other-{protocol.at}", {protocol.place: other})
            except ResumptionError as error:
                notes.append(f"no fork at {protocol.at}: with {other!r} in its place, {error.what}")
    asked = {answered.gate.name: answered.gate for answered in twin.answered if answered.gate.identity}
    silent = [name for name, gate in asked.items() if request.decisions.other(gate) is None]
    if silent:
        notes.append(f"no fork at {', '.join(silent)}: no second answer is known (--otherwise NODE=JSON)")
    return found, notes


def _run_all(
    site: Site,
    request: Request,
    twin: Twin,
    alternatives: dict[int, Twin],
    protocols: Sequence[Protocol],
    jobs: int,
    listen: Listener,
    deadline: float | None,
) -> list[Outcome]:
    """The outcomes in the order of the protocols; without those that the time didn't suffice for."""
    waiting = iter(enumerate(protocols))
    running: dict[Future[Outcome], int] = {}
    done: dict[int, Outcome] = {}
    with ThreadPoolExecutor(jobs, thread_name_prefix="resumption-drill") as pool:
        try:
            while True:
                in_time = deadline is None or time.monotonic() < deadline
                for number, protocol in islice(waiting, jobs - len(running) if in_time else 0):
                    running[pool.submit(_outcome, site, request, twin, alternatives, protocol)] = number
                if not running:
                    break
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    outcome = done[running.pop(future)] = future.result()
                    listen(len(done), len(protocols), outcome.protocol.name)
        except BaseException:
            # Ctrl-C, for one: end the processes that are waited for, so that every protocol ends at once.
            site.close()
            raise
    return [done[number] for number in sorted(done)]


def _outcome(site: Site, request: Request, twin: Twin, alternatives: dict[int, Twin], protocol: Protocol) -> Outcome:
    try:
        with site.ground(protocol.name, protocol.form) as ground:
            ran = run(protocol, ground, request)
    except (ResumptionError, OSError, sqlite3.Error) as error:
        return Outcome(protocol=protocol, problem=f"{type(error).__name__}: {error}")
    if ground.observation is None:
        return Outcome(protocol=protocol, problem="the process came to rest before the moment that was asked for")
    history = ground.observation.history
    problem = "; ".join(filter(None, (ran.problem or ground.observation.problem, *history.problems())))
    if problem:
        return Outcome(protocol=protocol, history=history, problem=problem)
    if protocol.action is Action.FORK:
        found = judge_fork(history, ran, alternatives[protocol.place], protocol.place, request.keys)
    else:
        found = judge_run(history, protocol, ran, twin, request.keys)
    return Outcome(protocol=protocol, history=history, found=found, doubt=in_doubt(ran))
