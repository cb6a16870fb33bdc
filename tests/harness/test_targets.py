"""What a user may write to say what to measure, and what it stands for."""

from __future__ import annotations

import pytest

from resumption.errors import TargetUnreadable, UnknownName
from resumption.harness.targets import Target, parse_target, planes_of


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("langgraph", [Target("langgraph")]),
        ("faulty-replay", [Target("faulty-replay")]),
        ("langgraph@1.2.9", [Target("langgraph", version="1.2.9")]),
        ("langgraph@1.0.5,1.2.24", [Target("langgraph", version="1.0.5"), Target("langgraph", version="1.2.24")]),
        ("langgraph@2,1,2", [Target("langgraph", version="2"), Target("langgraph", version="1")]),
        ("langgraph[sqlite]", [Target("langgraph", backends=("sqlite",))]),
        (
            "langgraph[sqlite,memory]@1.2.9,1.2.24",
            [
                Target("langgraph", backends=("sqlite", "memory"), version="1.2.9"),
                Target("langgraph", backends=("sqlite", "memory"), version="1.2.24"),
            ],
        ),
        ("langgraph@1.3.0rc1+local", [Target("langgraph", version="1.3.0rc1+local")]),
    ],
)
def test_an_argument_is_one_target_for_each_version(text: str, targets: list[Target]) -> None:
    assert list(parse_target(text)) == targets


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@1.2.9",
        "a b",
        "langgraph==1.2.9",
        "langgraph@",
        "langgraph@-r",
        "langgraph@../../x",
        "langgraph@1,,2",
        "langgraph@1.2.9[sqlite]",
        "langgraph[]",
        "langgraph[sqlite",
    ],
)
def test_what_is_no_target_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(TargetUnreadable, match=r"PLANE@1\.2\.9"):
        parse_target(text)


@pytest.mark.parametrize(
    "text",
    ["langgraph", "langgraph@1.2.9", "langgraph[sqlite]", "langgraph[sqlite,memory]@1.0.5", "langgraph/graph@1.2.9"],
)
def test_a_target_is_written_as_it_was_read(text: str) -> None:
    assert [str(target) for target in parse_target(text)] == [text]


def test_backends_in_brackets_are_the_only_ones_measured() -> None:
    assert {backend.name for spec in Target("langgraph").specs() for backend in spec.backends} > {"sqlite"}
    assert {
        backend.name for spec in Target("langgraph", backends=("sqlite",)).specs() for backend in spec.backends
    } == {"sqlite"}


def test_an_unknown_backend_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UnknownName, match=r"'sqlit'.*memory, sqlite"):
        Target("langgraph", backends=("sqlit",)).specs()


def test_without_a_path_the_usual_planes_are_measured_and_with_everything_all() -> None:
    usual, all_ = Target("langgraph").specs(), Target("langgraph", everything=True).specs()
    assert [spec.path for spec in usual] == ["graph"]
    assert {spec.path for spec in all_} >= {"graph", "subgraph", "functional"}
    assert {backend.name for backend in all_[0].backends} > {backend.name for backend in usual[0].backends}


def test_a_path_behind_a_slash_is_the_only_one_measured() -> None:
    (target,) = parse_target("langgraph/functional[sqlite]@1.2.9")
    assert target == Target("langgraph", path="functional", backends=("sqlite",), version="1.2.9")
    assert [spec.path for spec in target.specs()] == ["functional"]


def test_an_unknown_path_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UnknownName, match=r"'graf'.*graph, subgraph"):
        Target("langgraph", path="graf").specs()


def test_planes_that_several_targets_name_are_measured_once_with_all_their_backends() -> None:
    planes = planes_of(
        [Target("langgraph", backends=("sqlite",)), Target("langgraph", backends=("memory",)), Target("langgraph")]
    )
    assert len({(spec.name, spec.path) for spec in planes}) == len(planes)
    for spec in planes:
        names = [backend.name for backend in spec.backends]
        assert len(set(names)) == len(names)
        assert {"sqlite", "memory"} <= set(names)
