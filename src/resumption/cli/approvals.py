"""`resumption approvals`: who answered what, when and from where, and what was refused."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table

from resumption.errors import SchemaMismatch, UnknownName, UnknownRecord
from resumption.guard.claims import protocol, statements
from resumption.guard.claims.records import Claim
from resumption.guard.stores.opening import open_store
from resumption.guard.stores.protocol import Work
from resumption.report.text import report_console

__all__ = ["approvals"]

_PATIENCE = 30.0
"""How many seconds a database that is busy is waited for."""

_BEGINNING = 8
"""How much of an interrupt's id and of a digest a table shows: enough for `show --interrupt`."""

_SHORT = ("interrupt", "digest", "at (UTC)")
"""Columns that are never broken: the others give way."""


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
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("thread", "interrupt", "what", "digest", "delivery", "at (UTC)", "from"):
        table.add_column(name, overflow="fold", no_wrap=name in _SHORT)
    for entry in entries:
        where = json.loads(entry["place"])
        place = f"{where['pid']}@{where['host']}"
        short = (entry["digest"][:_BEGINNING], entry["delivery"], entry["at"][:19].replace("T", " "), place)
        table.add_row(entry["thread"], entry["interrupt"][:_BEGINNING], entry["what"], *short)
    report_console().print(table)


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
    found = open_store(url, _PATIENCE)
    if not found.present():  # reading must not make an empty database
        raise UnknownRecord(f"There is no database at {found.address}.", advice="Check --store.")
    sql = statements.SQLITE if url.startswith("sqlite:") else statements.POSTGRES

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
