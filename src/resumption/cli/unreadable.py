"""How commands that list rows tell of those that can't be read: after the others, on standard error."""

from __future__ import annotations

import click

from resumption.errors import RowUnreadable
from resumption.harness.policy import ExitCode

__all__ = ["tell_unreadable"]


def tell_unreadable(errors: list[RowUnreadable]) -> None:
    """Tell of each, and end the command as one whose answer isn't whole."""
    for error in errors:
        click.echo(f"Error: {error}", err=True)
    if errors:
        click.get_current_context().exit(ExitCode.INCONCLUSIVE)
