"""What a branch inherits: the prefix in front of the forked interrupt, and nothing behind it."""

import pytest
from histories import GATED, TWO_QUESTIONS, Protocol

from resumption.contract.judges.branches import Branch, branches, is_copy, lineage, parent
from resumption.contract.judges.operations import cut_off, intent_of, operation_of, outcome, same
from resumption.contract.judges.program import interrupt_position, is_complete, is_valid, missing_tasks
from resumption.history.events import Consume, Exit, Intent, Park, Persist, Phase, Raise, Return, TaskEnd, TaskStart
from resumption.history.workload import Task, Workload


def branch(p: Protocol, name: str) -> Branch:
    (found,) = [found for found in branches(p.history()) if found.name == name]
    return found


def through_two_questions() -> Protocol:
    """Both questions are answered on the main line, and the run ends."""
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.runs("a", sees=[])
    p.begins("approve", sees=["a"])
    p.parks("q1")
    p.deliver("yes", to="q1")
    p.begins("approve", sees=["a"])
    p.consumes("yes", interrupt="q1")
    p.fires("hold")
    p.parks("q2")
    p.deliver("yes", to="q2")
    p.begins("approve", sees=["a"])
    p.consumes("yes", interrupt="q2")
    p.fires("pay")
    p.ends("approve", write=["approve=yes+yes"])
    p.stores("a", "approve")
    p.returns("a", "approve=yes+yes", "c")
    return p


@pytest.mark.parametrize(
    ("name", "ancestors"),
    [("b0", ()), ("b0.1", ("b0",)), ("b0.1.2", ("b0.1", "b0")), ("copy1", ("b0",)), ("copy2", ("b0",)), ("", ())],
)
def test_lineage_is_read_off_the_name(name: str, ancestors: tuple[str, ...]) -> None:
    assert lineage(name) == ((name, *ancestors) if name else ())
    assert parent(name) == (ancestors[0] if ancestors else "")
    assert is_copy(name) == name.startswith("copy")


def test_fork_at_the_first_question_inherits_the_task_before_it() -> None:
    p = through_two_questions()
    p.fork("no", to="q1")
    p.parks("q2")
    fork = branch(p, "b0.1")
    assert [end.task for end in fork.of(TaskEnd)] == ["a"]
    assert list(fork.of(Consume)) == []
    assert [f.step.effect for f in fork.firings] == ["charge"]
    assert [[pending.name for pending in park.pending] for park in fork.of(Park)] == [["q1"], ["q2"]]
    assert fork.durable(before=1_000) == ("a",)
    assert fork.fork is not None
    assert fork.fork.value == "no"


def test_fork_at_the_second_question_inherits_the_first_answer_and_its_effect() -> None:
    p = through_two_questions()
    p.fork("no", to="q2")
    p.parks("q2")
    fork = branch(p, "b0.1")
    assert [(c.interrupt, c.value) for c in fork.of(Consume)] == [("q1", "yes")]
    assert [f.step.effect for f in fork.firings] == ["charge", "hold"]
    assert list(fork.of(Return)) == []


def test_storage_operation_that_covers_more_than_the_prefix_is_inherited_for_the_prefix_alone() -> None:
    p = through_two_questions()
    p.fork("no", to="q1")
    p.parks("q2")
    assert [persist.covers for persist in branch(p, "b0.1").of(Persist)] == [("a",), ("a",)]
    assert [persist.covers for persist in branch(p, "b0").of(Persist)] == [("a",), ("a", "approve")]


def test_effect_is_on_record_once_its_tasks_storage_ended_or_its_operation_parked() -> None:
    p = Protocol(TWO_QUESTIONS)
    p.start()
    p.stores("a")
    p.begins("a", sees=[])
    p.fires("charge")
    p.stores("a", phase=Phase.BEGIN)
    p.stores("approve")
    other = p.recover()
    p.parks("q1")
    p.on(other).returns("a")
    main = branch(p, "b0")
    (fired,) = main.firings
    assert main.record_of(fired, before=1_000) is None
    stored = p.stores("a")
    record = branch(p, "b0").record_of(fired, before=1_000)
    assert record is not None
    assert record.number == stored
    assert branch(p, "b0").record_of(fired, before=stored) is None


