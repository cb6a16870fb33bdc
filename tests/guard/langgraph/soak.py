"""Protocols under fire: executors that die or stall anywhere, rivals with the same decision or another, recoveries.

A protocol is one thread of one program: a draft, a gate whose payment is an effect, a notification. Everything that
happens to it is drawn from one seed: who delivers what, who dies at which statement of its database or beside which
effect, who is stopped (SIGSTOP) there and goes on later. What was paid is one line in a file, written at once: the
oracle, of which the ledger asks whether a payment in doubt went out.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumption.guard.effects import Ledger, effect
from resumption.guard.verification import Fired, NotFired, Verification
from resumption.langgraph import AlreadyConsumed, DecisionPending, GuardError, NotPending

from .programs import Bench, answer

LAST_STATEMENT = 60
"""Past the last statement of a call, so that some executors are left alone."""
PAUSE_SECONDS = 0.02
"""How long a stopped executor stays so. Its rivals go on meanwhile; nothing waits for this."""
ATTEMPTS = 12
"""More recoveries than a protocol can need: each is spared the faults of those before."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one executor: a signal to itself, at a statement (by number) or at a place in the gate."""

    signal: int
    at: int | str


@dataclass(slots=True)
class Tally:
    """What a campaign came to."""

    protocols: int = 0
    killed: int = 0
    stopped: int = 0
    duplicates: int = 0
    stuck: int = 0
    lost: int = 0
    forged: int = 0
    """Paid by a decision that nobody made, or other than the state says."""

    def clean(self) -> bool:
        """Whether nothing went wrong, and something could have."""
        faults = self.duplicates + self.stuck + self.lost + self.forged
        return faults == 0 and self.protocols > 0 and self.killed > 0 and self.stopped > 0


def soak(folder: Path, protocols: range, seed: int) -> Tally:
    """Run the protocols of these numbers. Each depends on the seed and its number only."""
    tally = Tally()
    bench = Bench(folder)
    onlooker = program(bench, "")
    for number in protocols:
        _protocol(bench, onlooker, f"t{number}", random.Random(f"{seed} {number}"), tally)
    bench.close()
    return tally


def _protocol(bench: Bench, onlooker: Any, thread: str, chance: random.Random, tally: Tally) -> None:
    tally.protocols += 1
    config = {"configurable": {"thread_id": thread}}
    values = chance.choice((["yes"], ["yes", "yes"], ["yes", "no"], ["yes", "no", "yes"]))
    _together([_executor(bench, thread, {"trail": []}, _fault(chance))], tally)
    # The input of one that died may not be durable: it is given again, under its delivery id.
    _together([_executor(bench, thread, {"trail": []}, None)], tally)
    _together([_executor(bench, thread, answer(value), _fault(chance)) for value in values], tally)
    for attempt in range(ATTEMPTS):
        state = onlooker.get_state(config)
        if not state.tasks:  # `next` leaves out a task whose writes are durable but not yet part of a checkpoint
            break
        payload = answer(values[0]) if state.interrupts else None
        _together([_executor(bench, thread, payload, _fault(chance) if attempt < ATTEMPTS // 2 else None)], tally)
    _judge(bench, thread, onlooker.get_state(config), set(values), tally)


def _judge(bench: Bench, thread: str, state: Any, values: set[str], tally: Tally) -> None:
    fired = Counter(line.partition(" ")[2] for line in bench.fired() if line.partition(" ")[0] == thread)
    paid = [what for what in fired.elements() if what.startswith("pay=")]
    tally.stuck += bool(state.tasks)
    tally.duplicates += len(paid) > 1 or fired["notify"] > 1
    tally.lost += not state.tasks and (len(paid) < 1 or fired["notify"] < 1)
    expected = ["draft", *paid, "notify"]
    decided = {f"pay={value}" for value in values}
    tally.forged += not state.tasks and len(paid) == 1 and (state.values["trail"] != expected or paid[0] not in decided)


def program(bench: Bench, thread: str, fault: Fault | None = None) -> Any:
    """The program, guarded, on a connection of its own. The fault's places are beside the payment."""
    ledger = Ledger(f"sqlite:///{bench.folder / 'effects.db'}")

    def here(place: str) -> None:
        if fault is not None and fault.at == place:
            os.kill(os.getpid(), fault.signal)

    def record(what: str) -> None:
        bench.fire(f"{thread} {what}")
        here(f"after {what.partition('=')[0]}")

    def asked(what: str) -> Verification:
        return Fired() if f"{thread} {what}" in bench.fired() else NotFired()

    once = effect(ledger, key=lambda what: f"{thread}:{what}", on_doubt=asked)(record)

    def pay(state: Any) -> Any:
        from langgraph.types import interrupt

        decision = interrupt("sure?")
        here("before pay")
        once(f"pay={decision}")
        return {"trail": [f"pay={decision}"]}

    def notify(state: Any) -> Any:
        once("notify")
        return {"trail": ["notify"]}

    return bench.guarded(bench.builder(draft=lambda state: {"trail": ["draft"]}, pay=pay, notify=notify))


def _fault(chance: random.Random) -> Fault | None:
    what = chance.choice((None, signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
    if what is None:
        return None
    where = chance.choice((chance.randint(1, LAST_STATEMENT), "before pay", "after pay", "after notify"))
    return Fault(what, where)


def _executor(bench: Bench, thread: str, payload: Any, fault: Fault | None) -> Callable[[], None]:
    def execute() -> None:
        app = program(Bench(bench.folder), thread, fault)
        if fault is not None and isinstance(fault.at, int):
            _strike(app, fault)
        delivery = {"delivery_id": "start"} if isinstance(payload, dict) else {}
        try:
            app.invoke(payload, {"configurable": {"thread_id": thread}}, **delivery)
        except (AlreadyConsumed, DecisionPending, NotPending):
            pass  # a rival was first
        except GuardError as error:
            raise AssertionError(f"{thread}: no rival explains {type(error).__name__}") from error

    return execute


def _strike(app: Any, fault: Fault) -> None:
    left = [int(fault.at)]

    def count(_: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), fault.signal)

    app.checkpointer.conn.set_trace_callback(count)


def _together(executors: Sequence[Callable[[], None]], tally: Tally) -> None:
    """Run each in a process of its own; wait for all, letting those that are stopped go on after a while."""
    running = [_start(execute) for execute in executors]
    # All at once: one that is stopped may have the lease that the others wait for.
    with ThreadPoolExecutor(len(running)) as watchers:
        for killed, stopped in watchers.map(_watch, running):
            tally.killed += killed
            tally.stopped += stopped


def _watch(pid: int) -> tuple[int, int]:
    """Wait for one executor; whether it was killed, and how often it was stopped."""
    stopped = 0
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSIGNALED(status):
            return 1, stopped
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise AssertionError("an executor failed; it has said why on standard error")
            return 0, stopped
        stopped += 1
        time.sleep(PAUSE_SECONDS)
        os.kill(pid, signal.SIGCONT)


def _start(execute: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            execute()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return child
