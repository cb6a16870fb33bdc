"""Executors on hosts of their own: racing over a slow network, and cut off from the server at any point of a call.

Hosts are network namespaces of this machine; each reaches the server by a relay that delays 50 ms one way. The one that
is cut off is `far`, its rival is `near`. The server gives sessions up as it does in time by its keepalives, here by an
administrator's `pg_terminate_backend`; what was on its way arrives when the network is healed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import psycopg
import pytest

from resumption.errors import ResumptionError
from resumption.guard.effects import effect
from resumption.harness.network import Hosts, hosts_reason_against
from resumption.harness.relay import Relay
from resumption.worker.namespace import join_namespace

from ..support import child, until
from .databases import Database, Program
from .networks import Loss, Tripwire
from .programs import Bench, answer
from .racing import PATIENCE, Contest, Means, gated, run_heat
from .soak import cut_off
from .test_races import held_to_the_contract

_REASON = hosts_reason_against()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "there are hosts")

LATENCY = 0.05
"""Seconds, one way."""
SERVERS = ["postgres", "aiopostgres"]

on_server = pytest.mark.parametrize("database", SERVERS, indirect=True)


def _target(database: Database) -> tuple[str, int]:
    place = psycopg.conninfo.conninfo_to_dict(database.address)
    return str(place["host"]), int(str(place["port"]))


# Races ----------------------------------------------------------------------------------------------------------------


@contextmanager
def _on_hosts(database: Database, racers: int) -> Iterator[Callable[[int, Bench], Any]]:
    """Opens the raced program on the host of a racer's number."""
    with Hosts(racers, _target(database), LATENCY) as hosts:

        @contextmanager
        def opened(number: int, bench: Bench) -> Iterator[Program]:
            host = hosts.host(number)
            join_namespace(Path(host.namespace))
            with database.by(**dict(part.split("=") for part in host.route.split())).opened(
                gated(bench), wait=PATIENCE
            ) as program:
                yield program

        yield opened


@on_server
@pytest.mark.parametrize(("racers", "contest"), [(4, Contest.MIXED), (8, Contest.DIFFERENT)])
def test_one_of_many_hosts_executes(quick, database, racers, contest):
    with _on_hosts(database, racers) as opened:
        heat = run_heat(quick.folder, database, Means.PROCESSES, contest, racers, 0, opened)
    held_to_the_contract(heat, contest, racers)


@pytest.mark.slow
@on_server
@pytest.mark.parametrize("contest", Contest)
@pytest.mark.parametrize("racers", [2, 4, 8, 16, 32, 64])
def test_one_of_many_hosts_executes_in_every_heat_of_the_grid(
    quick, database, racers, contest, record_property: Callable[..., None]
):
    with _on_hosts(database, racers) as opened:
        for repetition in range(10):
            heat = run_heat(quick.folder, database, Means.PROCESSES, contest, racers, repetition, opened)
            where = {"database": database.kind, "means": "hosts", "contest": contest}
            record_property("race", json.dumps({**where, **asdict(heat)}))
            held_to_the_contract(heat, contest, racers)


# Partitions -----------------------------------------------------------------------------------------------------------


class Point(StrEnum):
    """Where `far` is when the network fails."""

    OUTSIDE = "before it has said anything"
    LEASED = "with the lease, its claim not begun"
    HALF = "its claim half sent"
    CLAIMED = "its claim sent, the answer withheld"
    GATE = "in its gate, before the effect"
    EFFECT = "in the effect, which fired and isn't on record"


class Ending(StrEnum):
    """What happens before the network is healed."""

    NOTHING = "the server keeps its sessions"
    GIVEN_UP = "the server gives its sessions up"
    LEASE = "the server gives up the session with its lease"


_MARKERS = {
    Point.LEASED: (b"FROM resumption_fences", Loss.HALF),
    Point.HALF: (b"INSERT INTO resumption_claims", Loss.HALF),
    Point.CLAIMED: (b"INSERT INTO resumption_claims", Loss.ANSWER),
}


