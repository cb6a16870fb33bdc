"""`resumption approvals`: who answered what, when and from where, and what was refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table

from resumption.cli.unreadable import tell_unreadable
from resumption.errors import RowUnreadable, SchemaMismatch, UnknownName, UnknownRecord
from resumption.guard.claims import protocol, statements
from resumption.guard.claims.records import REFUSALS, Claim
from resumption.guard.stores.opening import open_store
from resumption.guard.stores.protocol import Work
from resumption.report.text import report_console

__all__ = ["approvals"]

Row = Sequence[object]

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
    every, unreadable = _entries(url)
    entries = [entry for entry in every if thread in (None, entry["thread"])]
    if as_json:
        click.echo(json.dumps(entries, indent=2))
    else:
        report_console().print(_table(entries))
    tell_unreadable([error for error in unreadable if thread in (None, error.row)])


def _table(entries: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("thread", "interrupt", "what", "digest", "delivery", "at (UTC)", "from"):
        table.add_column(name, overflow="fold", no_wrap=name in _SHORT)
    for entry in entries:
        where = json.loads(entry["place"])
        place = f"{where['pid']}@{where['host']}"
        short = (entry["digest"][:_BEGINNING], entry["delivery"], entry["at"][:19].replace("T", " "), place)
        table.add_row(entry["thread"], entry["interrupt"][:_BEGINNING], entry["what"], *short)
    return table


@approvals.command("show")
@click.argument("thread")
@click.option("--store", "url", required=True, help="The saver's database: sqlite:///graph.db or postgresql://…")
@click.option("--interrupt", default=None, help="Only this interrupt, by its id or the beginning of it.")
def show_approvals(thread: str, url: str, interrupt: str | None) -> None:
    """Show all that is on record of the decisions on THREAD, in full; values by their digest."""
    every, unreadable = _entries(url)
    mine = [error for error in unreadable if error.row == thread]
    entries = [
        entry
        for entry in every
        if entry["thread"] == thread and (interrupt is None or entry["interrupt"].startswith(interrupt))
    ]
    if not entries and not mine:
        raise UnknownName(
            f"Nothing is on record of thread {thread!r}" + (f" and interrupt {interrupt!r}." if interrupt else "."),
            advice="`resumption approvals list` shows the threads and interrupts that have decisions.",
        )
    for entry in entries:
        click.echo(f"{entry['what']}, {entry['at']}")
        for name, value in entry.items():
            if value and name not in ("what", "at", "thread"):
                click.echo(f"    {name:11}{value}")
    tell_unreadable(mine)


def _entries(url: str) -> tuple[list[dict[str, Any]], list[RowUnreadable]]:
    """What is on record, and the errors for the rows that can't be read."""
    found = open_store(url, _PATIENCE)
    if not found.present():  # reading must not make an empty database
        raise UnknownRecord(f"There is no database at {found.address}.", advice="Check --store.")
    sql = statements.SQLITE if url.startswith("sqlite:") else statements.POSTGRES

    def reading() -> Work[tuple[Sequence[Row], Sequence[Row]]]:
        if not (yield from protocol.present(sql)):
            raise SchemaMismatch(
                "The guard has no tables in this database, or an earlier release wrote them.",
                advice="Name the saver's database, or the guard's store; a guarded graph brings its tables up to date.",
            )
        return (yield sql.all_claims, ()).rows, (yield sql.refusals, ()).rows

    claims, refusals = found.look(reading)
    found.close()
    entries, unreadable = [], []
    for entry, rows in ((_decided, claims), (_refused, refusals)):
        for row in rows:
            try:
                entries.append(entry(row))
            except RowUnreadable as error:
                unreadable.append(error)
    return entries, unreadable


def _decided(row: Row) -> dict[str, Any]:
    one = Claim.of(row)
    return {
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


def _refused(row: Row) -> dict[str, Any]:
    names = ("thread", "interrupt", "what", "digest", "delivery", "at", "place")
    entry = dict(zip(names, REFUSALS.read(row, row[0]), strict=True))
    return {**entry, "what": f"refused: {entry['what']}"}
