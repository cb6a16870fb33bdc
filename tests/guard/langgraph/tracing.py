"""Records what guarded executors do, in the words of `spec/GuardTrace.tla`, and asks TLC whether that is a behaviour.

Each executor is a process, and answers with its own name: so what a gate receives says whose decision it was.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.types import interrupt

from resumption.errors import DeliveryMismatch, Fenced, GuardError, NothingToFork, RunBusy
from resumption.guard.langgraph import admission, forking, graph
from resumption.guard.langgraph.calls import Intent
from resumption.guard.langgraph.house import Replay, Run
from resumption.langgraph import fork
from resumption.model.tlc import specification_folder

from ..specification import DELIVERY, constants, run
from .programs import THREAD, Bench, answer
from .test_crashes import in_child

__all__ = ["Event", "Trace", "Wish", "behaviours", "is_behaviour", "parked"]

Event = dict[str, Any]

BRANCH = "branch"
_NUMBERS = {"t": 1, BRANCH: 2}

_FOLLOWED = re.compile(r'^<<"followed", (\d+)>>$', re.MULTILINE)

# As they are, since an executor may start another, which inherits what was put in their places.
_CLAIMING, _ADMIT = admission.claiming, graph.admit  # type: ignore[attr-defined]  # imported there, not exported
_DECIDING, _COPIED = forking._deciding, forking.copied  # type: ignore[attr-defined]  # imported there, not exported


@dataclass(frozen=True, slots=True)
class Wish:
    """What an executor calls for. By default it answers whatever is asked, with its own name."""

    decides: bool = True
    delivery: str = ""
    thread: str = "t"
    wait: float = 30.0
    parked: Any = None
    """Where to fork: the config of a thread that waited there."""
    gate: int = 0
    """The gate at which it waited."""
    into: str | None = None
    inside: Callable[[], None] = lambda: None
    """Happens in each gate."""
    between: Callable[[], None] = lambda: None
    """Happens in a fork, between the copy and the decision."""


class Trace:
    """What the executors of a thread did, in the order in which they did it: one file, one write for each event."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._path = bench.folder / "trace"

    def note(self, what: str, who: str, **facts: Any) -> None:
        """Add an event. `facts` are a decision, a position, a thread and a delivery id, where there are such."""
        event = {
            "what": what,
            "who": who,
            "decision": "",
            "position": 0,
            "thread": 1,
            "id": "",
            "kind": "answer",
            **facts,
        }
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, json.dumps(event).encode() + b"\n")
        os.close(descriptor)

    @property
    def events(self) -> list[Event]:
        """What was noted so far."""
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    @property
    def kinds(self) -> list[str]:
        """Who did what, in short."""
        return [f"{one['who']} {one['what']}" for one in self.events]

    def execute(self, who: str, wish: Wish | None = None, **wishes: Any) -> None:
        """One executor's call, in a process of its own."""
        self.reaped(who, in_child(lambda: self.call(who, wish or Wish(**wishes))))

    def reaped(self, who: str, ended: int) -> None:
        """Note the end of an executor's process, which nobody but its parent can."""
        if ended == -signal.SIGKILL:
            self.note("die", who)
        else:
            assert ended == 0

    def program(self, who: str, wish: Wish, ran: list[int]) -> Any:
        """Two gates, one after the other. The number of each that ran is added to `ran`."""

        def gate(number: int) -> Callable[[Any], Any]:
            def node(_: Any) -> Any:
                decision = interrupt(f"gate {number}")
                self.note("run", who, decision=decision, position=number)
                ran.append(number)
                wish.inside()
                return {"trail": [decision]}

            return node

        return self.bench.guarded(self.bench.builder(first=gate(1), second=gate(2)), wait=wish.wait)

    def call(self, who: str, wish: Wish) -> None:
        """An executor's call, in a process that is its own: what is watched stays watched."""
        ran: list[int] = []
        app = self.program(who, wish, ran)
        place = {
            "thread": _NUMBERS[wish.into or wish.thread],
            "id": wish.delivery,
            "kind": "fork" if wish.parked else "answer",
        }
        _Watch(self, who, wish, place).admissions()
        _watch_checkpoints(app.checkpointer, ran, lambda position: self.note("store", who, position=position, **place))
        options: dict[str, Any] = {"delivery_id": wish.delivery or None, "durability": "sync"}
        config = {"configurable": {"thread_id": wish.thread}}
        try:
            if wish.parked:
                fork(app, wish.parked, who, into=wish.into, **options)
                return
            outcome = app.invoke(answer(who) if wish.decides else None, config, **options)
            if not wish.decides and outcome.get("__interrupt__") and not ran:
                self.note("ask", who, **place)
        except Fenced:
            self.note("fenced", who, **place)
        except DeliveryMismatch:
            self.note("mismatch", who, **place)
        except RunBusy:
            self.note("busy", who, **place)
        except NothingToFork:
            self.note("nothing to fork", who, position=wish.gate, **place)
        except GuardError:
            self.note("refuse", who, **place)
        except ConnectionError:
            self.note("fail", who, **place)


