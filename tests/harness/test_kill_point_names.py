"""The names of kill points: each is read back as what it was made for, whatever the program's own names are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resumption.worker import points

NAMES = ("charge", "effect:charge:after", "a:before", "")

MADE: dict[Callable[[str], str], set[Callable[[str], bool]]] = {
    points.task_start: {points.is_task_start},
    points.effect_before: {points.is_at_effect},
    points.effect_after: {points.is_at_effect, points.is_effect_after, points.is_after},
    points.persist_before: {points.is_persist_before},
    points.persist_after: {points.is_after},
}
QUESTIONS = set().union(*MADE.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("made", MADE)
def test_a_point_is_what_it_was_made_for_and_nothing_else(made: Callable[[str], str], name: str) -> None:
    assert {asked for asked in QUESTIONS if asked(made(name))} == MADE[made]


def test_no_two_points_have_one_name() -> None:
    assert len({made("charge") for made in MADE}) == len(MADE)
