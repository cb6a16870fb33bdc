"""Every statement of the guard on LangGraph's own tables. Predicates name keys only: no rule hides here."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["POSTGRES", "SQLITE", "SlotStatements"]


@dataclass(frozen=True, slots=True)
class SlotStatements:
    """One dialect's statements on a saver's tables."""

    head: str = (
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
        " ORDER BY checkpoint_id DESC LIMIT 1"
    )
    known: str = "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
    rows: str = (
        "SELECT task_id, channel, type, value FROM writes"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx"
    )
    slot: str = (
        "SELECT type, value FROM writes"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?"
    )
    nested: str = (
        "SELECT checkpoint_ns, MAX(checkpoint_id) FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns >= ? AND checkpoint_ns < ? GROUP BY checkpoint_ns"
    )
    put: str = (
        "INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)"
        " DO UPDATE SET channel = excluded.channel, type = excluded.type, value = excluded.value"
    )
    drop: str = (
        "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?"
    )


SQLITE = SlotStatements()


def _postgres() -> SlotStatements:
    """The same statements for psycopg, on the tables of the PostgreSQL savers. Namespaces compare bytewise."""
    base = SlotStatements()
    texts = {one.name: getattr(base, one.name) for one in fields(base)}
    changed = {
        name: text.replace("?", "%s")
        .replace("FROM writes", "FROM checkpoint_writes")
        .replace("INTO writes", "INTO checkpoint_writes")
        .replace("type, value", "type, blob")
        .replace("excluded.value", "excluded.blob")
        .replace("checkpoint_ns >=", 'checkpoint_ns COLLATE "C" >=')
        .replace("checkpoint_ns <", 'checkpoint_ns COLLATE "C" <')
        for name, text in texts.items()
    }
    return SlotStatements(**changed)


POSTGRES = _postgres()
