"""Runs a drill: a look at the program, two runs without faults, then every protocol, each in processes of its own."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from resumption.errors import (
    DecisionMissing,
    DrillFailed,
    KeyArgumentMissing,
    NothingObserved,
    OutputUnwritable,
    ResumptionError,
)
from resumption.harness.drill.findings import Found
from resumption.harness.drill.judging import in_doubt, judge_fork, judge_run, judge_twin
from resumption.harness.drill.protocols import Action, Protocol, enumerate_protocols, is_first_question, run
from resumption.harness.drill.request import Request
from resumption.harness.drill.site import Site, Way
from resumption.harness.drill.twin import Twin, differences, run_twin
from resumption.harness.workspace import workspace_folder
from resumption.history.events import Pending, Raise
from resumption.history.history import History
from resumption.planes.drill.settings import short_name
from resumption.planes.drill.spec import FORK, REPLAY

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

_RECHECKS = 3
"""Runs without faults after which a finding may rest on a difference: a clock that shows seconds, or a coin, may have
come out alike in the first two."""

_EXHAUSTED = ("database or disk is full", "No space left on device", "Disk quota exceeded")
"""What is said where the machine failed, and not the program."""


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
    way: Way
    pins: dict[str, str]
    """The version of every distribution installed beside it."""
    twin: Twin
    unsteady: tuple[str, ...] = ()
    """In what two runs without faults differ: then nothing else was tried."""
    in_twin: tuple[Found, ...] = ()
    """What is wrong without any fault."""
    outcomes: tuple[Outcome, ...] = ()
    left_out: int = 0
    """How many protocols the time didn't suffice for."""
    notes: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version of LangGraph."""
        return self.pins.get("langgraph", "")


def drill(
    request: Request,
    *,
    jobs: int,
    ways: Sequence[bool] = (False,),
    listen: Listener = lambda *_: None,
    only: Callable[[Protocol], bool] = lambda _: True,
) -> tuple[Drilled, ...]:
    """Drill a program, as it is (False) and guarded (True); `only` chooses among its protocols.

    Raises what is wrong with the request, `DrillFailed`, `NothingObserved` if no effect fired, or `OutputUnwritable` if
    there is no room for what is recorded.
    """
    try:
        return _drill(request, jobs, ways, listen, only)
    except (OSError, sqlite3.Error) as error:
        raise OutputUnwritable(
            f"The drill's own files can't be written: {error}.", advice="Set TMPDIR to a folder with room."
        ) from error


def _drill(
    request: Request,
    jobs: int,
    ways: Sequence[bool],
    listen: Listener,
    only: Callable[[Protocol], bool],
) -> tuple[Drilled, ...]:
    started = time.monotonic()
    names = [short_name(name, request.effects) for name in request.effects]
    with workspace_folder() as workspace, Site(request.settings(), names, Path(workspace), jobs) as site:
        drilled = []
        for number, guarded in enumerate(ways, 1):
            share = None if request.seconds is None else started + request.seconds * number / len(ways)
            drilled.append(_Drill(site, request, jobs, listen, only, share).run(guarded=guarded))
        return tuple(drilled)


@dataclass(frozen=True, slots=True)
class _Drill:
    """One drill, of the program as it is or guarded. `deadline` is by the monotonic clock."""

    site: Site
    request: Request
    jobs: int
    listen: Listener
    only: Callable[[Protocol], bool]
    deadline: float | None

    def run(self, *, guarded: bool) -> Drilled:
        way, twin = self._first_twin(guarded=guarded)
        if not twin.observed.effects:
            raise NothingObserved(
                f"None of the effects {', '.join(self.request.effects)} fired in a run without faults.",
                advice="Check their names, the input and the decisions: a drill that sees no effect finds nothing.",
            )
        _check_keys(self.request, twin)
        drilled = Drilled(request=self.request, way=way, pins=self.site.pins, twin=twin)
        if unsteady := self._differences(way, twin, 2):
            return replace(drilled, unsteady=unsteady)
        everything = enumerate_protocols(twin, self.request, fork=FORK if way.protected else REPLAY)
        protocols = [protocol for protocol in everything if self.only(protocol)]
        alternatives, notes = self._alternatives(way, twin, protocols)
        self._check_decisions([twin, *alternatives.values()])
        protocols = [one for one in protocols if one.action is not Action.FORK or one.place in alternatives]
        outcomes = self._run_all(way, twin, alternatives, protocols)
        if any(outcome.found for outcome in outcomes):
            for number in range(_RECHECKS):
                if unsteady := self._differences(way, twin, number + 3):
                    return replace(drilled, unsteady=unsteady)
        return replace(
            drilled,
            in_twin=judge_twin(twin),
            outcomes=tuple(outcomes),
            left_out=len(protocols) - len(outcomes),
            notes=tuple(notes),
        )

    def _differences(self, way: Way, twin: Twin, number: int) -> tuple[str, ...]:
        """In what one more run without faults differs from the first."""
        try:
            return differences(twin, run_twin(self.site, self.request, way, f"twin/{number}"))
        except DrillFailed as error:
            return (f"one comes to its end, and of the other is said: {error.what}",)

    def _first_twin(self, *, guarded: bool) -> tuple[Way, Twin]:
        """The first run without faults. A program that says that it must be awaited is."""
        look = self.site.survey
        way = Way(guarded, look.asynchronous, look.guards_itself)
        try:
            return way, run_twin(self.site, self.request, way, "twin/1")
        except DrillFailed as error:
            if way.asynchronous or not any(said in error.what for said in _SYNCHRONOUS):
                raise
        way = replace(way, asynchronous=True)
        return way, run_twin(self.site, self.request, way, "twin/1")

    def _alternatives(self, way: Way, twin: Twin, protocols: Sequence[Protocol]) -> tuple[dict[int, Twin], list[str]]:
        """A run without faults for each second answer, and which answers can't be given."""
        decisions = self.request.decisions
        found: dict[int, Twin] = {}
        notes = []
        for fork in (protocol for protocol in protocols if protocol.action is Action.FORK):
            other = decisions.other(twin.answered[fork.place].gate)
            try:
                found[fork.place] = run_twin(self.site, self.request, way, f"twin/{fork.at}", {fork.place: other})
            except ResumptionError as error:
                notes.append(f"no second answer at {fork.at}: with {other!r} there, {error.what}")
        if not way.protected:
            later = [place for place in range(len(twin.answered)) if not is_first_question(twin, place)]
            gates = [f"{twin.answered[n].gate.name}@{n + 1}" for n in later if twin.answered[n].gate.identity]
            if gates:
                notes.append(f"no second answer at {', '.join(gates)}: LangGraph asks a task's first question again")
        asked = {answered.gate.name: answered.gate for answered in twin.answered if answered.gate.identity}
        if silent := [name for name, gate in asked.items() if decisions.other(gate) is None]:
            notes.append(f"no second answer at {', '.join(silent)}: none is known (--otherwise NODE=JSON)")
        return found, notes

    def _check_decisions(self, twins: Sequence[Twin]) -> None:
        """Raise `DecisionMissing` if something was said for a gate that is none: the slip would pass unseen."""
        gates = [answered.gate for twin in twins for answered in twin.answered]
        silent = [Pending(identity="", name=node) for node in self.site.survey.nodes]
        if strange := self.request.decisions.strangers([*gates, *silent]):
            asked = ", ".join(dict.fromkeys(gate.name for gate in gates))
            raise DecisionMissing(
                f"A decision was given for {', '.join(strange)}, which never asks.",
                advice=f"These ask: {asked}." if asked else "Nothing asks.",
            )

    def _run_all(
        self, way: Way, twin: Twin, alternatives: dict[int, Twin], protocols: Sequence[Protocol]
    ) -> list[Outcome]:
        """The outcomes in the order of the protocols; without those that the time didn't suffice for."""
        order = list(enumerate(protocols))
        if self.request.seconds is not None:  # where not all can be run, another seed runs others
            random.Random(self.request.seed).shuffle(order)
        waiting = iter(order)
        running: dict[Future[Outcome], int] = {}
        done: dict[int, Outcome] = {}
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="resumption-drill") as pool:
            try:
                while True:
                    in_time = self.deadline is None or time.monotonic() < self.deadline
                    for number, protocol in islice(waiting, self.jobs - len(running) if in_time else 0):
                        running[pool.submit(self._outcome, way, twin, alternatives, protocol)] = number
                    if not running:
                        break
                    ended, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        outcome = done[running.pop(future)] = future.result()
                        self.listen(len(done), len(protocols), outcome.protocol.name)
            except BaseException:
                # Ctrl-C, for one: end the processes that are waited for, so that every protocol ends at once.
                self.site.close()
                raise
        return [done[number] for number in sorted(done)]

    def _outcome(self, way: Way, twin: Twin, alternatives: dict[int, Twin], protocol: Protocol) -> Outcome:
        keys = self.request.keys
        try:
            with self.site.ground(protocol.name, protocol.form, way) as ground:
                ran = run(protocol, ground, self.request)
        except (ResumptionError, OSError, sqlite3.Error) as error:
            return Outcome(protocol=protocol, problem=f"{type(error).__name__}: {error}")
        if ground.observation is None:
            return Outcome(protocol=protocol, problem="the process came to rest before the moment that was asked for")
        history = ground.observation.history
        problem = "; ".join(
            filter(None, (ran.problem or ground.observation.problem, _exhausted(history), *history.problems()))
        )
        if problem:
            return Outcome(protocol=protocol, history=history, problem=problem)
        if protocol.action is Action.FORK:
            found = judge_fork(history, ran, alternatives[protocol.place], protocol.place, keys)
        else:
            found = judge_run(history, protocol, ran, twin, keys)
        return Outcome(protocol=protocol, history=history, found=found, doubt=in_doubt(ran))


def _check_keys(request: Request, twin: Twin) -> None:
    """Raise `KeyArgumentMissing` where a key is no argument: all calls would count as one, and nothing be found."""
    for fire in twin.history.fires():
        if (argument := request.keys.get(fire.effect)) and argument not in fire.value["arguments"]:
            raise KeyArgumentMissing(
                f"The effect {fire.effect} has no argument {argument!r}, by which its provider would deduplicate.",
                advice=f"It is called with {', '.join(fire.value['arguments']) or 'nothing'}.",
            )


def _exhausted(history: History) -> str:
    """What the machine ran out of, if anything failed for that."""
    failed = (raised.message for raised in history.of(Raise) if any(said in raised.message for said in _EXHAUSTED))
    return next(failed, "")
