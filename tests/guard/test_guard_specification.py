"""The guard's rules in TLA+: sound as they are, and each mistake known from other shims is caught."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from resumption.errors import ToolMissing
from resumption.model.tlc import find_jar, find_java, specification_folder

FAULTS = {
    "ClaimOnRead": "Temporal properties were violated",
    "NoRelease": "Temporal properties were violated",
    "ClaimBeforeLease": "Invariant ClaimedUnderLease is violated",
    "CoarseKey": "Invariant DecisionKept is violated",
    "Unfenced": "Invariant NoFencedWrite is violated",
}


def check(scratch: Path, *, executors: int = 2, fault: str = "") -> str:
    """What TLC says at these bounds: two interrupts, two faults of executors."""
    try:
        java, jar = find_java(), find_jar()
    except ToolMissing as error:
        pytest.skip(str(error))
    names = ", ".join(f'"e{number}"' for number in range(executors))
    lines = [
        "SPECIFICATION Spec",
        "CONSTANTS",
        f"    Executors = {{{names}}}",
        "    Interrupts = 2",
        "    MaxCrashes = 2",
    ]
    lines += [f"    {name} = {str(name == fault).upper()}" for name in FAULTS]
    lines += [
        "INVARIANTS",
        "    TypeOK",
        "    ConsumedOnce",
        "    DecisionKept",
        "    OneEffective",
        "    NoFencedWrite",
    ]
    lines += ["    ClaimedUnderLease", "PROPERTIES", "    Finishes"]
    configuration = scratch / "guard.cfg"
    configuration.write_text("\n".join(lines) + "\n")
    options = ["-deadlock", "-workers", "1", "-metadir", str(scratch), "-config", str(configuration)]
    command = [str(java), "-Xmx1g", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC", *options, "Guard"]
    done = subprocess.run(command, cwd=specification_folder(), capture_output=True, text=True, timeout=300, check=False)
    return done.stdout


def test_the_rules_are_safe_and_nobody_is_blocked_by_the_dead(tmp_path):
    said = check(tmp_path)
    assert "No error has been found" in said
    assert "1479 distinct states found" in said


@pytest.mark.slow
def test_the_rules_hold_for_three_executors(tmp_path):
    assert "No error has been found" in check(tmp_path, executors=3)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_mistake_is_caught(tmp_path, fault):
    assert FAULTS[fault] in check(tmp_path, fault=fault)
