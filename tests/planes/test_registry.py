"""Planes that other packages register, the broken ones too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from resumption.cli import main
from resumption.errors import EnvironmentBroken
from resumption.planes.registry import families, specs


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, distribution: str = "their-planes") -> None:
    """What `pip install` would leave of a distribution that registers the planes `theirs`."""
    about = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[resumption.planes]\ntheirs = their_planes_spec:SPECS\n")
    (folder / "their_planes_spec.py").write_text(module)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "their_planes_spec", raising=False)


def test_planes_of_another_package_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, monkeypatch, "from resumption.planes.reference import SPECS\n")
    assert "theirs" in families()
    assert [spec.name for spec in specs("theirs")] == ["reference"]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("", "AttributeError"),
        ("from resumption.planes.reference import SPECS as them\nSPECS = them[0]\n", "is no sequence of PlaneSpec"),
        ("SPECS = ['theirs']\n", "is no sequence of PlaneSpec"),
    ],
)
def test_planes_that_can_not_be_loaded_are_told_with_who_registers_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, said: str
) -> None:
    _install(tmp_path, monkeypatch, module)
    for command in (["planes"], ["check", "theirs"]):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 3
        (told,) = [line for line in done.stderr.splitlines() if line.startswith("Error: [RSM-301]")]
        assert said in told
        assert "their-planes" in told


def test_two_packages_can_not_register_one_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "from resumption.planes.reference import SPECS\n"
    _install(tmp_path / "one", monkeypatch, module)
    _install(tmp_path / "other", monkeypatch, module, "other-planes")
    with pytest.raises(EnvironmentBroken, match="registered by other-planes, their-planes"):
        specs("theirs")
