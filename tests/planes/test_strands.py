"""Strands' planes: what they say of themselves, and what they do in an environment of their own."""

from __future__ import annotations

import pytest
from surveyed import assert_consistent, check_quotes, check_random_workloads

from resumption.planes.interface import PlaneSpec
from resumption.planes.strands.spec import SPECS


def test_forms_statements_and_locks_hang_together() -> None:
    assert_consistent(SPECS, undocumented=frozenset({"new-message"}))


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_a_random_workload_parks_at_its_gate_and_fires_each_effect_once(spec: PlaneSpec) -> None:
    check_random_workloads(spec)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_what_the_package_says_is_quoted_word_for_word(spec: PlaneSpec) -> None:
    check_quotes(spec)
