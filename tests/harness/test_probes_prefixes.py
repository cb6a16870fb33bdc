"""Frozen and pinned processes: what is durable is exactly what was asked for, and no process waits for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from resumption.contract.verdicts import Measured
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Crash, Persist, Phase
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.interface import Backend, PlaneSpec
from resumption.planes.registry import specs

Once = Callable[[str, Callable[[], Receipt]], Receipt]

_SWEEPS = ("crash/frozen-prefix", "crash/pinned", "crash/unordered-pair")


def _on_file(spec: PlaneSpec) -> tuple[Backend, ...]:
    return tuple(backend for backend in spec.backends if backend.name == "sqlite")


def _sweep(plane: str, *, thorough: bool) -> Receipt:
    planes = [replace(spec, backends=_on_file(spec)) for spec in specs(plane) if spec.path in ("run", "graph")]
    return run_suite(planes, [p for p in PROBES if p.address in _SWEEPS], jobs=4, thorough=thorough)


def _crashed(receipt: Receipt) -> list[tuple[History, Crash]]:
    histories = [decode_history(text.encode()) for text in receipt.histories.values()]
    return [(history, crash) for history in histories for crash in history.of(Crash)]


def _durable(history: History, crash: Crash) -> int:
    ends = (end for end in history.of(Persist) if end.process == crash.process and end.phase is Phase.END)
    return sum(1 for _ in ends)


@pytest.mark.parametrize("plane", ["reference", "langgraph"])
def test_a_prefix_is_frozen_at_exactly_the_number_that_was_asked_for(plane: str, once: Once) -> None:
    receipt = once(f"sweeps-{plane}", lambda: _sweep(plane, thorough=False))
    asked = [(_durable(history, crash), crash) for history, crash in _crashed(receipt) if "@" in crash.point]
    assert len(asked) >= 8
    assert all(durable == int(crash.point.rpartition("@")[2]) for durable, crash in asked)


def test_langgraph_repeats_in_the_window_only_whatever_prefix_is_durable(once: Once) -> None:
    receipt = once("sweeps-langgraph", lambda: _sweep("langgraph", thorough=False))
    said = {c.identity: c.measured for c in receipt.cells}
    assert said["langgraph/graph/sqlite/EO/recover/no-input"] is Measured.CONFORMS
    assert said["langgraph/graph/sqlite/EO/recover/no-input/window"] is Measured.BREACHES
    assert said["langgraph/graph/sqlite/RD/recover/no-input/order"] is Measured.CONFORMS


@pytest.mark.slow
@pytest.mark.parametrize("plane", ["reference", "langgraph"])
def test_no_prefix_and_no_pin_at_all_leaves_a_sweep_undetermined(plane: str) -> None:
    assert Measured.UNDETERMINED not in {cell.measured for cell in _sweep(plane, thorough=True).cells}


_REST = """
import os, threading
from resumption.worker.quiescence import Quiescence
quiescence = Quiescence(lambda: 0)
go = threading.Event()

def body():
    {body}

threading.Thread(target=body, daemon=True).start()
os.write(1, b"rest" if quiescence.wait() else b"restless")
os._exit(0)
"""


def _rest(body: str, timeout: float) -> str:
    process = subprocess.Popen([sys.executable, "-c", _REST.format(body=body)], stdout=subprocess.PIPE)
    try:
        return process.communicate(timeout=timeout)[0].decode()
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return "still looking"


def test_a_process_whose_threads_wait_for_each_other_is_at_rest() -> None:
    assert _rest("go.wait()", timeout=60) == "rest"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells what threads do")
def test_a_process_that_computes_is_not_at_rest() -> None:
    assert _rest("while True: pass", timeout=3) == "still looking"


def test_a_process_in_an_effect_is_not_at_rest() -> None:
    assert _rest("with quiescence.busy(): go.wait()", timeout=3) == "still looking"


_REORDERED = """
import threading
from resumption.worker.faults import Fault, Faults, Mode
from resumption.worker.quiescence import Quiescence
faults = Faults(Fault("second", Mode.REORDER_AND_RAISE, first="first"), print, Quiescence(lambda: 0))

def second():
    faults.begin("second", 2)
    faults.end("second")

late = threading.Thread(target=second)
late.start()
watchers = []
while not watchers:
    watchers = [thread for thread in threading.enumerate() if "quiescence" in thread.name]
faults.begin("first", 1)
faults.end("first")
late.join()
watchers[0].join()
"""


def test_a_process_that_waits_for_its_next_operation_behind_a_new_order_is_not_killed() -> None:
    ended = subprocess.run([sys.executable, "-c", _REORDERED], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "first<second\n"), ended.stderr
