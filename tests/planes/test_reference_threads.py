"""Sixty-four threads at once: one consumes, fork ordinals are all different, and the journal holds nothing twice."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from reference_bench import Bench, Plane, decision

from resumption.planes.interface import Completed, Failed, Outcome

THREADS = 64


def at_once(operation: Callable[[int], Outcome]) -> list[Outcome]:
    """Run an operation in every thread, from a barrier, and return the outcomes in the threads' order."""
    outcomes: dict[int, Outcome] = {}
    line = threading.Barrier(THREADS)

    def take(number: int) -> None:
        line.wait()
        outcomes[number] = operation(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[number] for number in range(THREADS)]


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / "reference.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_of_many_different_decisions_one_is_consumed_and_the_others_are_refused(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    where = run.address()
    outcomes = at_once(lambda number: plane.run(bench).deliver(decision(f"v{number}", where)).wait())
    winners = [outcome for outcome in outcomes if isinstance(outcome, Completed)]
    losers = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert (len(winners), len(losers)) == (1, THREADS - 1)
    assert {loser.message.split(":")[0] for loser in losers} <= {"claim-claimed", "claim-already-consumed"}
    assert bench.count("charge") == bench.count("ship") == 1
    assert bench.consumed == [("approve", winners[0].trail[1].split("=")[1])]


def test_one_delivery_made_many_times_is_executed_once_and_all_get_its_outcome(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    where = run.address()
    outcomes = at_once(lambda _: plane.run(bench).deliver(decision("yes", where)).wait())
    assert outcomes == [Completed(["reserve", "pay=yes", "ship"])] * THREADS
    assert bench.count("charge") == bench.count("ship") == 1


def test_many_forks_get_attempts_that_are_all_different_and_one_effect_each(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    where = run.address()
    run.deliver(decision("yes", where)).wait()
    outcomes = at_once(lambda number: plane.run(bench).deliver(decision(f"v{number}", where, form="fork")).wait())
    assert outcomes == [Completed(["reserve", f"pay=v{number}", "ship"]) for number in range(THREADS)]
    assert sorted(rows(tmp_path, "SELECT attempt FROM attempts")) == [(n,) for n in range(1, THREADS + 2)]
    assert {bench.fired["charge", f"v{number}"] for number in range(THREADS)} == {1}
    assert bench.count("reserve") == bench.count("notify") == 1
    twice = "SELECT kind, place, attempt FROM journal GROUP BY kind, place, attempt HAVING COUNT(*) > 1"
    assert rows(tmp_path, twice) == []


def test_many_recoveries_of_one_crash_run_each_task_once(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    with sqlite3.connect(tmp_path / "reference.db") as connection:
        # What a crash right after the claim leaves: the decision is on record, and nothing has run.
        connection.execute("INSERT INTO journal VALUES ('run', 1, 'decision', 3, 'approve', '\"yes\"')")
    connection.close()
    outcomes = at_once(lambda _: plane.run(bench).recover("recover").wait())
    assert outcomes == [Completed(["reserve", "pay=yes", "ship"])] * THREADS
    assert bench.count("charge") == bench.count("ship") == 1
    assert rows(tmp_path, "SELECT COUNT(*) FROM journal WHERE kind = 'task'") == [(3,)]
