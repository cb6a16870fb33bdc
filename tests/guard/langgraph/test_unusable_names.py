"""Names that no store can hold are refused before anything runs, on every store alike."""

from __future__ import annotations

from typing import Any

import pytest

from resumption.langgraph import UnusableName, fork

from .programs import Bench, answer

INPUT: Any = {"trail": []}
NAMES = {"surrogate": "a\ud800", "nul": "a\0", "long": "a" * 1025}


def _at(thread: str, **more: str) -> Any:
    return {"configurable": {"thread_id": thread, **more}}


@pytest.fixture(params=sorted(NAMES))
def name(request: pytest.FixtureRequest) -> str:
    return NAMES[request.param]


def test_no_call_on_such_a_thread_runs_anything(database, quick: Bench, name):
    with database.opened(quick.builder(draft=quick.step("draft"))) as program:
        with pytest.raises(UnusableName, match="thread id"):
            program.call(INPUT, _at(name))
        assert program.call(INPUT, _at("t"))["trail"] == ["draft"]
    assert quick.fired() == ["draft"]


def test_no_delivery_or_address_of_that_kind_is_taken(database, quick: Bench, name):
    with database.opened(quick.builder(pay=quick.gate("pay"))) as program:
        program.call(INPUT, _at("t"))
        with pytest.raises(UnusableName, match="delivery id"):
            program.call(answer("yes"), _at("t"), delivery_id=name)
        with pytest.raises(UnusableName, match="delivery id"):
            program.call(answer("yes"), _at("t", delivery_id=name))
        with pytest.raises(UnusableName, match="checkpoint id"):
            program.call(answer("yes"), _at("t", checkpoint_id=name))
        assert quick.fired() == []
        assert program.call(answer("yes"), _at("t"))["trail"] == ["pay=yes"]


def test_no_state_is_written_there_and_nothing_is_forked_there(quick: Bench, name):
    app = quick.approval()
    app.invoke(INPUT, _at("t"))
    parked = app.get_state(_at("t")).config
    with pytest.raises(UnusableName, match="thread id"):
        app.update_state(_at(name), {"trail": ["x"]})
    with pytest.raises(UnusableName, match="thread id"):
        fork(app, parked, "yes", into=name)
    with pytest.raises(UnusableName, match="interrupt"):
        fork(app, parked, "yes", interrupt=name)
    assert quick.fired() == ["draft"]
