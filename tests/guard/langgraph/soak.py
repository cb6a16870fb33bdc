"""Protocols under fire: executors that die or stall anywhere, rivals with the same decision or another, recoveries.

A protocol is one thread of one program: a draft, a gate whose payment is an effect, a notification. Everything that
happens to it is drawn from one seed: who delivers what, who dies at which statement of its databases or beside which
effect, who is stopped (SIGSTOP) there and goes on later; on PostgreSQL also whose session is given up by the server
meanwhile, so that it is replaced while it stands. What was paid is one line in a file, written at once: the oracle, of
which the ledger asks whether a payment in doubt went out.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import psycopg

from resumption.errors import InDoubt, LedgerUnavailable
from resumption.guard.effects import effect
from resumption.guard.verification import Fired, NotFired, Verification
from resumption.langgraph import AlreadyConsumed, DecisionPending, Fenced, NotPending

from .databases import Database, Program, exchanges_observed
from .programs import Bench, answer

LAST_STATEMENT = {"sqlite": 90, "postgres": 140}
"""How many boundaries of statements an answer passes that runs to the end. Others have fewer: some are left alone."""
PAUSE_SECONDS = 0.02
"""How long a stopped executor stays so. Its rivals go on meanwhile; nothing waits for this."""
ATTEMPTS = 12
"""More recoveries than a protocol can need: each is spared the faults of those before."""


class Harm(StrEnum):
    """What is done to an executor."""

    KILL = "kill"
    STOP = "stop"
    """It is stopped, and goes on after a while."""
    CUT_LEASE = "cut lease"
    """While it is stopped, the server gives up the session that has its lease."""
    CUT = "cut"
    """While it is stopped, the server gives up all its sessions."""


CUTS = (Harm.CUT_LEASE, Harm.CUT)
"""What makes a zombie of an executor: others may have the thread while it goes on."""


@dataclass(slots=True)
class Fault:
    """What is done to one executor, at a boundary of a statement (by number) or at a place in the gate."""

    harm: Harm
    at: int | str
    struck: bool = False

    def strike(self) -> None:
        """Do to this process what it can do itself; the watcher does the rest."""
        self.struck = True
        os.kill(os.getpid(), signal.SIGKILL if self.harm is Harm.KILL else signal.SIGSTOP)


_HARMS = (Harm.KILL, Harm.STOP)
"""What a campaign of some size does for certain."""


@dataclass(slots=True)
class Tally:
    """What a campaign came to."""

    protocols: int = 0
    executors: int = 0
    harmed: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    stuck: int = 0
    lost: int = 0
    forged: int = 0
    """Paid by a decision that nobody made, or other than the state says."""
    wrong: list[str] = field(default_factory=list)
    """The protocols that went wrong, by their names: each can be run again by its number."""

    def record(self) -> dict[str, Any]:
        """The figures, for a report."""
        names = [one.name for one in fields(self) if one.name != "harmed"]
        return {**{name: getattr(self, name) for name in names}, "harmed": dict(self.harmed)}

    def clean(self) -> bool:
        """Whether nothing went wrong, and something could have: executors were killed, and others stopped."""
        faults = self.duplicates + self.stuck + self.lost + self.forged
        return faults == 0 and self.protocols > 0 and all(self.harmed[harm] > 0 for harm in _HARMS)


def soak(bench: Bench, database: Database, protocols: Iterable[int], seed: int) -> Tally:
    """Run the protocols of these numbers. Each depends on the seed and its number only."""
    tally = Tally()
    database.setup()
    with opened(bench, database, "warm") as warm:
        # What a first call imports and makes is there when executors are forked from this process.
        warm.call({"trail": []}, _config("warm"))
        warm.call(answer("yes"), _config("warm"))
    with opened(bench, database, "") as onlooker:
        for number in protocols:
            chance = random.Random(f"{seed} {number}")
            _Protocol(bench, database, onlooker, f"t{number}", chance, tally).run()
    return tally


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class _Protocol:
    """One thread, and what happens to it."""

    def __init__(
        self, bench: Bench, database: Database, onlooker: Program, thread: str, chance: random.Random, tally: Tally
    ) -> None:
        self._bench = bench
        self._database = database
        self._onlooker = onlooker
        self._thread = thread
        self._chance = chance
        self._tally = tally

    def run(self) -> None:
        """Start, answer, and recover until it has ended; then judge by what the oracle has."""
        self._tally.protocols += 1
        values = self._chance.choice((["yes"], ["yes", "yes"], ["yes", "no"], ["yes", "no", "yes"]))
        self._together([({"trail": []}, self._fault())])
        # The input of one that died may not be durable: it is given again, under its delivery id.
        self._together([({"trail": []}, None)])
        self._together([(answer(value), self._fault()) for value in values])
        for attempt in range(ATTEMPTS):
            state = self._onlooker.state(_config(self._thread))
            if not state.tasks:  # `next` leaves out a task whose writes are durable but not yet part of a checkpoint
                break
            payload = answer(values[0]) if state.interrupts else None
            self._together([(payload, self._fault() if attempt < ATTEMPTS // 2 else None)])
        self._judge(set(values))

    def _judge(self, values: set[str]) -> None:
        state, tally = self._onlooker.state(_config(self._thread)), self._tally
        lines = [line.partition(" ") for line in self._bench.fired()]
        fired = Counter(what for thread, _, what in lines if thread == self._thread)
        paid = [what for what in fired.elements() if what.startswith("pay=")]
        duplicate = len(paid) > 1 or fired["notify"] > 1
        stuck = bool(state.tasks)
        lost = not stuck and (len(paid) < 1 or fired["notify"] < 1)
        decided = {f"pay={value}" for value in values}
        told = state.values["trail"] == ["draft", *paid, "notify"]
        forged = not stuck and len(paid) == 1 and not (told and paid[0] in decided)
        tally.duplicates += duplicate
        tally.stuck += stuck
        tally.lost += lost
        tally.forged += forged
        if duplicate or stuck or lost or forged:
            tally.wrong.append(f"{self._thread}: paid {paid}, notified {fired['notify']}, state {state.values}")

    def _fault(self) -> Fault | None:
        cuts = CUTS if self._database.on_server else ()
        harm = self._chance.choice((None, Harm.KILL, Harm.KILL, Harm.STOP, *cuts))
        if harm is None:
            return None
        where = self._chance.choice(
            (self._chance.randint(1, LAST_STATEMENT[self._database.kind]), "before pay", "after pay", "after notify")
        )
        return Fault(harm, where)

    def _together(self, calls: Sequence[tuple[Any, Fault | None]]) -> None:
        """Make each call in a process of its own; wait for all, letting those that are stopped go on after a while."""
        beside_zombies = self._database.leased > 0 or any(
            fault is not None and fault.harm in CUTS for _, fault in calls
        )
        running = [(_start(self._executor(payload, fault, beside_zombies)), fault) for payload, fault in calls]
        self._tally.executors += len(running)
        # All at once: one that is stopped may have the lease that the others wait for.
        with ThreadPoolExecutor(len(running)) as watchers:
            for harmed in watchers.map(lambda one: self._watch(*one), running):
                self._tally.harmed.update(harmed)

    def _watch(self, pid: int, fault: Fault | None) -> list[str]:
        """Wait for one executor. Gives what was done to it."""
        harmed: list[str] = []
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if os.WIFSIGNALED(status):
                return [*harmed, Harm.KILL]
            if os.WIFEXITED(status):
                if os.WEXITSTATUS(status):
                    raise AssertionError("an executor failed; it has said why on standard error")
                return harmed
            assert fault is not None
            harmed.append(fault.harm)
            if fault.harm in CUTS:
                cut_off(self._database.address, _name(pid), lease_only=fault.harm is Harm.CUT_LEASE)
            time.sleep(max(PAUSE_SECONDS, 2 * self._database.leased))  # so that another may have its lease meanwhile
            os.kill(pid, signal.SIGCONT)

    def _executor(self, payload: Any, fault: Fault | None, beside_zombies: bool) -> Callable[[], None]:
        def execute() -> None:
            database = self._database.named(_name(os.getpid())) if self._database.on_server else self._database
            delivery = {"delivery_id": "start"} if isinstance(payload, dict) else {}
            with opened(self._bench, database, self._thread, fault) as program:
                try:
                    program.call(payload, _config(self._thread), **delivery)
                except (AlreadyConsumed, DecisionPending, NotPending):
                    pass  # a rival was first
                except InDoubt:
                    pass  # a rival that may live has begun the effect
                except Fenced:
                    if not beside_zombies:
                        raise
                except (LedgerUnavailable, psycopg.Error):
                    if fault is None or not fault.struck or fault.harm not in CUTS:
                        raise

        return execute


def cut_off(url: str, name: str, *, lease_only: bool) -> None:
    """Have the server give up sessions of this name: what it does, in time, with those that it doesn't reach."""
    holders = " AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')" if lease_only else ""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s{holders}",
            (name,),
        )


def _name(pid: int) -> str:
    return f"executor-{pid}"


@contextmanager
def opened(bench: Bench, database: Database, thread: str, fault: Fault | None = None) -> Iterator[Program]:
    """The program, guarded, on a connection of its own. The fault's places are beside the payment."""
    ledger = database.ledger()

    def here(place: str) -> None:
        if fault is not None and fault.at == place:
            fault.strike()

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

    builder = bench.builder(draft=lambda state: {"trail": ["draft"]}, pay=pay, notify=notify)
    with database.opened(builder) as program:
        if fault is not None and isinstance(fault.at, int):
            with exchanges_observed(program, database, _counting(fault)):
                yield program
        else:
            yield program


def _counting(fault: Fault) -> Callable[[], None]:
    left = [int(fault.at)]

    def reach() -> None:
        left[0] -= 1
        if left[0] == 0:
            fault.strike()

    return reach


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
