"""CrewAI's planes: what they say of themselves; and, where their environment is worth its gigabyte, random flows."""

from __future__ import annotations

import pytest
from surveyed import assert_consistent, check_random_workloads

from resumption.harness.locks import read_recipe
from resumption.planes.crewai.spec import HUMAN_FEEDBACK, PERSIST, SPECS
from resumption.planes.interface import Capability, Operation


def test_forms_statements_and_locks_hang_together():
    assert_consistent(SPECS)


def test_the_sweep_begins_before_checkpoints_could_be_restored():
    recipe = read_recipe(PERSIST)
    assert len(recipe.releases) == 6
    assert "1.14.1" in recipe.releases
    assert {recipe.paper, recipe.newest} < set(recipe.releases)


def test_a_plane_forks_if_and_only_if_it_lists_how():
    for spec in SPECS:
        assert (
            bool(spec.forms_of(Operation.FORK)) == (Capability.FORK not in spec.lacks) == bool(spec.fork_discriminator)
        )


def test_only_the_variant_of_a_plane_is_left_out_by_default():
    assert [spec.path for spec in SPECS if not spec.by_default] == ["checkpoint-beside-a-flow"]
    assert HUMAN_FEEDBACK.by_default


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_random_workloads_park_at_their_gate_and_end_with_its_answer(spec):
    check_random_workloads(spec)
