"""`resumption ledger`: what operators see and say about effects. Added to the root command by `resumption.cli`."""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from resumption.cli.unreadable import tell_unreadable
from resumption.decide import admit as decide
from resumption.errors import RowUnreadable, UnknownRecord
from resumption.guard import operators
from resumption.guard.effects import Ledger

__all__ = ["ledger"]

_console = Console()


def _store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--store",
        "url",
        required=True,
        envvar="RESUMPTION_STORE",
        show_envvar=True,
        help='The ledger\'s store: "sqlite:///effects.db" or "postgresql://…".',
    )(command)


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")(command)


def _by_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--by", "actor", default=None, help="Who decides, for the audit trail. [default: user@host]")(
        command
    )


@click.group(short_help="List effects in doubt, and settle them.")
def ledger() -> None:
    """Effects in doubt: list them, look at one, say whether it fired, forget old ones."""


@ledger.command("list")
@_store_option
@_json_option
@click.option("--all", "everything", is_flag=True, help="Settled effects too.")
def list_effects(url: str, as_json: bool, everything: bool) -> None:
    """List the effects that are running or in doubt."""
    unreadable: list[RowUnreadable] = []
    with _opened(url) as opened:
        listed = operators.listing(opened, everything=everything, unreadable=unreadable.append)
        seen = [_summary(one) for one in listed]
    if as_json:
        click.echo(json.dumps(seen, indent=2))
    else:
        _console.print(_table(seen))
    tell_unreadable(unreadable)


def _table(seen: list[dict[str, Any]]) -> Table:
    table = Table()
    for name in ("key", "state", "attempt", "begun", "owner", "note"):
        table.add_column(name, overflow="fold")  # a key that is cut short can't be given to `resolve`
    for one in seen:
        owner = one["owner"]
        process = f"{owner['pid']}@{owner['host']}"
        table.add_row(one["key"], one["state"], str(one["attempt"]), one["began"], process, one["note"] or "")
    return table


@ledger.command("show")
@click.argument("key")
@_store_option
@_json_option
def show_effect(key: str, url: str, as_json: bool) -> None:
    """Show one effect and its audit trail."""
    with _opened(url) as opened:
        one = operators.see(opened, key)
        trail = [asdict(row) for row in operators.audit_trail(opened, key)]
    whole = {**_summary(one), **_end(one), "audit": trail}
    if as_json:
        click.echo(json.dumps(whole, indent=2))
        return
    for name, value in whole.items():
        if name != "audit":
            click.echo(f"{name:10} {value if isinstance(value, str) else json.dumps(value)}")
    for row in trail:
        click.echo(f"  {row['at']}  {row['what']}: {row['branch']}  by {row['actor']}  {row['note']}".rstrip())


@ledger.command("resolve")
@click.argument("key")
@_store_option
@click.option("--fired/--not-fired", required=True, help="Whether the effect happened.")
@click.option("--result", default=None, help="With --fired: what it returned, as JSON; later calls are served it.")
@click.option("--note", default="", help="Why, for the audit trail.")
@_by_option
def resolve_effect(key: str, url: str, fired: bool, result: str | None, note: str, actor: str | None) -> None:
    """Say whether an effect in doubt fired. One that did not fire may fire again."""
    if result is not None and not fired:
        raise click.UsageError("What did not fire has no result.")
    if fired and result is None:
        raise click.UsageError("--fired needs --result, which later calls are served; --result null if there is none.")
    with _opened(url) as opened:
        try:
            one = operators.resolve(opened, key, fired=fired, result=result, actor=actor or _actor(), note=note)
        except json.JSONDecodeError as error:
            raise click.BadParameter(f"not JSON: {error}", param_hint="--result") from error
    click.echo(f"{key}: {one.state}")


@ledger.command("prune")
@_store_option
@click.option(
    "--before",
    required=True,
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Forget what was settled before this time (UTC).",
)
@_by_option
def prune_effects(url: str, before: datetime, actor: str | None) -> None:
    """Forget settled effects. A forgotten key can fire again: keep more than any retry could look back."""
    unreadable: list[RowUnreadable] = []
    with _opened(url) as opened:
        removed = operators.prune(
            opened, before=before.replace(tzinfo=UTC), actor=actor or _actor(), unreadable=unreadable.append
        )
    click.echo(f"{removed} records forgotten")
    tell_unreadable(unreadable)


@contextmanager
def _opened(url: str) -> Iterator[Ledger]:
    """A ledger for one command.

    An address without a ledger is an error: a mistyped one must not read as "nothing in doubt".
    """
    opened = Ledger(url)
    if not opened.exists():
        raise UnknownRecord(f"There is no ledger at {opened.address}.", advice="Check --store.")
    yield opened
    opened.close()


def _summary(one: operators.Seen) -> dict[str, Any]:
    record = one.record
    return {
        "key": record.key,
        "state": one.state,
        "attempt": record.attempt,
        "began": record.began,
        "owner": json.loads(record.place),
        "note": record.note,
    }


def _end(one: operators.Seen) -> dict[str, Any]:
    """What a settled effect came to. One in doubt has neither result nor end: its last write is no end of it."""
    if decide.unsettled(one.state):
        return {}
    kept = {} if one.record.result is None else {"result": one.record.result}
    return {**kept, "ended": one.record.ended}


def _actor() -> str:
    return f"{getpass.getuser()}@{platform.node()}"
