"""Programs that fork after they have used their ledger: no lock is inherited, and no record is lost."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from resumption import Ledger, effect

from .support import World, child


class Gate:
    """Lets one process wait for another."""

    def __init__(self) -> None:
        self._waits, self._opens = os.pipe()

    def open(self) -> None:
        os.write(self._opens, b"x")

    def passed(self) -> None:
        assert os.read(self._waits, 1) == b"x"


def effects_of(ledger: Ledger, world: World) -> Callable[[str], str]:
    @effect(ledger, key=lambda name: name)
    def fire(name: str) -> str:
        world.fire(name)
        return name

    return fire


def states(url: str) -> dict[str, str]:
    ledger = Ledger(url)
    found = {record.key: record.state for record in ledger.records()}
    ledger.close()
    return found


def test_a_childs_records_outlive_its_parents_close(url: str, world: World) -> None:
    """The last process to close a SQLite database removes its log: the child's locks must say that it is not last."""
    ledger = Ledger(url)
    fire = effects_of(ledger, world)
    fire("before the fork")
    began, closed = Gate(), Gate()

    def forked() -> None:
        fire("child, first")
        began.open()
        closed.passed()
        fire("child, second")

    process = child(forked)
    began.passed()
    ledger.close()
    assert states(url) == {"before the fork": "done", "child, first": "done"}
    closed.open()
    assert process.wait() == 0
    assert states(url) == {"before the fork": "done", "child, first": "done", "child, second": "done"}
    assert fire("child, second") == "child, second"
    assert world.fired == ["before the fork", "child, first", "child, second"]


@pytest.mark.parametrize("death", ["exits", "closes and exits"])
def test_a_childs_records_outlive_its_parents_death(url: str, world: World, death: str) -> None:
    began, looked, ended = Gate(), Gate(), Gate()

    def parent() -> None:
        ledger = Ledger(url)
        fire = effects_of(ledger, world)
        fire("parent")

        def forked() -> None:
            fire("child, first")
            began.open()
            looked.passed()
            fire("child, second")
            ended.open()

        child(forked)
        began.passed()
        if death == "closes and exits":
            ledger.close()

    assert child(parent).wait() == 0
    assert states(url) == {"parent": "done", "child, first": "done"}
    looked.open()
    ended.passed()
    assert states(url) == {"parent": "done", "child, first": "done", "child, second": "done"}
    assert effects_of(Ledger(url), world)("child, second") == "child, second"
    assert world.fired == ["parent", "child, first", "child, second"]
