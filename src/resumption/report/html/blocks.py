"""What stands in the page besides its text: data for the script, and the policy under which a browser shows it."""

from __future__ import annotations

import base64
import hashlib
import json

from resumption.report.lanes import Lanes

__all__ = ["content_security_policy", "history_block"]

_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def history_block(name: str, drawn: Lanes) -> str:
    """The data of one history as JSON that may stand in a script element: no character in it can end that element.

    A row is `[first, last, process, branch, kind, text, detail, turn]`.
    """
    rows = [
        [row.first, row.last, row.process, row.branch, row.kind, row.text, row.detail, int(row.turn)]
        for row in drawn.rows
    ]
    data = {
        "name": name,
        "program": drawn.program,
        "processes": drawn.processes,
        "rows": rows,
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)


def content_security_policy(style: str, script: str) -> str:
    """A policy that lets the page use this style, this script and inlined images, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
