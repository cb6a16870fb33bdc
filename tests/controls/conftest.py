"""One receipt for each plane of the controls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt
from resumption.harness.runner import run_suite
from resumption.planes.registry import specs

_JOBS = 4


@pytest.fixture(scope="session")
def measure(once: Callable[[str, Callable[[], Receipt]], Receipt]) -> Callable[[str], Receipt]:
    """Return the receipt of a plane on all probes."""
    return lambda name: once(name, lambda: run_suite(specs(name), PROBES, jobs=_JOBS))
