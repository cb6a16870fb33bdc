"""The named queries of the reference plane answer what the set of records says, and its SQL decides nothing."""

from __future__ import annotations

import ast
import inspect
import random
import re
from pathlib import Path

import pytest

from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.reference import lease, log
from resumption.planes.reference.log import Kind, Log, Row, create_log, open_log
from resumption.planes.reference.program import Program
from resumption.planes.reference.rules import REFERENCE
from resumption.planes.reference.sight import Sight

KEYS = {"thread", "attempt", "kind", "place", "delivery"}
WORKLOAD = Workload(tuple(Task(str(number), (Interrupt(f"i{number}"), Effect(f"e{number}"))) for number in range(1, 5)))


def statements() -> list[str]:
    """Every SQL text of the plane: the constants that are handed to `execute`."""
    found = []
    for module in (log, lease):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "execute":
                assert isinstance(node.args[0], ast.Constant), ast.unparse(node)
                found.append(str(node.args[0].value))
    return found


def test_every_statement_selects_by_keys_alone() -> None:
    found = statements()
    assert len(found) > 15
    for statement in found:
        condition = statement.partition(" WHERE ")[2]
        parts = condition.split(" AND ") if condition else []
        assert all(re.fullmatch(r"(\w+) = \?", part) and part.split()[0] in KEYS for part in parts), statement
        assert not re.search(r"\b(JOIN|CASE|HAVING|LIMIT|EXISTS|MAX|MIN|COUNT|OR|NOT|IN)\b", statement), statement


@pytest.mark.parametrize("seed", range(20))
def test_queries_answer_what_the_set_of_records_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    create_log(tmp_path)
    with open_log(tmp_path, "run") as opened:
        with opened.deciding():
            origins, rows = _fill(opened, chance)
            opened.commit()
        for attempt in origins:
            _compare(Sight(opened, Program(WORKLOAD), REFERENCE, attempt), origins, rows)


def _fill(opened: Log, chance: random.Random) -> tuple[dict[int, tuple[int, int]], set[tuple[Kind, int, int]]]:
    """A random tree of attempts and a random journal, written in random order."""
    opened.begin("topology", {"trail": []})
    program = Program(WORKLOAD)
    end = program.end_of(program.tasks[-1])
    origins = {1: (0, 0)}
    for attempt in range(2, 6):
        origins[attempt] = (chance.randint(1, attempt - 1), chance.randint(0, end))
        opened.fork(attempt, *origins[attempt])
    places = [
        *((Kind.TASK, program.end_of(task)) for task in program.tasks),
        *((kind, place) for task in program.tasks for place in program.interrupts_of(task).values()
          for kind in (Kind.INTERRUPT, Kind.DECISION)),
    ]  # fmt: skip
    rows = {(*place, attempt) for place in places for attempt in origins if chance.random() < 0.4}
    for kind, place, attempt in chance.sample(sorted(rows), len(rows)):
        task = next(task for task in program.tasks if program.start_of(task) <= place <= program.end_of(task))
        name = task.name if kind is Kind.TASK else task.interrupts[0].name
        opened.add(kind, Row(attempt, place, name, ["x"]))
    return origins, rows


def _compare(sight: Sight, origins: dict[int, tuple[int, int]], rows: set[tuple[Kind, int, int]]) -> None:
    shared = _shared_before(sight.attempt, origins)
    assert sight.log.shared_before(sight.attempt) == shared

    def sees(kind: Kind, place: int) -> bool:
        own = (kind, place, sight.attempt) in rows
        return own or any((kind, place, other) in rows and place < before for other, before in shared.items())

    program = sight.program
    for number, task in enumerate(program.tasks):
        ends = [program.end_of(other) for other in program.tasks[:number]]
        (place,) = program.interrupts_of(task).values()
        assert (sight.record(task) is not None) == sees(Kind.TASK, program.end_of(task))
        assert sight.missing_before(task) == sum(not sees(Kind.TASK, end) for end in ends)
        assert sight.asked(task) == sees(Kind.INTERRUPT, place)
        assert sight.answered(task) == sees(Kind.DECISION, place)


def _shared_before(attempt: int, origins: dict[int, tuple[int, int]]) -> dict[int, int]:
    """By definition: the lowest fork point on the way up to each ancestor."""
    way: list[int] = []
    shared = {}
    while origins[attempt][0]:
        parent, forked_at = origins[attempt]
        way.append(forked_at)
        shared[parent] = min(way)
        attempt = parent
    return shared
