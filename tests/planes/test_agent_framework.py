"""Agent Framework's plane: what it says of itself, and what it does in an environment of its own."""

from __future__ import annotations

import pytest
from surveyed import assert_consistent, check_quotes, check_random_workloads

from resumption.planes.agent_framework.spec import SPECS, WORKFLOW


def test_forms_statements_and_locks_hang_together() -> None:
    assert_consistent(SPECS)


@pytest.mark.slow
def test_a_random_workload_parks_at_its_gate_and_fires_each_effect_once() -> None:
    check_random_workloads(WORKFLOW)


@pytest.mark.slow
def test_what_the_package_says_is_quoted_word_for_word() -> None:
    check_quotes(WORKFLOW)
