"""What each decision says in the situations that users meet, in their words."""

from __future__ import annotations

import itertools
import random
from enum import StrEnum
from importlib import import_module

import pytest

from resumption.decide.branch import Branch, attempt_after, branch
from resumption.decide.claim import Binding, Claim, Redelivery, binding, claim, consumes, redelivery
from resumption.decide.commit import Answers, Commit, answers, commit, frontier_after
from resumption.decide.lease import Lease, fence_after, holds, lease
from resumption.decide.recover import Recovery, recover, runs
from resumption.decide.view import View, view, visible

MODULES = ("branch", "claim", "commit", "lease", "recover", "view")


def requested(
    *,
    holder: str | None = "first",
    fence: int = 3,
    expires: int | None = None,
    dead: bool = False,
    held_fence: int | None = None,
    caller: str = "second",
    now: int = 100,
) -> Lease:
    return lease(holder=holder, fence=fence, expires=expires, dead=dead, caller=caller, held_fence=held_fence, now=now)


def delivered(
    value: str, *, leased: bool = True, pending: bool = True, consumed: bool = False, claimed: str | None = None
) -> Claim:
    return claim(leased=leased, pending=pending, consumed=consumed, claimed_digest=claimed, digest=value)


@pytest.mark.parametrize("name", MODULES)
def test_outcomes_have_names_that_no_other_outcome_has(name: str) -> None:
    enums = [
        item
        for module in MODULES
        for item in vars(import_module(f"resumption.decide.{module}")).values()
        if isinstance(item, type) and issubclass(item, StrEnum) and item is not StrEnum
    ]
    words = [member.value for enum in enums for member in enum]
    assert len(words) == len(set(words))
    assert any(enum.__module__.endswith(name) for enum in enums)


# lease ---------------------------------------------------------------------------------------------------------------


def test_a_free_thread_is_granted_under_a_new_fence() -> None:
    outcome = requested(holder=None)
    assert outcome is Lease.FREE
    assert holds(outcome)
    assert fence_after(outcome, fence=3) == 4


def test_a_live_holder_without_expiry_is_never_replaced() -> None:
    assert requested(now=10**9) is Lease.BUSY


def test_a_lease_runs_out_at_its_expiry_and_not_before() -> None:
    assert requested(expires=100, now=99) is Lease.BUSY
    assert requested(expires=100, now=100) is Lease.TAKEN_AFTER_EXPIRY


def test_a_proven_death_is_told_apart_from_an_expiry() -> None:
    assert requested(expires=50, dead=True) is Lease.TAKEN_FROM_DEAD


def test_a_holder_keeps_an_expired_lease_that_nobody_took() -> None:
    outcome = requested(caller="first", held_fence=3, expires=50)
    assert outcome is Lease.KEPT
    assert fence_after(outcome, fence=3) == 3


def test_a_holder_that_was_replaced_has_lost_its_lease() -> None:
    outcome = requested(holder="second", fence=4, caller="first", held_fence=3)
    assert outcome is Lease.LOST
    assert not holds(outcome)


# claim ---------------------------------------------------------------------------------------------------------------


def test_the_first_decision_consumes() -> None:
    assert delivered("yes") is Claim.CONSUMED


def test_a_double_click_joins_and_a_contradiction_is_refused_while_it_runs() -> None:
    assert delivered("yes", leased=False, claimed="yes") is Claim.JOINED
    assert delivered("no", leased=False, claimed="yes") is Claim.CLAIMED


def test_after_the_winners_death_its_decision_recovers_and_another_is_pending() -> None:
    assert delivered("yes", claimed="yes") is Claim.RECOVERED
    assert delivered("no", claimed="yes") is Claim.PENDING


def test_at_a_consumed_interrupt_nothing_runs() -> None:
    said = {
        delivered(value, leased=leased, pending=pending, consumed=True, claimed=claimed)
        for value, leased, pending, claimed in itertools.product(
            ("yes", "no"), (True, False), (True, False), (None, "yes")
        )
    }
    assert said == {Claim.REPEATED, Claim.ALREADY_CONSUMED}
    assert not any(consumes(outcome) for outcome in said)


def test_an_interrupt_of_a_busy_thread_waits_and_records_nothing() -> None:
    assert delivered("yes", leased=False) is Claim.WAITS


def test_an_interrupt_that_the_run_no_longer_waits_at_is_withdrawn() -> None:
    assert delivered("yes", pending=False) is Claim.WITHDRAWN


@pytest.mark.parametrize(
    ("pending", "expected"),
    [(0, Binding.NOTHING_PENDING), (1, Binding.SOLE), (2, Binding.AMBIGUOUS), (7, Binding.AMBIGUOUS)],
)
def test_a_bare_delivery_is_bound_to_the_only_pending_interrupt(pending: int, expected: Binding) -> None:
    assert binding(named=False, known=False, pending=pending, at_breakpoint=False) is expected


