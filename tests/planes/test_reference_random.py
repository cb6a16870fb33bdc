"""Random programs on the reference plane, killed at random points: each ends as if nothing had happened."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from reference_bench import Bench, Killed, Plane, decision

from resumption.history.workload import Effect, Interrupt, Step, Task, Workload, marker
from resumption.planes.interface import Completed, Outcome, Parked

POINTS = 60  # more than most operations pass, so that some of them are left alone


def random_workload(chance: random.Random) -> Workload:
    """Three to eight tasks with up to four steps each; gates anywhere, and more than one question in a task."""
    tasks = []
    for number in range(chance.randint(3, 8)):
        steps: list[Step] = []
        for place in range(chance.randint(0, 4)):
            name = f"{number}.{place}"
            steps.append(Interrupt(name) if chance.random() < 0.35 else Effect(name))
        tasks.append(Task(f"t{number}", tuple(steps)))
    return Workload(tuple(tasks))


def expected_trail(workload: Workload) -> list[str]:
    return [marker(task, tuple(f"answer to {asked.name}" for asked in task.interrupts)) for task in workload.tasks]


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program_ends_as_if_it_had_never_been_killed(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    workload = random_workload(chance)
    plane, fired, in_window = Plane(tmp_path, workload), Counter[str](), Counter[str]()
    outcome: Outcome | None = None
    while not isinstance(outcome, Completed):
        bench = Bench(kill_at=chance.randint(1, POINTS))
        try:
            outcome = go_on(plane, bench, outcome)
        except Killed:
            outcome = None
        fired.update(effect for effect, _ in bench.fired.elements())
        in_window.update(cut_off(bench.points))
    assert outcome.trail == expected_trail(workload)
    names = {effect.name for task in workload.tasks for effect in task.effects}
    assert fired == {name: 1 + in_window[name] for name in names}


def go_on(plane: Plane, bench: Bench, outcome: Outcome | None) -> Outcome:
    """What a client does that knows no more than the plane's last word: answer what is pending, start, or recover."""
    run = plane.run(bench)
    if isinstance(outcome, Parked):
        (asked,) = outcome.pending
        return run.deliver(decision(f"answer to {asked.name}", run.address(), target=asked.name)).wait()
    if not (plane.folder / "reference.db").exists():
        return run.start({"trail": []}).wait()
    return run.recover("recover").wait()


def cut_off(points: list[str]) -> list[str]:
    """The effect that fired without being recorded before the kill, if there is one."""
    fired = [number for number, point in enumerate(points) if point.startswith("after:")]
    if not fired or any(point.startswith("end:effect") for point in points[fired[-1] :]):
        return []
    return [points[fired[-1]].removeprefix("after:")]
