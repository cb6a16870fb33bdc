"""Leases that run out soon, so that a test can wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resumption.guard.claims import expiring, leases
from resumption.guard.claims.expiring import ExpiringLocks
from resumption.guard.claims.servers import LeaseTable
from resumption.guard.claims.tables import LeaseFile

from ..support import connecting


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """How long a lease lasts. Children that are forked inherit it. What a test leaves held is given up after it."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.2)
    yield 1.2
    for locks in list(expiring._all):
        for held in list(locks._held):
            held.release()


@pytest.fixture(params=["sqlite", "postgres"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> ExpiringLocks:
    """The leases of one database, in a file and in a table."""
    if request.param == "sqlite":
        return ExpiringLocks(LeaseFile(tmp_path / "leases"))
    return ExpiringLocks(LeaseTable(connecting(request.getfixturevalue("postgres_url"))))