def test_task_is_durable_from_the_end_of_its_storage_on() -> None:
    p = Protocol()
    p.start()
    p.stores("a", phase=Phase.BEGIN)
    stored = p.stores("a")
    p.stores("approve", "a")
    main = branch(p, "b0")
    assert main.durable(before=stored) == ()
    assert main.durable(before=stored + 1) == ("a",)
    assert main.durable(before=1_000) == ("a", "approve")
    assert main.durable_by("a", before=stored) is None
    found = [main.durable_by(task, before=1_000) for task in ("a", "approve", "c")]
    assert [persist.number if persist else None for persist in found] == [stored, stored + 1, None]


def test_fork_of_a_fork_inherits_from_its_parent_and_grandparent() -> None:
    p = through_two_questions()
    p.fork("no", to="q1")
    p.begins("approve", sees=["a"])
    p.consumes("no", interrupt="q1")
    p.fires("hold")
    p.parks("q2")
    p.deliver("maybe", to="q2", intent=Intent.FORK, branch="b0.1.1")
    p.parks("q2")
    nested = branch(p, "b0.1.1")
    assert [(c.interrupt, c.value) for c in nested.of(Consume)] == [("q1", "no")]
    assert [(f.step.effect, f.fire.branch) for f in nested.firings] == [("charge", "b0"), ("hold", "b0.1")]


def test_copy_inherits_all_that_came_before_it() -> None:
    p = through_two_questions()
    p.recover("copy1")
    p.returns("a", "approve=yes+yes", "c")
    p.recover("b0")
    p.begins("c", sees=[])
    p.returns()
    copy = branch(p, "copy1")
    assert [f.step.effect for f in copy.firings] == ["charge", "hold", "pay"]
    assert len(list(copy.of(Return))) == 2
    assert "c" not in {start.task for start in copy.of(TaskStart)}
    assert [resume.branch for resume in copy.resumes()] == ["copy1"]


def test_branch_that_no_fork_opened_inherits_nothing() -> None:
    p = through_two_questions()
    p.recover("b0.7")
    p.returns()
    assert all(event.branch == "b0.7" for event in branch(p, "b0.7").events)
    assert branch(p, "b0.7").fork is None


def test_fork_at_an_interrupt_that_the_program_lacks_inherits_nothing() -> None:
    p = through_two_questions()
    p.fork("no", to="nobody")
    p.raises()
    assert branch(p, "b0.1").firings == ()


def test_branches_come_in_the_order_in_which_they_were_opened() -> None:
    p = Protocol()
    p.to_the_end()
    for value in ("x", "y"):
        p.fork(value)
        p.raises()
    assert [found.name for found in branches(p.history())] == ["b0", "b0.1", "b0.2"]


def test_operation_ends_with_its_answer_or_with_its_process() -> None:
    p = Protocol()
    started = p.start()
    p.parks()
    died = p.recover()
    p.dies()
    refused = p.recover()
    p.raises()
    h = p.history()
    ends = [outcome(h, operation) for operation in h.operations()]
    assert [type(end) for end in ends] == [Park, Exit, Raise]
    assert cut_off(h, started.operation) is None
    assert isinstance(cut_off(h, died.operation), Exit)
    assert isinstance(cut_off(h, refused.operation), Raise)
    assert operation_of(h, 99) is None
    assert cut_off(h, 99) is None
    assert [intent_of(operation) for operation in h.operations()] == [None, None, None]


def test_values_are_compared_as_json() -> None:
    assert same({"a": 1, "b": [True]}, {"b": [True], "a": 1})
    assert not same(True, 1)
    assert not same(1, 1.0)
    assert not same([1, 2], [2, 1])


def test_interrupts_have_places_and_unknown_ones_none() -> None:
    assert interrupt_position(TWO_QUESTIONS, "q1") == (1, 0)
    assert interrupt_position(TWO_QUESTIONS, "q2") == (1, 2)
    assert interrupt_position(TWO_QUESTIONS, "nobody") is None


def test_task_is_marked_by_its_name_or_by_its_name_with_decisions() -> None:
    assert missing_tasks(GATED, ["a", "approve=yes"]) == ("c",)
    assert missing_tasks(GATED, ["abc", "approved", "c"]) == ("a", "approve")
    assert missing_tasks(GATED, None) == ("a", "approve", "c")
    assert is_complete(GATED, ["c", "approve=no", "a"])
    assert is_complete(Workload(()), [])
    assert not is_complete(Workload((Task("a"),)), [7])


def test_trail_is_valid_if_it_is_a_list_of_strings() -> None:
    assert is_valid([])
    assert is_valid(["a"])
    assert not any(map(is_valid, [None, "a", 7, [None], ["a", 1], {"a": "b"}]))
