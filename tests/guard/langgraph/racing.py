"""Races for one parked or one failed run: who executed, and what each racer was told.

A heat has a seed, from which the racers' order and their delays come. Racers are threads (or tasks of one event loop)
on one saver, or processes with a saver each. The oracle is a file with one line for each effect.
"""

from __future__ import annotations

import multiprocessing
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .databases import Database, Program, Told, tell
from .programs import Bench, answer

__all__ = ["Contest", "Heat", "Means", "run_heat"]

SEED = 159
GATE_SECONDS = 0.05
"""The gate's own work: wide enough for racers that start together to overlap in it."""
JITTER_SECONDS = 0.02
"""A racer sets out up to this much after the others."""
PATIENCE = 300.0
"""How long a racer waits for its turn. None of them is to give up: on few processors, 64 take a while."""

Open = Callable[[int, Bench], AbstractContextManager[Program]]
"""Opens the raced program for the racer of a number."""


class Contest(StrEnum):
    """What the racers bring."""

    DIFFERENT = "different"
    """Each a decision of its own."""
    EQUAL = "equal"
    """All the same one."""
    MIXED = "mixed"
    """To a run whose executor failed after its decision was claimed: half repeat that, a quarter contradict it, and a
    quarter ask for a recovery."""


class Means(StrEnum):
    """What a racer is."""

    THREADS = "threads"
    """Tasks of one event loop, where the saver's methods are coroutines."""
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Heat:
    """What came of one heat."""

    fired: tuple[str, ...]
    told: dict[str, int]
    slowest: float
    """The longest that a racer waited for what it was told, in seconds."""


def payloads(contest: Contest, racers: int) -> list[Any]:
    """What each racer brings: a decision, or None for a recovery."""
    match contest:
        case Contest.DIFFERENT:
            return [answer(f"v{number}") for number in range(racers)]
        case Contest.EQUAL:
            return [answer("yes")] * racers
        case Contest.MIXED:
            return [answer("yes"), None, answer("yes"), answer("no")] * (racers // 4) or [answer("yes"), None]


def gated(bench: Bench, before: Callable[[], None] | None = None) -> Any:
    """The raced program: a gate that works for a moment, and fires."""
    work = threading.Event()
    return bench.builder(pay=bench.gate("pay", before=before or (lambda: work.wait(GATE_SECONDS) and None)))


def opening(database: Database) -> Open:
    """Each racer on a saver of its own in one database."""
    return lambda number, bench: database.opened(gated(bench), wait=PATIENCE)


def run_heat(
    folder: Path,
    database: Database,
    means: Means,
    contest: Contest,
    racers: int,
    repetition: int,
    open_: Open | None = None,
) -> Heat:
    """Bring a new run to where it is raced for, and race."""
    open_ = open_ or opening(database)
    name = f"{means} {contest} {racers} {repetition}"
    bench = Bench(folder / name.replace(" ", "-"))
    bench.folder.mkdir()
    config = {"configurable": {"thread_id": name}}
    prepare(bench, database, contest, config)
    chance = random.Random(f"{SEED} {database.kind} {name}")
    calls = payloads(contest, racers)
    chance.shuffle(calls)
    delays = [chance.uniform(0.0, JITTER_SECONDS) for _ in calls]
    if means is Means.THREADS:
        with open_(0, bench) as program:
            told = program.race(calls, config, delays)
    else:
        told = _race_in_processes(open_, bench, calls, config, delays)
    return Heat(tuple(bench.fired()), dict(Counter(one.outcome for one in told)), max(one.seconds for one in told))


def prepare(bench: Bench, database: Database, contest: Contest, config: Any) -> None:
    """Park a run, or let it fail after its decision was claimed."""

    def fail() -> None:
        raise ConnectionError

    with database.opened(gated(bench, fail)) as program:
        program.call({"trail": []}, config)
        if contest is Contest.MIXED:
            try:
                program.call(answer("yes"), config)
            except ConnectionError:
                return
            raise AssertionError("the gate didn't fail")


def _race_in_processes(
    open_: Open, bench: Bench, calls: Sequence[Any], config: Any, delays: Sequence[float]
) -> list[Told]:
    context = multiprocessing.get_context("fork")
    line, told = context.Barrier(len(calls)), context.SimpleQueue()

    def race(number: int) -> None:
        try:
            with open_(number, bench) as program:
                line.wait(PATIENCE)
                threading.Event().wait(delays[number])  # the jitter
                told.put(tell(lambda: program.call(calls[number], config)))
        except BaseException as error:
            line.abort()
            told.put(Told(f"failed: {error!r}", 0.0))

    racers = [context.Process(target=race, args=(number,)) for number in range(len(calls))]
    for racer in racers:
        racer.start()
    heard = [told.get() for _ in racers]
    for racer in racers:
        racer.join()
    return heard
