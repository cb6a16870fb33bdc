"""The ledger's decisions, over their whole input space: what must never happen, and what each branch is for."""

from __future__ import annotations

import itertools

import pytest

from resumption.decide import admit as decide

STATES = (
    None,
    decide.OPEN,
    decide.RUNNING,
    decide.INTERRUPTED,
    decide.DOUBT,
    decide.UNPROVEN,
    decide.DONE,
    "from later",
)
EARLIER = (decide.OPEN, decide.DOUBT, decide.UNPROVEN)
MAY_HAVE_FIRED = (decide.RUNNING, decide.INTERRUPTED, decide.DOUBT, decide.UNPROVEN)
STANDINGS = ((True, False), (False, True), (False, False))
POLICIES = ((decide.RAISE, False), (decide.VERIFY, False), (decide.RETRY, False), (decide.RETRY, True))

INPUTS = [
    (state, earlier, same, result, alive, dead, policy, idempotent)
    for state, earlier, same, result, (alive, dead), (policy, idempotent) in itertools.product(
        STATES, EARLIER, (True, False), (True, False), STANDINGS, POLICIES
    )
]


def test_what_may_have_fired_is_fired_again_only_by_a_declared_retry() -> None:
    for arguments in INPUTS:
        state, _, same, _, alive, dead, policy, idempotent = arguments
        if decide.admit(*arguments) != decide.FIRE or state in (None, decide.OPEN):
            continue
        assert state in MAY_HAVE_FIRED
        assert policy == decide.RETRY
        assert same
        assert not (state == decide.RUNNING and alive)
        assert idempotent or state == decide.DOUBT or dead


def test_asking_needs_the_proof_that_every_earlier_attempt_is_over() -> None:
    for arguments in INPUTS:
        state, earlier, _, _, _, dead, policy, _ = arguments
        if decide.admit(*arguments) == decide.ASK:
            assert policy == decide.VERIFY
            assert state == decide.DOUBT or (dead and earlier != decide.UNPROVEN and state != decide.UNPROVEN)


def test_a_done_effect_is_never_anything_but_served_or_refused() -> None:
    allowed = {decide.SERVE, decide.RESULT_ABSENT, decide.KEY_REUSED}
    outcomes = {decide.admit(*arguments) for arguments in INPUTS if arguments[0] == decide.DONE}
    assert outcomes == allowed


def test_an_unknown_state_is_refused() -> None:
    outcomes = {decide.admit(*arguments) for arguments in INPUTS if arguments[0] == "from later"}
    assert outcomes == {decide.UNKNOWN_STATE}


@pytest.mark.parametrize("policy", POLICIES)
def test_nobody_acts_beside_a_living_owner(policy: tuple[str, bool]) -> None:
    assert decide.admit(decide.RUNNING, decide.OPEN, True, False, True, False, *policy) == decide.WAIT


def test_an_attempt_that_did_not_fire_leads_back_to_what_was_known_before() -> None:
    for earlier, ended in itertools.product(EARLIER, (decide.NOT_STARTED, decide.NOT_FIRED)):
        assert decide.settle(decide.RUNNING, earlier, True, True, ended) == earlier


def test_after_a_zombie_was_overtaken_no_death_proves_anything() -> None:
    earlier = decide.claimed(decide.RUNNING, decide.OPEN, False)
    assert earlier == decide.UNPROVEN
    assert decide.observed(decide.RUNNING, earlier, True) == decide.UNPROVEN
    assert decide.claimed(decide.RUNNING, earlier, True) == decide.UNPROVEN
    for ended in (decide.RAISED, decide.LEFT, "an end from later"):
        assert decide.settle(decide.RUNNING, earlier, True, True, ended) == decide.UNPROVEN
    assert decide.admit(decide.RUNNING, earlier, True, False, False, True, decide.VERIFY, False) == (
        decide.IN_DOUBT_UNPROVEN
    )


def test_a_provider_key_is_renewed_only_when_nothing_may_have_fired() -> None:
    ends = (decide.RETURNED, decide.NOT_STARTED, decide.NOT_FIRED, decide.RAISED, decide.LEFT, "an end from later")
    renewed = {
        (earlier, ended)
        for earlier, ended in itertools.product(EARLIER, ends)
        if decide.renews_key(decide.settle(decide.RUNNING, earlier, True, True, ended), ended)
    }
    assert renewed == {(decide.OPEN, decide.NOT_FIRED)}
    assert not decide.renews_key(decide.SUPERSEDED, decide.NOT_FIRED)


def test_only_an_owner_that_is_known_to_live_is_shown_as_running() -> None:
    for state, earlier, (alive, dead) in itertools.product(STATES[1:], EARLIER, STANDINGS):
        assert state is not None
        shown = decide.shown(state, earlier, alive, dead)
        if state != decide.RUNNING:
            assert shown == decide.observed(state, earlier, dead)
        elif alive:
            assert shown == decide.RUNNING
        else:
            assert shown == (decide.DOUBT if dead and earlier != decide.UNPROVEN else decide.UNPROVEN)


def test_only_the_attempt_that_owns_the_record_settles_it() -> None:
    for state, earlier, version, owner in itertools.product(STATES, EARLIER, (True, False), (True, False)):
        outcome = decide.settle(state, earlier, version, owner, decide.RETURNED)
        mine = state == decide.RUNNING and version and owner
        assert outcome == (decide.DONE if mine else decide.SUPERSEDED)


def test_an_end_without_a_word_is_in_doubt() -> None:
    assert decide.settle(decide.RUNNING, decide.OPEN, True, True, decide.RAISED) == decide.DOUBT
    assert decide.settle(decide.RUNNING, decide.OPEN, True, True, decide.LEFT) == decide.INTERRUPTED
    assert decide.settle(decide.RUNNING, decide.OPEN, True, True, "an end from later") == decide.INTERRUPTED


def test_a_repeated_claim_remembers_whether_it_has_to_ask() -> None:
    for arguments in INPUTS:
        state, earlier, _, _, _, dead, policy, _ = arguments
        outcome = decide.admit(*arguments)
        if outcome in (decide.FIRE, decide.ASK):
            assert decide.resumed(decide.claimed(state, earlier, dead), policy) == outcome


def test_an_operator_answers_open_questions_only() -> None:
    for state, alive in itertools.product(STATES, (True, False)):
        for answer, settled in ((decide.FIRED, decide.DONE), (decide.NOT_FIRED, decide.OPEN)):
            outcome = decide.resolve(state, alive, answer)
            if state not in MAY_HAVE_FIRED:
                assert outcome == decide.NOTHING_TO_RESOLVE
            elif state == decide.RUNNING and alive:
                assert outcome == decide.STILL_RUNNING
            else:
                assert outcome == settled


def test_what_is_unsettled_is_never_pruned() -> None:
    for state in STATES[1:]:
        assert state is not None
        settled = state in (decide.DONE, decide.OPEN)
        assert decide.unsettled(state) == (not settled)
        assert decide.prunable(state, True) == settled
        assert not decide.prunable(state, False)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(decide.FIRED, decide.DONE), (decide.NOT_FIRED, decide.FIRE), (decide.UNKNOWN, decide.DOUBT), ("?", decide.DOUBT)],
)
def test_only_a_clear_answer_leads_out_of_doubt(answer: str, outcome: str) -> None:
    assert decide.verified(answer) == outcome
