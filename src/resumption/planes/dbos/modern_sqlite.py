"""Puts the SQLite library that DBOS needs in place of an interpreter's older one: must be imported before DBOS.

DBOS's SQLite tables call `unixepoch('subsec')`, which SQLite has since 3.42; interpreters that are in use bring older
libraries (3.40 with Debian 12). The environment of its own has one as the distribution `pysqlite3-binary`.
"""

from __future__ import annotations

import sqlite3
import sys
from importlib.util import find_spec

__all__ = ["NEEDED"]

NEEDED = (3, 42, 0)
"""The oldest SQLite whose `unixepoch` knows `subsec`."""

if sqlite3.sqlite_version_info < NEEDED and find_spec("pysqlite3"):
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
