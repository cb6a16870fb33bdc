"""The page, in a real browser: it needs nothing but itself, obeys nothing that was recorded, and anyone can read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from receipts import HOSTILE, cell, crashed, race, receipt, told

from resumption.contract.properties import CONTRACT, Property
from resumption.contract.verdicts import Facet, Finding, Label
from resumption.harness.comparison import compare
from resumption.harness.policy import ExitCode, Policy
from resumption.harness.receipts import Receipt
from resumption.report.html import html_page
from resumption.report.view import View

Open = Callable[..., Any]

_EVENTS = 100_000
_PATIENCE_SECONDS = 3.0


def _write(made: Receipt, path: Path, **more: Any) -> Path:
    page = html_page(View(receipt=made, policy=Policy(), code=ExitCode.FINDINGS), **more)
    path.write_text(page, encoding="utf-8")
    return path


def _sample() -> Receipt:
    history, evil = crashed(), crashed(HOSTILE)
    return receipt(
        cell(label=Label.VIOLATES, findings=(told(history),), histories=("other", "story"), form="bare"),
        cell(label=Label.HOLDS, histories=("story",), form="map", primary=False),
        cell(Property.EFFECT_EXACTLY_ONCE, Label.DIVERGENT, findings=(told(history),), facet=Facet.WINDOW),
        cell(Property.EFFECT_EXACTLY_ONCE, Label.HOLDS, histories=("story",)),
        cell(Property.FORK_DETERMINISM, Label.UNDOCUMENTED, findings=(Finding(HOSTILE, told(evil).story),),
             histories=("evil",)),
        cell(Property.LIVENESS, Label.INCONCLUSIVE, reason=HOSTILE, accepted=HOSTILE),
        cell(Property.READ_INERTNESS, Label.NOT_RUN, reason="No database here."),
        cell(Property.FORK_INTENT, Label.VACUOUS, reason="Nothing forked.", plane="other"),
        cell(Property.CHECKPOINT_VALIDITY, Label.NOT_APPLICABLE, reason="It stores nothing.", plane="other"),
        story=history,
        other=crashed("maybe"),
        evil=evil,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a receipt with every label, and hostile text wherever text is chosen by others."""
    before = receipt(cell(label=Label.HOLDS, form="bare"), cell(Property.EFFECT_EXACTLY_ONCE, Label.HOLDS))
    since = compare(before, _sample(), names=(HOSTILE, "now"))
    return _write(_sample(), tmp_path_factory.mktemp("page") / "report.html", comparison=since, race=race())


@contextmanager
def _opened(browser: Browser, file: Path, fragment: str = "", **context: Any) -> Iterator[Page]:
    """The page in a context of its own. Fails if it logged anything, or asked for anything but itself."""
    said: list[str] = []
    asked: list[str] = []
    opened = browser.new_context(**context)
    page = opened.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{file.as_uri()}{fragment}")
    yield page
    opened.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked} == {file.as_uri()}