def test_at_a_breakpoint_a_bare_delivery_answers_ahead_unless_something_is_pending() -> None:
    assert binding(named=False, known=False, pending=0, at_breakpoint=True) is Binding.BREAKPOINT
    assert binding(named=False, known=False, pending=1, at_breakpoint=True) is Binding.SOLE


def test_a_name_is_bound_if_the_thread_gave_it_out() -> None:
    assert binding(named=True, known=True, pending=0, at_breakpoint=True) is Binding.NAMED
    assert binding(named=True, known=False, pending=1, at_breakpoint=True) is Binding.UNKNOWN


def test_a_delivery_id_is_for_one_payload() -> None:
    def again(digest: str, *, finished: bool = False, executing: bool = False) -> Redelivery:
        return redelivery(recorded_digest="a", digest=digest, finished=finished, executing=executing)

    assert again("b", finished=True) is Redelivery.MISMATCH
    assert again("a", finished=True) is Redelivery.REPEATED
    assert again("a", executing=True) is Redelivery.IN_PROGRESS
    assert again("a") is Redelivery.RETRIED


# branch and view -----------------------------------------------------------------------------------------------------


def test_a_checkpoint_id_alone_is_never_fork_intent() -> None:
    said = {
        branch(known=known, head=head, interrupted=interrupted, fork=False)
        for known, head, interrupted in itertools.product((True, False), repeat=3)
    }
    assert Branch.FORK not in said


def test_a_fork_opens_the_next_attempt_and_a_refused_delivery_none() -> None:
    assert attempt_after(Branch.FORK, attempt=1, highest=4) == 5
    assert attempt_after(Branch.CONTINUE, attempt=2, highest=4) == 2
    for refused in (Branch.UNKNOWN, Branch.SUPERSEDED, Branch.NOTHING_TO_FORK):
        assert attempt_after(refused, attempt=1, highest=4) is None


def seen(*, recorded_on: int, attempt: int = 2, shared_before: int | None = 5, position: int = 5) -> View:
    return view(
        interrupt="approve",
        attempt=attempt,
        position=position,
        recorded_for="approve",
        recorded_on=recorded_on,
        shared_before=shared_before,
    )


def test_a_fork_sees_its_own_decision_and_not_the_one_that_it_forked_from() -> None:
    assert seen(recorded_on=2) is View.OWN
    assert seen(recorded_on=1) is View.OTHER_BRANCH


def test_a_fork_sees_what_was_decided_before_it_forked() -> None:
    assert seen(recorded_on=1, position=4) is View.INHERITED
    assert visible(View.INHERITED)


def test_a_sibling_sees_nothing_of_its_sibling() -> None:
    assert seen(recorded_on=3, shared_before=None, position=1) is View.OTHER_BRANCH


# commit and recover --------------------------------------------------------------------------------------------------


def committed(*, fence: int = 1, recorded: bool = False, valid: bool = True, missing: int = 0) -> Commit:
    return commit(fence=fence, current_fence=1, recorded=recorded, valid=valid, missing=missing)


def test_a_zombie_stores_nothing_even_what_is_recorded_already() -> None:
    assert committed(fence=0, recorded=True) is Commit.FENCED


def test_an_invalid_write_is_refused_and_leaves_the_frontier() -> None:
    assert committed(valid=False) is Commit.INVALID
    assert frontier_after(Commit.INVALID, frontier=3, position=4) == 3


def test_a_write_that_would_leave_a_hole_is_refused() -> None:
    assert committed(missing=1) is Commit.OUT_OF_ORDER


def test_answers_are_extended_and_never_stripped() -> None:
    assert answers(fence=1, current_fence=1, stored=2, offered=1) is Answers.KEPT
    assert answers(fence=1, current_fence=1, stored=1, offered=2) is Answers.STORED
    assert answers(fence=0, current_fence=1, stored=0, offered=1) is Answers.FENCED


def test_recovery_is_the_same_for_every_order_of_the_log() -> None:
    chance = random.Random(7)
    for _ in range(200):
        log = [task for task in range(1, 7) if chance.random() < 0.6]
        chance.shuffle(log)
        decided = [_recovery_from(order) for order in itertools.islice(itertools.permutations(log), 24)]
        assert len(set(decided)) == 1


def _recovery_from(log: tuple[int, ...]) -> tuple[Recovery, ...]:
    return tuple(
        recover(
            recorded=task in log,
            missing=sum(earlier not in log for earlier in range(1, task)),
            gates=int(task == 3),
            asked=0,
            answered=0,
        )
        for task in range(1, 7)
    )


def test_a_run_that_waits_is_left_alone_and_one_that_hasnt_asked_asks() -> None:
    waits = recover(recorded=False, missing=0, gates=1, asked=1, answered=0)
    asks = recover(recorded=False, missing=0, gates=2, asked=1, answered=1)
    assert (waits, asks) == (Recovery.PARKED, Recovery.ASKS)
    assert (runs(waits), runs(asks)) == (False, True)
