"""An address that nobody issued differs from the one that was, whatever an adapter's identities look like."""

from __future__ import annotations

from typing import Any

import pytest

from resumption.harness.probes.address import _unissued
from resumption.planes.interface import Address


@pytest.mark.parametrize(
    "identity",
    ["approve", "approve#1", "0f" * 16, "", 0, 9, 1.5, True, None, ["approve", 1], [], {"run": "r1", "gate": "g"}, {}],
)
def test_an_unissued_identity_is_never_the_issued_one(identity: Any) -> None:
    assert _unissued(Address(requests={"approve": identity})).requests["approve"] != identity