@dataclass
class Far:
    """The executor that is cut off: a process on a host, and the network between it and the server."""

    bench: Bench
    database: Database
    payload: Any
    point: Point
    relay: Any = None

    def __enter__(self) -> Far:
        with ExitStack() as stack:
            hosts = stack.enter_context(Hosts(1, _target(self.database)))
            place = dict(part.split("=") for part in hosts.host(0).route.split())
            self.relay = stack.enter_context(self._network(place["host"]))
            self._cut = stack.enter_context(ExitStack())
            if self.point is Point.OUTSIDE:
                self._cut.enter_context(self.relay.cut())
            self._inside, at_inside = os.pipe()
            leave, self._leave = os.pipe()
            told, at_told = os.pipe()

            def run() -> None:
                join_namespace(Path(hosts.host(0).namespace))
                self._run(place["host"], at_inside, leave, at_told)

            self._child = child(run)
            stack.callback(self._child.kill)
            for descriptor in (at_inside, leave, at_told):
                os.close(descriptor)
            self._told = told
            stack.callback(self._close)
            self._reach()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def heal(self) -> str:
        """Heal the network, let the executor go on, and return what it was told."""
        if isinstance(self.relay, Tripwire):
            self.relay.heal()
        else:
            self._cut.close()
        os.write(self._leave, b".")
        with os.fdopen(os.dup(self._told)) as words:
            told = words.read()
        assert self._child.wait() == 0
        return told

    def _network(self, listen: str) -> Relay:
        if self.point not in _MARKERS:
            return Relay(listen, _target(self.database), LATENCY)
        marker, loss = _MARKERS[self.point]
        return Tripwire(listen, _target(self.database), LATENCY, marker, loss)

    def _reach(self) -> None:
        """Wait until the point is reached, and part the host from the server."""
        if isinstance(self.relay, Tripwire):
            assert self.relay.tripped.wait(60)
        elif self.point is not Point.OUTSIDE:
            assert os.read(self._inside, 1) == b".", "it never came to its gate"
            self._cut.enter_context(self.relay.cut())

    def _run(self, host: str, at_inside: int, leave: int, at_told: int) -> None:
        database = self.database.by(host=host, port=str(self.relay.port)).named("far")

        def hold() -> None:
            os.write(at_inside, b".")
            os.read(leave, 1)

        held = {self.point: hold}
        program = paying(self.bench, database, held.get(Point.GATE), held.get(Point.EFFECT))
        with database.opened(program, wait=PATIENCE) as opened:
            # Without it the next node begins while the write is still on its way.
            os.write(at_told, told(lambda: opened.call(self.payload, durability="sync")).encode())

    def _close(self) -> None:
        for descriptor in (self._inside, self._leave, self._told):
            os.close(descriptor)


def paying(
    bench: Bench,
    database: Database,
    before: Callable[[], None] | None = None,
    within: Callable[[], None] | None = None,
) -> Any:
    """Draft, gate, notify; what is done to the world is an effect of a ledger in the same database."""
    ledger = database.ledger(wait=1.0)

    def charge() -> None:
        bench.fire("charge")
        if within is not None:
            within()

    def pay() -> None:
        if before is not None:
            before()
        effect(ledger, key="charge")(charge)()

    def notify(state: Any) -> Any:
        effect(ledger, key="notify")(lambda: bench.fire("notify"))()
        return {"trail": ["notify"]}

    return bench.builder(draft=lambda state: {"trail": ["draft"]}, pay=bench.gate("pay", before=pay), notify=notify)


OUTCOME = "draft,pay=yes,notify"
NEAR = {
    Ending.NOTHING: {"RunBusy"},
    # An effect that is under way, by all that is known, is not begun again: it is served once it is on record.
    Ending.GIVEN_UP: {OUTCOME, "EffectRunning"},
    Ending.LEASE: {OUTCOME, "EffectRunning", "RunBusy"},
}
FAR = {
    Ending.NOTHING: {OUTCOME},
    # A driver's error says that nobody knows. The same decision again gets the outcome.
    Ending.GIVEN_UP: {"Fenced", "OperationalError", "AdminShutdown"},
    Ending.LEASE: {OUTCOME, "Fenced"},
}
"""What either may be told."""
SAMPLE = [
    *((point, Ending.GIVEN_UP) for point in (Point.HALF, Point.CLAIMED, Point.EFFECT)),
    (Point.HALF, Ending.LEASE),
]
PARTITIONS = [
    pytest.param(point, ending, marks=() if (point, ending) in SAMPLE else pytest.mark.slow)
    for point in Point
    for ending in Ending
]


def told(call: Callable[[], Any]) -> str:
    """What a caller was told: the run's trail, or the name of what was raised."""
    try:
        return ",".join(call()["trail"])
    except (ResumptionError, psycopg.Error) as error:
        return type(error).__name__


@on_server
@pytest.mark.parametrize(("point", "ending"), PARTITIONS)
def test_an_executor_that_is_cut_off_does_nothing_twice_and_leaves_nothing_stuck(quick, database, point, ending):
    with database.opened(paying(quick, database), wait=0.0) as near:
        near.call({"trail": []})
        with ThreadPoolExecutor(1) as rival, Far(quick, database, answer("yes"), point) as far:
            if ending is not Ending.NOTHING:
                cut_off(database.address, "far", lease_only=ending is Ending.LEASE)
            answered = rival.submit(lambda: told(lambda: near.call(answer("yes"))))
            if (point, ending) == (Point.HALF, Ending.LEASE):
                # The half of a transaction that is there keeps the thread's fence until its session is given up too.
                until(lambda: _waits(database))
                far_was_told = far.heal()
                near_was_told = answered.result(60)
            else:
                near_was_told = answered.result(60)
                far_was_told = far.heal()
        assert told(lambda: near.call(answer("yes"))) == OUTCOME
        assert not near.state().tasks
    assert (quick.fired().count("charge"), quick.fired().count("notify")) == (1, 1)
    assert near_was_told in NEAR[ending] | ({OUTCOME} if point is Point.OUTSIDE else set())
    assert far_was_told in FAR[ending] | ({OUTCOME} if point is Point.OUTSIDE else set())


def _waits(database: Database) -> bool:
    """Whether somebody waits for a lock of the database."""
    with psycopg.connect(database.address, autocommit=True) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone())
