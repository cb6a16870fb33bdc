"""Public failure cases that the guard is to prevent, and the tests that show it.

`G` are what shims and ledgers got wrong, `L` are failures of LangGraph that its users reported. `control` names the
scenario of `langgraph/test_ablation.py`, or the test, in which the case happens once its protection is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CASES", "Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what went wrong, where it was reported, and what shows that it doesn't here."""

    symptom: str
    tests: tuple[str, ...]
    """By module, without its `test_`, and name, without its `test_`."""
    source: str = "published shims and ledgers"
    control: str = ""


_AT = "langgraph/"
_CASES = f"{_AT}case_protocols"
_ONCE = f"{_AT}consume_once"
_CRASH = f"{_AT}crashes"

CASES = {
    "G1": Case(
        "the winner is killed between its claim and the node, and its decision is lost, or blocks the thread",
        (
            f"{_CASES}:g1_a_winner_that_was_killed_between_claim_and_node_leaves_its_decision",
            f"{_AT}crash_sweeps:an_executor_may_die_at_any_boundary_of_a_statement",
            f"{_AT}crash_sweeps:an_executor_may_die_at_any_boundary_of_a_node",
        ),
        control="slot",
    ),
    "G2": Case(
        "an exception in the winner's node loses its decision",
        (f"{_CRASH}:an_exception_in_the_winners_node_leaves_the_decision",),
        control="claims",
    ),
    "G3": Case("`get_state` of a parked run takes its claim", (f"{_ONCE}:inspection_takes_nothing",)),
    "G4": Case("`invoke(None)` on a parked run takes its claim", (f"{_ONCE}:inspection_takes_nothing",)),
    "G5": Case(
        "of two interrupts in one node, answered by two processes, the second is refused",
        (f"{_CASES}:g5_g9_g10_two_interrupts_of_a_node_are_answered_by_two_processes",),
        control="slot",
    ),
    "G6": Case("one of two parallel approvers is refused", (f"{_ONCE}:two_parallel_approvers_each_answer_their_own",)),
    "G7": Case(
        "an interrupt in a subgraph can't be answered by another process",
        (f"{_CASES}:g7_an_interrupt_in_a_subgraph_is_answered_by_another_process",),
    ),
    "G8": Case(
        "threads on one saver all fire",
        (f"{_AT}races:one_of_many_racers_executes",),
        control="claims at the write",
    ),
    "G9": Case(
        "a client that always sends the head's checkpoint id forks without meaning to",
        (
            f"{_CASES}:g5_g9_g10_two_interrupts_of_a_node_are_answered_by_two_processes",
            f"{_AT}fork_and_delivery:a_checkpoint_id_is_no_fork_intent",
        ),
    ),
    "G10": Case(
        "the second interrupt can't be answered through `get_state().config`",
        (f"{_CASES}:g5_g9_g10_two_interrupts_of_a_node_are_answered_by_two_processes",),
    ),
    "G11": Case(
        "asynchronous savers and pools aren't guarded",
        (
            f"{_AT}races:one_of_many_racers_executes",
            f"{_AT}savers:racers_on_an_asynchronous_sqlite_saver",
            f"{_AT}postgres:racers_on_an_asynchronous_pool",
        ),
    ),
    "G12": Case(
        "an effect's key is a position, which changes after a crash",
        (
            "public_cases:g12_a_position_that_changes_after_a_crash_does_not_change_an_explicit_key",
            f"{_AT}default_keys:a_crash_does_not_fire_it_again_though_its_checkpoint_came_late",
            f"{_AT}default_keys:where_nothing_is_stored_before_the_end_an_effect_needs_a_key",
        ),
    ),
    "G13": Case(
        "a ledger selects, and then writes: two processes fire",
        ("public_cases:g13_processes_that_look_and_then_write_do_not_both_fire",),
    ),
    "G14": Case(
        "a memo without a claim: two at once fire",
        ("public_cases:g14_the_record_is_claimed_before_the_call_not_after_it",),
    ),
    "G15": Case(
        "a key that is too coarse swallows wanted repeats",
        (
            "public_cases:g15_wanted_repeats_and_loop_iterations_each_fire",
            "public_cases:g15_a_key_that_is_too_coarse_is_refused_not_swallowed",
        ),
    ),
    "G16": Case(
        "an exception in an effect passes for a completed one",
        ("public_cases:g16_an_exception_is_not_a_completed_effect",),
    ),
    "G17": Case(
        "an effect that never fired passes for a success",
        (
            "public_cases:g17_an_effect_that_never_fired_reads_as_in_doubt_not_as_done",
            f"{_AT}soak:a_campaign_in_which_nothing_happens_is_not_clean",
        ),
    ),
    "L1": Case(
        "a second decision at a checkpoint is served the first",
        (f"{_AT}fork_and_delivery:each_fork_has_an_outcome_and_effects_of_its_own",),
        source="LangGraph #6663",
        control="fork",
    ),
    "L2": Case(
        "`invoke(None)` answers the second interrupt of a node with the first's answer",
        (f"{_ONCE}:a_second_interrupt_is_not_answered_by_the_first_answer",),
        source="LangGraph #8837",
        control="slot",
    ),
    "L3": Case(
        "a write against the state's schema is stored, and bricks the thread",
        (f"{_AT}validity_and_order:an_invalid_write_is_refused_and_the_thread_stays_usable",),
        source="LangGraph #6491",
        control="validity",
    ),
    "L4": Case(
        "an answer to an id that nobody issued is ignored in silence",
        (f"{_ONCE}:an_id_that_nobody_issued_is_refused",),
        source="LangGraph #8836",
        control="binding",
    ),
    "L8": Case(
        "an answer for a parallel task that has finished is ignored in silence",
        (f"{_ONCE}:an_answer_for_a_finished_parallel_task_is_refused",),
        source="LangGraph #5952",
    ),
    "L12": Case(
        "a step whose writes were slow runs again after a crash",
        (
            f"{_CASES}:l12_a_slow_write_and_a_crash_at_the_next_checkpoint_run_no_finished_step_twice",
            f"{_AT}validity_and_order:a_task_starts_when_the_result_of_the_one_before_is_durable",
        ),
        source="LangGraph #8039, #8234",
        control="order",
    ),
    "L13": Case(
        "each of k racing processes, and each of k racing threads, fires the gate's effect",
        (
            f"{_AT}races:one_of_many_racers_executes",
            f"{_AT}races:one_of_many_racers_executes_in_every_heat_of_the_grid",
            f"{_AT}hosts:one_of_many_hosts_executes",
        ),
        source='"Resume Means Resume" (arXiv 2608.03836), probe 159',
        control="lease",
    ),
    "L16": Case(
        "a slow tool outlives its owner's lease, and another worker dispatches it again",
        (
            f"{_CASES}:l16_a_slow_tool_is_not_dispatched_to_another_worker_while_its_executor_lives",
            f"{_AT}leases:a_zombie_begins_no_effect",
            f"{_AT}lost_leases:an_executor_that_lost_its_lease_takes_nothing_back",
        ),
        source="LangGraph #7417",
        control="langgraph/lost_leases:without_a_look_at_the_last_grant_it_takes_the_thread_back",
    ),
    "L17": Case(
        "concurrent asynchronous writes on one SQLite file fail, and an acknowledged one is lost",
        (f"{_CASES}:l17_many_runs_at_once_on_one_sqlite_file_lose_no_acknowledged_write",),
        source="LangGraph #8136",
    ),
}
