"""Every statement of the guard on LangGraph's own tables, and on the one that stands in for them in a store.

Predicates name keys only: no rule hides here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

__all__ = ["OVERLAY_POSTGRES", "OVERLAY_SQLITE", "POSTGRES", "SQLITE", "OverlayStatements", "SlotStatements"]


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
    rows_at_head: str = (
        "SELECT task_id, channel, type, value, checkpoint_id FROM writes"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id ="
        " (SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
        " ORDER BY checkpoint_id DESC LIMIT 1) ORDER BY task_id, idx"
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
    forget: str = "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ?"
    places: str = "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id"
    columns: str = "SELECT name FROM pragma_table_info(?)"
    by_checkpoint: tuple[str, ...] = ("checkpoints", "writes")
    """The tables whose rows belong to a checkpoint."""
    by_thread: tuple[str, ...] = ()
    """Those whose rows belong to a thread."""
    mark: str = "?"
    """How a statement marks a parameter."""
    drop: str = (
        "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?"
    )

    def copy(self, table: str, columns: Sequence[str]) -> str:
        """Copies rows to another thread: of a checkpoint, or of the thread if the table's don't belong to one."""
        keys = ("thread_id", "checkpoint_ns", "checkpoint_id") if table in self.by_checkpoint else ("thread_id",)
        rest = "".join(f", {name}" for name in columns)
        where = " AND ".join(f"{key} = {self.mark}" for key in keys)
        return f"INSERT INTO {table} (thread_id{rest}) SELECT {self.mark}{rest} FROM {table} WHERE {where}"


SQLITE = SlotStatements()


def _postgres() -> SlotStatements:
    """The same statements for psycopg, on the tables of the PostgreSQL savers. Namespaces compare bytewise."""
    base = SlotStatements()
    texts = {one.name: text for one in fields(base) if isinstance(text := getattr(base, one.name), str)}
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
    columns = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
    tables = ("checkpoints", "checkpoint_writes")
    return replace(
        base, **{**changed, "columns": columns, "mark": "%s"}, by_checkpoint=tables, by_thread=("checkpoint_blobs",)
    )


POSTGRES = _postgres()


@dataclass(frozen=True, slots=True)
class OverlayStatements:
    """One dialect's statements on the slots that a store keeps for a saver whose tables are unknown."""

    create: str = (
        "CREATE TABLE IF NOT EXISTS resumption_slots (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL,"
        " checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL,"
        " type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))"
    )
    at: str = (
        "SELECT task_id, channel, type, value FROM resumption_slots"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx"
    )
    put: str = (
        "INSERT INTO resumption_slots (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)"
        " DO UPDATE SET channel = excluded.channel, type = excluded.type, value = excluded.value"
    )
    remove: str = (
        "DELETE FROM resumption_slots"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?"
    )


OVERLAY_SQLITE = OverlayStatements()
OVERLAY_POSTGRES = OverlayStatements(
    **{
        one.name: getattr(OVERLAY_SQLITE, one.name).replace("?", "%s").replace("BLOB", "BYTEA")
        for one in fields(OverlayStatements)
    }
)
