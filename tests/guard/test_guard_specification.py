"""The guard's rules in TLA+: sound as they are, and each mistake is caught by the claim that it is a mistake against.

Bounds are those of `specification`, with two executors; larger ones run under `make soak`.
"""

from __future__ import annotations

from typing import Any

import pytest

from .specification import DELIVERY, EFFECTS, FORK, GUARD, Module, actions, check, taken

SOUND = "No error has been found"
EXPIRING = {"Expiring": "TRUE"}
FORKED = {"Attempts": 2, "Interrupts": 1}


@pytest.mark.parametrize(
    ("module", "bounds", "states"),
    [
        (GUARD, {}, 1829),
        (GUARD, EXPIRING, 3531),
        (FORK, {}, 18277),
        (DELIVERY, {}, 4095),
        (DELIVERY, FORKED, 5129),
        (EFFECTS, {}, 1607),
        (EFFECTS, EXPIRING, 2925),
    ],
    ids=lambda value: value.name if isinstance(value, Module) else None,
)
def test_the_rules_are_safe_and_nobody_is_blocked_by_the_dead(tmp_path, module, bounds, states):
    said = check(module, tmp_path, **bounds)
    assert SOUND in said
    assert f" {states} distinct states found" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "executors", "bounds"),
    [
        (GUARD, 3, {}),
        (GUARD, 3, EXPIRING),
        (GUARD, 2, {"Interrupts": 3, "MaxFaults": 3, **EXPIRING}),
        (FORK, 2, {"Attempts": 3, "Threads": 1}),
        (FORK, 2, {"Threads": 1, "MaxFaults": 2, **EXPIRING}),
        (DELIVERY, 2, {"MaxFaults": 2}),
        (DELIVERY, 2, {"Attempts": 2, "Interrupts": 2}),
        (EFFECTS, 2, {"Interrupts": 2, **EXPIRING}),
        (EFFECTS, 2, {"Attempts": 2}),
    ],
    ids=lambda value: value.name if isinstance(value, Module) else None,
)
def test_the_rules_hold_at_larger_bounds(tmp_path, module, executors, bounds):
    assert SOUND in check(module, tmp_path, executors=executors, **bounds)


FAULTS: list[tuple[str, Module, str, dict[str, Any]]] = [
    ("ClaimOnRead", GUARD, "Finishes", {}),
    ("NoRelease", GUARD, "Finishes", {}),
    ("ClaimBeforeLease", GUARD, "ClaimedUnderLease", {}),
    ("CoarseKey", GUARD, "DecisionKept", {}),
    ("Unfenced", GUARD, "NoFencedWrite", {}),
    ("Unfenced", GUARD, "NoFencedWrite", EXPIRING),
    ("LateFence", GUARD, "OneEffective", {}),
    ("LateFence", GUARD, "OneEffective", EXPIRING),
    ("SharedKey", FORK, "OwnDecision", {"Threads": 1}),
    ("UnleasedFork", FORK, "OneEffective", {"Threads": 1}),
    ("ClaimFirst", DELIVERY, "ServedOnce", {}),
    ("PayloadIgnored", DELIVERY, "FirstPayload", {}),
    ("IntentIgnored", DELIVERY, "FirstPayload", FORKED),
    ("ForkUnrecorded", DELIVERY, "ServedOnce", {"Attempts": 3, "Interrupts": 1}),
    ("FailureRecorded", DELIVERY, "OutcomeEarned", {}),
    ("Unchecked", EFFECTS, "CheckedEffect", {}),
    ("Unchecked", EFFECTS, "CheckedEffect", EXPIRING),
    ("EarlyTakeover", EFFECTS, "CheckedEffect", EXPIRING),
    ("DoubtIgnored", EFFECTS, "FiredOnce", {}),
    ("ExpiryIsDeath", EFFECTS, "FiredOnce", EXPIRING),
    ("SharedEffectKey", EFFECTS, "ResultEarned", {"Attempts": 2}),
]


@pytest.mark.parametrize(
    ("fault", "module", "claim", "bounds"), FAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_mistake_is_caught(tmp_path, fault, module, claim, bounds):
    said = check(module, tmp_path, fault=fault, claim=claim, **bounds)
    violated = "Temporal properties were" if claim in module.properties else f"Invariant {claim} is"
    assert f"{violated} violated" in said


def test_no_mistake_is_left_untried():
    tried = {fault for fault, *_ in FAULTS}
    assert tried == {fault for module in (GUARD, FORK, DELIVERY, EFFECTS) for fault in module.faults}


# Only mistakes refuse an executor that has the lease, so that it has to come again.
MISTAKEN = {"Look", "ClaimEarly", "TakeEarly", "Return"}


@pytest.mark.parametrize("module", [GUARD, FORK, DELIVERY, EFFECTS], ids=lambda module: module.name)
def test_each_action_is_taken(tmp_path, module):
    """A rule about what never happens would be worth nothing."""
    bounds: dict[str, Any] = {
        "Interrupts": 1,
        "MaxFaults": 1,
        **({} if module is GUARD else {"Attempts": 2, "Threads": 2}),
    }
    said = [check(module, tmp_path, claim="TypeOK", coverage=True, **bounds, Expiring=on) for on in ("TRUE", "FALSE")]
    assert set().union(*(actions(one) for one in said)) - set().union(*(taken(one) for one in said)) <= MISTAKEN
