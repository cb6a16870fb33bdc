"""Negative certificates: rules that frameworks are known to have, which the same proof has to refute, and where.

A proof that would also accept these proves nothing. Each stands in for one shipped function, and the obligations of the
induction that it breaks are stated exactly.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["CERTIFICATES", "Certificate", "with_rule"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A wrong rule: the file and function it stands in for, what it returns, and the obligations that it breaks."""

    rule: str
    module: str
    function: str
    returns: str
    breaks: frozenset[str]


def with_rule(source: str, certificate: Certificate) -> str:
    """The file's source with the wrong rule in the function's place. Raises `KeyError` if it lacks the function."""
    tree = ast.parse(source)
    functions = {statement.name: statement for statement in tree.body if isinstance(statement, ast.FunctionDef)}
    functions[certificate.function].body = [ast.Return(ast.parse(certificate.returns, mode="eval").body)]
    return ast.unparse(tree)


CERTIFICATES = (
    Certificate(
        rule="serve the decision that was recorded first, whoever asks",
        module="view",
        function="view",
        returns="View.OWN",
        breaks=frozenset({"ForkResume/FD"}),
    ),
    Certificate(
        rule="recover at a task that has a record",
        module="recover",
        function="recover",
        returns="Recovery.RUNS if recorded else Recovery.WAITS",
        breaks=frozenset(
            {
                "Consume/Effects",
                "CrashRecover/Effects",
                "CrashRecover/Frontier",
                "CrashRecover/RD",
                "CrashRecover/Recoveries",
            }
        ),
    ),
    Certificate(
        rule="let any delivery consume",
        module="claim",
        function="claim",
        returns="Claim.CONSUMED",
        breaks=frozenset(
            {"Consume/Effects", "Consume/Frontier", "ExtraResume/CO", "ExtraResume/EO", "ExtraResume/Effects"}
        ),
    ),
    Certificate(
        rule="store a record, and leave the frontier where it was",
        module="commit",
        function="frontier_after",
        returns="frontier",
        breaks=frozenset({"Consume/Frontier", "Consume/LogIsPrefix", "ExecTask/Frontier", "ExecTask/LogIsPrefix"}),
    ),
)
"""The wrong rules."""
