"""Records what guarded executors do, in the words of `spec/GuardTrace.tla`, and asks TLC whether that is a behaviour.

Each executor is a process, and answers with its own name: so what a gate receives says whose decision it was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from resumption.errors import Fenced, GuardError, ToolMissing
from resumption.guard.langgraph import admission, graph
from resumption.guard.langgraph.calls import Intent
from resumption.guard.langgraph.house import Run
from resumption.model.tlc import find_jar, find_java, specification_folder

from .programs import THREAD, Bench, answer
from .test_crashes import in_child

Event = dict[str, Any]

_CLAIMING, _ADMIT = admission.claiming, graph.admit  # type: ignore[attr-defined]  # an executor may start another


class Trace:
    """What the executors of one thread did, in the order in which they did it: one file, one write for each event."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._path = bench.folder / "trace"

    def note(self, what: str, who: str, *, decision: str = "", position: int = 0) -> None:
        event = {"what": what, "who": who, "decision": decision, "position": position}
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, json.dumps(event).encode() + b"\n")
        os.close(descriptor)

    @property
    def events(self) -> list[Event]:
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def execute(self, who: str, *, decides: bool = True, inside: Callable[[], None] = lambda: None) -> None:
        """One executor's call, in a process of its own: its decision is its name. `inside` happens in the gate."""
        ended = in_child(lambda: self._call(who, decides, inside))
        if ended == -signal.SIGKILL:
            self.note("die", who)
        else:
            assert ended == 0

    def program(self, who: str, inside: Callable[[], None]) -> Any:
        """Two gates, one after the other. `inside` happens in each."""

        def gate(number: int) -> Callable[[Any], Any]:
            def node(state: Any) -> Any:
                decision = interrupt(f"gate {number}")
                self.note("run", who, decision=decision)
                inside()
                return {"trail": [decision]}

            return node

        return self.bench.guarded(self.bench.builder(first=gate(1), second=gate(2)))

    def _call(self, who: str, decides: bool, inside: Callable[[], None]) -> None:
        app = self.program(who, inside)
        _watch_admissions(lambda what: self.note(what, who))
        _watch_checkpoints(app.checkpointer, lambda position: self.note("store", who, position=position))
        try:
            app.invoke(answer(who) if decides else None, THREAD, durability="sync")
        except Fenced:
            self.note("fenced", who)
        except GuardError:
            self.note("refuse", who)
        except ConnectionError:
            self.note("die", who)  # to all others a node that raises is an executor that is gone


def _watch_admissions(note: Callable[[str], None]) -> None:
    """Note leases and claims while the lease is held. A process has one executor, so nothing has to be put back."""
    claimed: list[bool] = []

    def watched_claiming(call: Any, house: Any, sight: Any, taken: Any) -> Any:
        yield from _CLAIMING(call, house, sight, taken)
        claimed.append(bool(taken))

    def watched_admit(call: Any, house: Any) -> Any:
        decided = yield from _ADMIT(call, house)
        if isinstance(decided, Run) and call.intent is not Intent.START:
            note("lease")
            if any(claimed):
                note("claim")
        return decided

    admission.claiming, graph.admit = watched_claiming, watched_admit  # type: ignore[attr-defined]


def _watch_checkpoints(saver: Any, note: Callable[[int], None]) -> None:
    """Note how many gates are behind a checkpoint, when it is durable."""
    put = saver.put

    def watched(config: Any, checkpoint: Any, *rest: Any) -> Any:
        stored = put(config, checkpoint, *rest)
        note(len(checkpoint["channel_values"]["trail"]))
        return stored

    saver.put = watched


def is_behaviour(events: Sequence[Event], scratch: Path) -> bool:
    """Whether TLC can follow these events through the specification."""
    try:
        java, jar = find_java(), find_jar()
    except ToolMissing as error:
        pytest.skip(str(error))
    records = ", ".join(
        f'[what |-> "{one["what"]}", who |-> "{one["who"]}", decision |-> "{one["decision"]}",'
        f" position |-> {one['position']}]"
        for one in events
    )
    (scratch / "Recorded.tla").write_text(
        f"---- MODULE Recorded ----\nEXTENDS GuardTrace\nRecords == <<{records}>>\n====\n"
    )
    names = ", ".join(f'"{who}"' for who in sorted({one["who"] for one in events}))
    faults = ("ClaimOnRead", "NoRelease", "ClaimBeforeLease", "CoarseKey", "Unfenced")
    (scratch / "Recorded.cfg").write_text(
        f"SPECIFICATION TraceSpec\nCONSTANTS\n    Executors = {{{names}}}\n    Interrupts = 2\n"
        f"    MaxCrashes = {len(events)}\n    Trace <- Records\n"
        + "".join(f"    {fault} = FALSE\n" for fault in faults)
        + "INVARIANTS\n    Unfinished\n"
    )
    memory = ["-Xmx512m", "-XX:+UseSerialGC", f"-DTLA-Library={specification_folder()}"]
    options = ["-deadlock", "-workers", "1", "-metadir", str(scratch / "states"), "Recorded"]
    command = [str(java), *memory, "-cp", str(jar), "tlc2.TLC", *options]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=120, check=False)
    if "Invariant Unfinished is violated" in done.stdout:
        return True
    assert "No error has been found" in done.stdout, done.stdout
    return False