def test_the_page_needs_nothing_but_itself_and_breaks_no_policy(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("What “resume” means for frame 1.2.3, other 1.2.3")
        policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
        assert str(policy).startswith("default-src 'none'; style-src 'sha256-")
        assert page.evaluate("getComputedStyle(document.querySelector('.mark')).fontWeight") == "600", "its style is on"


def test_what_was_recorded_is_shown_and_never_run(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample, "#frame-1.2.3-graph-sqlite-FD") as page:
        assert page.evaluate("window.owned") is None
        summary = page.locator("details.square[open] .story .summary")
        expect(summary).to_contain_text("</script><script>window.owned = 1</script>")
        expect(summary).to_contain_text("\\x00\\x07\\x1b[31m\\u202eevil\\u2028 🦜 שלום")
        lanes = page.locator("details.square[open] table.lanes")
        expect(lanes).to_contain_text("<img src=x onerror=")
        assert page.locator("img, script[src], iframe, [style], [onclick]").count() == 0


def test_a_cell_of_the_matrix_opens_its_story_and_its_history_by_keyboard(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        square = page.get_by_role("link", name="CO-e violates: frame 1.2.3 graph sqlite")
        square.focus()
        page.keyboard.press("Enter")
        opened = page.locator("details.square[open]")
        expect(opened).to_have_count(1)
        expect(opened.locator("summary").first).to_be_focused()
        expect(opened.locator(".story li").nth(1)).to_contain_text("effect charge of task approve fired on branch b0")
        told_rows = opened.locator("table.lanes tr.told")
        expect(told_rows).to_have_count(4)
        expect(told_rows.nth(1)).to_contain_text('effect charge fires "yes"')
        expect(opened.locator(".again code").first).to_have_text(
            "resumption check 'frame/graph[sqlite]@1.2.3' --probe consume/contradiction-after-crash"
        )


def test_a_comparison_tells_what_both_have_and_what_became_of_it(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        changed = page.get_by_role("region", name="Cells that changed")
        expect(changed.locator("tbody tr")).to_have_count(1)
        expect(changed.locator("tbody tr")).to_contain_text("frame/graph/sqlite/CO-e/deliver/bare")
        expect(changed.locator("tbody tr")).to_contain_text("regressed")


def test_planes_are_told_apart_by_what_holds_on_one_and_breaks_on_the_other(browser: Browser, tmp_path: Path) -> None:
    planes = receipt(
        cell(Property.FORK_DETERMINISM, Label.VIOLATES, plane="one"),
        cell(Property.FORK_DETERMINISM, Label.HOLDS, plane="other"),
    )
    with _opened(browser, _write(planes, tmp_path / "two.html")) as page:
        rows = page.get_by_role("region", name="Planes, and what separates them").locator("tbody tr")
        assert [row.split() for row in rows.all_inner_texts()] == [
            ["1", "one", "1.2.3", "graph", "sqlite", "·", "FD"],
            ["2", "other", "1.2.3", "graph", "sqlite", "FD", "·"],
        ]


def test_a_race_is_shown_in_numbers_and_as_a_drawing_with_a_name(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        rows = page.locator("table.heat tbody tr").all_inner_texts()
        assert [row.split() for row in rows] == [
            ["2", "1.00", "2×1", "1.00", "2×1"],
            ["4", "0.25", "1×1", "0.25", "1×1"],
        ]
        expect(page.locator("table.heat td.shade-5")).to_have_count(2)
        expect(page.locator("table.heat td.shade-0")).to_have_count(2)
        drawing = page.get_by_role(
            "img", name="frame 1.2.3 graph sqlite, 80 ms of work in the gate: fires for each racer"
        )
        expect(drawing).to_be_visible()
        expect(drawing.locator("polyline")).to_have_count(2)


def test_another_history_of_the_probe_can_be_chosen(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample, "#frame-1.2.3-graph-sqlite-CO-e") as page:
        lanes = page.locator("details.square[open] table.lanes").first
        expect(lanes).to_contain_text('approve consumes "yes"')
        page.locator("label.choice select").first.select_option("1")
        expect(lanes).to_contain_text('approve consumes "maybe"')
        expect(lanes.locator("tr.told")).to_have_count(0)


def test_the_filters_leave_what_was_asked_for(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        page.locator("select[name=label]").select_option("violates")
        expect(page.locator("details.square:visible")).to_have_count(1)
        expect(page.get_by_role("status")).to_have_text("1 of 7 shown")
        page.locator("select[name=label]").select_option("")
        page.locator("select[name=plane]").select_option("other")
        expect(page.locator("details.square:visible")).to_have_count(2)
        page.locator("select[name=property]").select_option("FI")
        expect(page.locator("details.square:visible")).to_have_count(1)


def test_everything_but_the_other_histories_reads_without_scripts(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample, java_script_enabled=False) as page:
        expect(page.locator("form.filters")).to_be_hidden()
        page.get_by_role("link", name="CO-e violates: frame 1.2.3 graph sqlite").click()
        opened = page.locator("details.square[open]")
        expect(opened.locator(".story li").first).to_be_visible()
        opened.locator("details.history > summary").first.click()
        expect(opened.locator("table.lanes tr.told")).to_have_count(4)
        expect(opened.locator("table.lanes").first).to_contain_text('effect charge fires "yes"')


def test_scripts_and_no_scripts_draw_the_same_lanes(browser: Browser, sample: Path) -> None:
    rows = []
    for scripts in (True, False):
        with _opened(browser, sample, "#frame-1.2.3-graph-sqlite-CO-e", java_script_enabled=scripts) as page:
            opened = page.locator("details.square[open]")
            if not scripts:
                opened.locator("details.history > summary").first.click()
            table = opened.locator("table.lanes").first
            rows.append([" ".join(text.split()) for text in table.locator("tr").all_inner_texts()])
    assert rows[0] == rows[1]
    assert len(rows[0]) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_no_barrier(browser: Browser, sample: Path, screenshots: Path, scheme: str, width: int) -> None:
    shape = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with _opened(browser, sample, "#frame-1.2.3-graph-sqlite-CO-e", **shape) as page:
        expect(page.locator("details.square[open] table.lanes").first).to_be_visible()
        page.screenshot(path=screenshots / f"report-{scheme}-{width}.png", full_page=True)
        found = Axe().run(page).response
        assert [(found["id"], [node["target"] for node in found["nodes"]]) for found in found["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "the page itself never scrolls aside"
        )


def test_axe_finds_a_barrier_where_there_is_one(browser: Browser, sample: Path) -> None:
    with _opened(browser, sample) as page:
        page.evaluate("document.querySelector('select').closest('label').replaceWith(document.querySelector('select'))")
        assert "select-name" in [found["id"] for found in Axe().run(page).response["violations"]]


def test_a_receipt_of_a_hundred_thousand_events_opens_at_once(browser: Browser, tmp_path: Path) -> None:
    histories = {f"h{number}": crashed(rounds=500) for number in range(_EVENTS // 1000)}
    events = sum(len(history.events) for history in histories.values())
    assert events >= _EVENTS
    cells = [
        cell(
            property_, Label.VIOLATES, findings=(told(histories["h0"]),), histories=tuple(histories), plane=f"p{number}"
        )
        for number in range(10)
        for property_ in CONTRACT
    ]
    file = _write(receipt(*cells, **histories), tmp_path / "large.html")
    before = _seconds_of_cpu(browser)
    with _opened(browser, file) as page:
        expect(page.get_by_role("status")).to_have_text("90 of 90 shown")
        page.get_by_role("link", name="FD violates: p9 1.2.3 graph sqlite").click()
        expect(page.locator("details.square[open] table.lanes tr.told")).to_have_count(4)
        assert _seconds_of_cpu(browser) - before < _PATIENCE_SECONDS


def _seconds_of_cpu(browser: Browser) -> float:
    """What all of the browser's processes have used: unlike the time that passes, no other program adds to it."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return float(sum(process["cpuTime"] for process in processes))
