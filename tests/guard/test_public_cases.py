"""What shims and ledgers got wrong in public, as tests of this one (cases G12 to G17), and the table of all cases."""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from resumption import Ledger, effect, task_scope
from resumption.errors import InDoubt, KeyReused
from resumption.guard import operators

from .cases import CASES
from .langgraph.test_ablation import SCENARIOS as _SCENARIOS
from .support import World, child


def test_g12_a_position_that_changes_after_a_crash_does_not_change_an_explicit_key(
    ledgers: Callable[..., Ledger], world: World
) -> None:
    """With relaxed durability a framework numbers its tasks anew after a crash: step 3 becomes step 1."""
    for position in ("step 3", "step 1"):
        charge = effect(ledgers(), key="charge:7")(lambda: world.fire())
        with task_scope(run="thread", branch="main", task=position):
            charge()
    assert len(world.fired) == 1


def test_g13_processes_that_look_and_then_write_do_not_both_fire(url: str, world: World) -> None:
    """Both have seen that there is no record before either writes one."""
    Ledger(url).setup()
    ready, at_ready = os.pipe()
    go, at_go = os.pipe()

    def process() -> None:
        os.close(at_go)
        ledger = Ledger(url)
        assert ledger.get("charge") is None
        os.write(at_ready, b".")
        os.read(go, 1)
        effect(ledger, key="charge")(lambda: world.fire())()

    racers = [child(process) for _ in range(4)]
    for _ in racers:
        assert os.read(ready, 1) == b"."
    for descriptor in (go, at_go, ready, at_ready):
        os.close(descriptor)
    assert [racer.wait() for racer in racers] == [0] * 4
    assert len(world.fired) == 1


def test_g14_the_record_is_claimed_before_the_call_not_after_it(ledger: Ledger, world: World) -> None:
    inside, leave = threading.Event(), threading.Event()

    @effect(ledger, key="charge")
    def charge() -> int:
        world.fire()
        inside.set()
        assert leave.wait(20)
        return len(world.fired)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(charge)
        assert inside.wait(20)
        second = threads.submit(charge)
        leave.set()
        assert first.result(20) == second.result(20) == 1


def test_g15_wanted_repeats_and_loop_iterations_each_fire(ledgers: Callable[..., Ledger], world: World) -> None:
    """Thread + arguments would collapse the equal calls, thread + node the loop's later rounds."""

    def run() -> None:
        coffee = effect(ledgers())(lambda kind: world.fire(kind))
        for iteration in range(3):
            with task_scope(run="thread", branch="main", task=f"node/{iteration}"):
                coffee("black")
                coffee("black")

    run()
    assert len(world.fired) == 6
    run()  # the same tasks again, after a crash: everything is served
    assert len(world.fired) == 6


def test_g15_a_key_that_is_too_coarse_is_refused_not_swallowed(ledger: Ledger, world: World) -> None:
    send = effect(ledger, key="thread/node")(lambda text: world.fire(text))
    send("first")
    with pytest.raises(KeyReused):
        send("second")
    assert world.fired == ["first"]


def test_g16_an_exception_is_not_a_completed_effect(ledger: Ledger, world: World) -> None:
    @effect(ledger, key="charge")
    def charge() -> None:
        world.fire()
        raise ConnectionError

    with pytest.raises(ConnectionError):
        charge()
    record = ledger.get("charge")
    assert record is not None
    assert record.state != "done"
    with pytest.raises(InDoubt):
        charge()


def test_g17_an_effect_that_never_fired_reads_as_in_doubt_not_as_done(url: str, world: World, tmp_path: Path) -> None:
    """Begun, killed before the call: zero fires must not look like a success to anybody."""

    def owner() -> None:
        effect(Ledger(url), key="charge")(lambda: os.kill(os.getpid(), signal.SIGKILL))()

    assert child(owner).wait() == -signal.SIGKILL
    assert world.fired == []
    with pytest.raises(InDoubt):
        effect(Ledger(url), key="charge")(lambda: world.fire())()
    (seen,) = operators.listing(Ledger(url))
    assert seen.state == "doubt"


# The table ------------------------------------------------------------------------------------------------------------


def _test(name: str) -> Callable[..., None]:
    """The test that a case names."""
    module, _, function = name.partition(":")
    *folder, file = module.split("/")
    found: Callable[..., None] = getattr(
        importlib.import_module(".".join([__package__ or "", *folder, f"test_{file}"])), f"test_{function}"
    )
    return found


def test_every_case_is_in_the_table() -> None:
    guard = [f"G{number}" for number in range(1, 18)]
    assert list(CASES) == [*guard, "L1", "L2", "L3", "L4", "L8", "L12", "L13", "L16", "L17"]


@pytest.mark.parametrize("case", CASES)
def test_a_case_names_tests_that_there_are(case: str) -> None:
    assert CASES[case].tests
    for name in CASES[case].tests:
        assert callable(_test(name))


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if case.control])
def test_a_control_is_one_in_which_the_case_happens(case: str) -> None:
    """What it says is tested there: with the protection taken out, what it keeps falls."""
    control = CASES[case].control
    assert callable(_test(control)) if ":" in control else control in _SCENARIOS
