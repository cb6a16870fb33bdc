"""The ledger's tables: created once, versioned, and named by an identity that tells two ledgers apart."""

from __future__ import annotations

import secrets

from resumption.errors import SchemaMismatch
from resumption.guard.stores.protocol import Work
from resumption.guard.stores.statements import SCHEMA_VERSION, Statements

__all__ = ["creating", "identifying"]


def identifying(sql: Statements) -> Work[str | None]:
    """The identity of the ledger in this database, or None if there is none yet."""
    found = yield sql.has_schema, ()
    if not found.rows or found.rows[0][0] is None:
        return None
    found = yield sql.schema, ()
    if not found.rows:
        return None
    version, identity = found.rows[0]
    if version != SCHEMA_VERSION:
        raise SchemaMismatch(
            f"The ledger's tables are of version {version}; this release knows version {SCHEMA_VERSION}.",
            advice="Use the release that wrote them, or move the records before you go on.",
        )
    return str(identity)


def creating(sql: Statements) -> Work[str]:
    """Create the tables unless another process has done so meanwhile; return the ledger's identity."""
    yield sql.schema_lock, ()
    for statement in (sql.create_schema, sql.create_effects, sql.create_audit, sql.index_audit):
        yield statement, ()
    yield sql.schema_record, (SCHEMA_VERSION, secrets.token_hex(16))
    identity = yield from identifying(sql)
    if identity is None:
        raise SchemaMismatch("The ledger's tables vanished while they were made.", advice="Run setup() again.")
    return identity