@dataclass(frozen=True, slots=True)
class _Watch:
    """Notes what an executor is admitted to. A process has one executor, so nothing has to be put back."""

    trace: Trace
    who: str
    wish: Wish
    place: dict[str, Any]

    def note(self, what: str, **facts: Any) -> None:
        self.trace.note(what, self.who, **self.place, **facts)

    def admissions(self) -> None:
        """Note leases, claims, forks and replays, while the lease is held."""
        done: list[str] = []

        def claiming(call: Any, house: Any, sight: Any, taken: Any) -> Any:
            yield from _CLAIMING(call, house, sight, taken)
            done.extend(["lease", "claim"] if taken else [])

        def deciding(*facts: Any) -> Any:
            self.note("open", position=self.wish.gate)
            self.wish.between()
            yield from _DECIDING(*facts)
            done.append("decide")

        def copied(*facts: Any) -> Any:
            run = yield from _COPIED(*facts)
            done.append("into")
            return run

        def admit(call: Any, house: Any) -> Any:
            decided = yield from _ADMIT(call, house)
            if isinstance(decided, Replay):
                self.note("repeat" if call.delivery else "replay")
            elif isinstance(decided, Run) and call.intent is not Intent.START:
                for what in done or ["lease"]:
                    self.note(what, position=self.wish.gate)
            return decided

        admission.claiming, graph.admit = claiming, admit  # type: ignore[attr-defined]  # imported there, not exported
        forking._deciding, forking.copied = deciding, copied  # type: ignore[attr-defined]  # imported there, not exported


def _watch_checkpoints(saver: Any, ran: list[int], note: Callable[[int], None]) -> None:
    """Note how many gates are behind a checkpoint that a gate led to, when it is durable."""
    put = saver.put
    seen: list[int] = []

    def watched(config: Any, checkpoint: Any, *rest: Any) -> Any:
        stored = put(config, checkpoint, *rest)
        if ran != seen:
            seen[:] = ran
            note(len(checkpoint["channel_values"]["trail"]))
        return stored

    saver.put = watched


def parked(trace: Trace) -> Any:
    """The config of the thread as it stands."""
    return trace.program("nobody", Wish(), []).get_state(THREAD).config


def is_behaviour(events: Sequence[Event], scratch: Path, *, expiring: bool = False) -> bool:
    """Whether TLC can follow these events through the specification; `expiring` says of which kind leases were."""
    return behaviours([events], scratch, expiring=expiring) == {0}


def behaviours(traces: Sequence[Sequence[Event]], scratch: Path, *, expiring: bool = False) -> set[int]:
    """Which of these traces TLC can follow."""
    every = [event for events in traces for event in events]
    texts = ",\n".join(f"<<{', '.join(map(_record, events))}>>" for events in traces)
    (scratch / "Recorded.tla").write_text(
        f"---- MODULE Recorded ----\nEXTENDS GuardTrace\nRecords == <<{texts}>>\n====\n"
    )
    bounds = {
        "Threads": 2,
        "Attempts": 1 + max(sum(event["what"] in ("open", "into") for event in events) for events in traces),
        "Interrupts": 2,
        "MaxFaults": max(map(len, traces)),
        "Expiring": str(expiring).upper(),
        "Ids": "{" + ", ".join(json.dumps(name) for name in sorted({event["id"] for event in every} - {""})) + "}",
    }
    lines = constants(DELIVERY, sorted({event["who"] for event in every}), bounds)
    lines = ["SPECIFICATION TraceSpec", *lines, "    Traces <- Records", "INVARIANTS", "    Printed"]
    (scratch / "Recorded.cfg").write_text("\n".join(lines) + "\n")
    options = ["-metadir", str(scratch / "states"), "Recorded"]
    said = run(options, scratch, timeout=120, library=specification_folder())
    assert "No error has been found" in said, said
    return {int(number) - 1 for number in _FOLLOWED.findall(said)}


def _record(event: Event) -> str:
    return f"[{', '.join(f'{name} |-> {json.dumps(value)}' for name, value in event.items())}]"
