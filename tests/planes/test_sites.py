"""Sites of a decision are found in whatever release is installed, and a release that lacks one says so."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

from click.testing import CliRunner

from resumption.cli import main
from resumption.planes.langgraph.spec import GRAPH
from resumption.planes.registry import specs
from resumption.planes.sites import anchors, find_line

_SOURCE = """\
class Loop:
    def read(self):
        return other.get()

    def write(self):
        def inner():
            return None
        store.put(1)


def put():
    pass
"""


def test_a_line_is_looked_for_inside_its_symbol_alone() -> None:
    assert find_line(_SOURCE, "Loop.write", "put(") == 8
    assert find_line(_SOURCE, "put", "put(") == 11
    assert find_line(_SOURCE, "Loop.read", "put(") is None
    assert find_line(_SOURCE, "Loop.erase", "put(") is None


def test_of_overloads_the_implementation_is_meant() -> None:
    assert find_line("def f(a): ...\n\ndef f(a, b=1):\n    return a\n", "f", "return") == 4


def test_every_site_of_langgraph_is_in_the_installed_release() -> None:
    found = anchors(GRAPH)
    assert len(found) >= 7
    root = Path(str(distribution("langgraph").locate_file("")))
    for anchor in found:
        assert anchor.version == distribution("langgraph").version
        assert anchor.line is not None, anchor.site
        assert anchor.site.text in (root / anchor.file).read_text().splitlines()[anchor.line - 1]


def test_a_plane_without_sites_has_none() -> None:
    assert anchors(specs("reference")[0]) == ()


def test_the_command_tells_file_and_line() -> None:
    done = CliRunner().invoke(main, ["planes", "langgraph", "--sites"])
    assert done.exit_code == 0
    assert "langgraph/pregel/_algo.py:" in done.output
    assert "_scratchpad" in done.output
