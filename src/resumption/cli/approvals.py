"""`resumption approvals`: who answered what, when and from where, and what was refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from resumption.errors import SchemaMismatch, UnknownName
from resumption.guard.claims import protocol, statements
from resumption.guard.claims.records import Claim
from resumption.guard.stores.protocol import Work

__all__ = ["approvals"]


@click.group(short_help="Who decided what on guarded threads, and what was refused.")
def approvals() -> None:
    """Decisions on guarded threads: the audit trail of who decided what, and what was refused."""


@approvals.command("list")
@click.option("--store", "url", required=True, help="The saver's database: sqlite:///graph.db or postgresql://…")
@click.option("--thread", default=None, help="Only this thread.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def list_approvals(url: str, thread: str | None, as_json: bool) -> None:
    """List decisions and refusals, each in the order in which they came. Values are shown by their digest."""
    entries = [entry for entry in _entries(url) if thread in (None, entry["thread"])]
    if as_json:
        click.echo(json.dumps(entries, indent=2))
        return
    table = Table("thread", "interrupt", "what", "digest", "delivery", "at", "from")
    for entry in entries:
        where = json.loads(entry["place"])
        place = f"{where['pid']}@{where['host']}"
        short = (entry["digest"][:12], entry["delivery"], entry["at"][:19], place)
        table.add_row(entry["thread"], entry["interrupt"], entry["what"], *short)
    Console().print(table)


@approvals.command("show")
@click.argument("thread")
@click.option("--store", "url", required=True, help="The saver's database: sqlite:///graph.db or postgresql://…")
@click.option("--interrupt", default=None, help="Only this interrupt, by its id or the beginning of it.")
def show_approvals(thread: str, url: str, interrupt: str | None) -> None:
    """Show all that is on record of the decisions on THREAD, in full; values by their digest."""
    entries = [
        entry
        for entry in _entries(url)
        if entry["thread"] == thread and (interrupt is None or entry["interrupt"].startswith(interrupt))
    ]
    if not entries:
        raise UnknownName(
            f"Nothing is on record of thread {thread!r}" + (f" and interrupt {interrupt!r}." if interrupt else "."),
            advice="`resumption approvals list` shows the threads and interrupts that have decisions.",
        )
    for entry in entries:
        click.echo(f"{entry['what']}, {entry['at']}")
        for name, value in entry.items():
            if value and name not in ("what", "at", "thread"):
                click.echo(f"    {name:11}{value}")


def _entries(url: str) -> list[dict[str, Any]]:
    if url.startswith("sqlite:///"):
        from resumption.guard.stores.sqlite import SQLiteStore

        found: Any = SQLiteStore(Path(url.removeprefix("sqlite:///")), 30.0)
        sql = statements.SQLITE
    else:
        from resumption.guard.stores.postgres import PostgresStore

        found, sql = PostgresStore(url, 30.0), statements.POSTGRES

    def reading() -> Work[list[dict[str, Any]]]:
        if not (yield from protocol.present(sql)):
            raise SchemaMismatch(
                "The guard has no tables in this database, or an earlier release wrote them.",
                advice="Name the saver's database, or the guard's store; a guarded graph brings its tables up to date.",
            )
        claims = [Claim.of(row) for row in (yield sql.all_claims, ()).rows]
        entries = [
            {
                "thread": one.thread,
                "interrupt": one.interrupt,
                "what": "decided",
                "digest": one.digest,
                "delivery": one.delivery,
                "at": one.at,
                "place": one.place,
                "task": one.task,
                "checkpoint": one.root,
            }
            for one in claims
        ]
        names = ("thread", "interrupt", "what", "digest", "delivery", "at", "place")
        refused = [dict(zip(names, map(str, row), strict=True)) for row in (yield sql.refusals, ()).rows]
        return [*entries, *({**one, "what": f"refused: {one['what']}"} for one in refused)]

    entries: list[dict[str, Any]] = found.look(reading)
    found.close()
    return entries
