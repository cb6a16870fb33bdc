"""RD: copies of one log, recovered apart."""

from histories import PLAIN, Protocol, cell, story

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Measured
from resumption.history.events import Durable, Phase

RD = Property.RECOVERY_DETERMINISM


def crashed() -> Protocol:
    p = Protocol(PLAIN)
    p.start()
    p.runs("a", sees=[])
    p.begins("b", sees=["a"])
    p.dies()
    return p


def finish(p: Protocol, copy: str) -> int:
    asked = p.recover(copy)
    p.runs("b", sees=["a"])
    p.runs("c", sees=["a", "b"])
    p.returns("a", "b", "c")
    return asked.number


def test_copies_that_take_the_same_decisions_conform() -> None:
    p = crashed()
    first, second = finish(p, "copy1"), finish(p, "copy2")
    assert cell(p, RD).witnesses == (first, second)


def test_copies_that_take_other_decisions_breach() -> None:
    p = crashed()
    finish(p, "copy1")
    p.recover("copy2")
    p.runs("c", sees=["a"])
    p.returns("a", "c")
    assert cell(p, RD).findings[0].summary == (
        "recoveries of identical logs differ: "
        "copy1 started `b`, fired `email`, started `c`, fired `ship`, ended in a return, "
        "and copy2 started `c`, fired `ship`, ended in a return"
    )


def test_copies_that_differ_only_in_an_effect_breach() -> None:
    p = crashed()
    finish(p, "copy1")
    p.recover("copy2")
    p.begins("b", sees=["a"])
    p.ends("b", write=["b"])
    p.runs("c", sees=["a", "b"])
    p.returns("a", "b", "c")
    assert cell(p, RD).measured is Measured.BREACHES


def test_effect_that_one_copy_only_began_did_not_fire_there() -> None:
    p = crashed()
    for copy, fired in (("copy1", True), ("copy2", False)):
        p.recover(copy)
        p.begins("b", sees=["a"])
        p.fires("email", fired=fired)
        p.returns("a", "b", "c")
    assert "and copy2 started `b`, ended in a return" in story(cell(p, RD))


def test_copy_that_was_only_looked_at_is_not_compared() -> None:
    p = crashed()
    finish(p, "copy1")
    p.inspect("copy2")
    p.shows("a")
    assert cell(p, RD).measured is Measured.UNEXERCISED


def test_one_copy_refused_and_the_other_finished_breaches() -> None:
    p = crashed()
    for copy, end in (("copy1", p.raises), ("copy2", lambda: p.returns("a"))):
        p.recover(copy)
        end()
    assert "copy1 ended in a raise, and copy2 ended in a return" in story(cell(p, RD))


def test_copy_that_died_is_not_compared() -> None:
    p = crashed()
    finish(p, "copy1")
    p.recover("copy2")
    p.dies()
    assert cell(p, RD).measured is Measured.UNEXERCISED


def test_recoveries_of_the_main_line_are_not_compared() -> None:
    p = crashed()
    finish(p, "b0")
    finish(p, "copy1")
    assert cell(p, RD).measured is Measured.UNEXERCISED


def test_copies_whose_bytes_differ_show_nothing() -> None:
    p = crashed()
    p.events += [Durable(process=0, of="copy1", sha256="1"), Durable(process=0, of="copy2", sha256="2")]
    finish(p, "copy1")
    finish(p, "copy2")
    assert cell(p, RD).measured is Measured.UNDETERMINED


def crash_in_order(p: Protocol, branch: str, *stored: str) -> None:
    p.start(branch)
    p.begins("a", sees=[])
    for task in stored:
        p.stores(task)
    p.dies()


def test_orders_whose_recoveries_agree_conform_in_a_facet_of_their_own() -> None:
    p = Protocol(PLAIN)
    crash_in_order(p, "order1", "a", "b")
    crash_in_order(p, "order2", "b", "a")
    first, second = finish(p, "order1"), finish(p, "order2")
    assert cell(p, RD, Facet.ORDER).witnesses == (first, second)
    assert cell(p, RD).measured is Measured.UNEXERCISED


def test_orders_whose_recoveries_differ_breach_in_that_facet() -> None:
    p = Protocol(PLAIN)
    crash_in_order(p, "order1", "a", "b")
    crash_in_order(p, "order2", "b", "a")
    finish(p, "order1")
    p.recover("order2")
    p.returns("a", "b")
    assert "logs that differ in the order of two unordered writes" in story(cell(p, RD, Facet.ORDER))
    assert cell(p, RD).measured is Measured.UNEXERCISED


def test_logs_that_hold_different_writes_show_nothing_of_order() -> None:
    p = Protocol(PLAIN)
    crash_in_order(p, "order1", "a", "b")
    crash_in_order(p, "order2", "b")
    finish(p, "order1")
    finish(p, "order2")
    assert cell(p, RD, Facet.ORDER).measured is Measured.UNEXERCISED


def test_a_process_killed_while_it_wrote_leaves_a_log_that_shows_nothing_of_order() -> None:
    p = Protocol(PLAIN)
    crash_in_order(p, "order1", "a", "b")
    p.start("order2")
    p.begins("a", sees=[])
    p.stores("b")
    p.stores("a")
    p.stores("c", phase=Phase.BEGIN)
    p.dies()
    finish(p, "order1")
    p.recover("order2")
    p.returns("a", "b")
    assert cell(p, RD, Facet.ORDER).measured is Measured.UNEXERCISED
