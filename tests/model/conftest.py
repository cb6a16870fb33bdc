"""What the tests of the model share."""

from __future__ import annotations

import pytest

from resumption.errors import ToolMissing
from resumption.model.tlc import find_jar, find_java


@pytest.fixture(scope="session")
def java() -> None:
    """Needed by a test that runs TLC: the one reason for which such a test is skipped."""
    try:
        find_java()
        find_jar()
    except ToolMissing as missing:
        pytest.skip(f"no Java: {missing}")
