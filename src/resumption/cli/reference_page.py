"""The command line as a page of the documentation, made from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from resumption.cli import main

__all__ = ["reference_page"]

_INTRODUCTION = """\
<!-- Made by `make docs` from the commands; a test compares. Change their help, not this page. -->

# Command line

`resumption COMMAND --help` says the same. What is written to standard output is the report; progress and notices go to
standard error.
"""


def reference_page() -> str:
    """The page, as Markdown."""
    return "\n".join([_INTRODUCTION, *_command(main, "resumption", 1)])


def _command(command: click.Command, name: str, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    if level > 1:
        arguments = [_argument(param) for param in command.params if isinstance(param, click.Argument)]
        group = ["COMMAND"] if isinstance(command, click.Group) else []
        yield f"{'#' * level} {name}\n"
        yield f"```text\n{' '.join([name, '[OPTIONS]', *group, *arguments])}\n```\n"
        yield f"{_escaped(inspect.cleandoc(command.help or ''))}\n"
        yield from _options(command)
        if command.epilog:
            yield f"{_escaped(command.epilog)}\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _command(found, f"{name} {child}", level + 1)


def _argument(param: click.Argument) -> str:
    return param.metavar or str(param.name).upper()


def _options(command: click.Command) -> Iterator[str]:
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    if not options:
        return
    yield "| option | |"
    yield "|---|---|"
    for option in options:
        names = ", ".join([*option.opts, *option.secondary_opts])
        value = "" if option.is_flag else f" {_value(option)}"
        yield f"| `{names}{value}` | {_escaped(option.help or '')}{_default(option)} |"
    yield ""


def _value(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "/".join(map(str, option.type.choices))
    return option.type.name.upper()


def _default(option: click.Option) -> str:
    return f" Default: `{option.default}`." if option.show_default and not option.is_flag else ""


def _escaped(text: str) -> str:
    """Prose in which brackets and angle brackets stay what they are."""
    return text.replace("<", "&lt;").replace("|", "\\|").replace("[", "\\[").replace("\b\n", "")
