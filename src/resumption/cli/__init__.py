"""The command line: one module for each command, and one way to end when something can't be done."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from resumption import __version__
from resumption.cli.audit import audit
from resumption.cli.check import check
from resumption.cli.compare import compare
from resumption.cli.explain import explain
from resumption.cli.planes import planes
from resumption.cli.probes import probes
from resumption.cli.race import race
from resumption.cli.sweep import sweep
from resumption.errors import (
    EnvironmentBroken,
    EnvironmentUnavailable,
    ResumptionError,
    RowUnreadable,
    StatementsUnreadable,
    WorkerLost,
)
from resumption.harness.policy import ExitCode

__all__ = ["main"]

_LAZY = ("approvals", "drill", "ledger", "model", "recover", "replay", "report")
"""Commands whose module is imported when they are used: what they need would make every other command start slower."""

_UNMEASURABLE = (EnvironmentBroken, EnvironmentUnavailable, RowUnreadable, WorkerLost, StatementsUnreadable)
"""The errors after which nothing could be told; all others are a mistake in what was asked for."""


class _Mistake(click.ClickException):
    """What was asked for can't be done; told in one line."""

    exit_code = ExitCode.USAGE


class _Unmeasured(click.ClickException):
    """What was asked for could not be measured here; told in one line."""

    exit_code = ExitCode.INCONCLUSIVE


class _Root(click.Group):
    """The root of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_LAZY])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _LAZY:
            return super().get_command(ctx, cmd_name)
        group: click.Command = getattr(import_module(f"resumption.cli.{cmd_name}"), cmd_name)
        return group

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ResumptionError as error:
            failure = _Unmeasured if isinstance(error, _UNMEASURABLE) else _Mistake
            raise failure(" ".join(str(error).split())) from error
        except KeyboardInterrupt:
            click.echo("Interrupted; nothing is left running.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="resumption")
def main() -> None:
    """What "resume" means for a workflow framework: measured, judged and explained."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Where the output's encoding lacks a character of a quotation, a stand-in is better than no report.
            stream.reconfigure(errors="replace")


for _command in (audit, check, compare, explain, planes, probes, race, sweep):
    main.add_command(_command)
