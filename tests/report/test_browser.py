"""The page in a real browser: nothing is fetched, nothing hostile runs, links, filters and sorting do what they say."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import inprocess
import pytest
import synthetic_field
import synthetic_runs as synthetic

from a2a_lab.report.again import report_again
from a2a_lab.report.html import anchor

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HANG = anchor("cedar@0.9/dash/JSONRPC/1.0/default/trusting/1")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("page")
    folders = {posture: synthetic.write_seven(root, posture) for posture in ("trusting", "enforcing")}
    (root / "page.html").write_text(inprocess.page_of(folders), encoding="utf-8")
    return root / "page.html"


class Opened:
    """A page with what it asked for and what it complained about."""

    def __init__(self, browser: Any, path: Path, hash_: str = "", **context: Any) -> None:
        self.requests: list[str] = []
        self.said: list[str] = []
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.goto(f"file://{path}{hash_}")


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    opened: list[Opened] = []

    def open_(path: Path, hash_: str = "", **context: Any) -> Opened:
        opened.append(Opened(browser, path, hash_, **context))
        return opened[-1]

    yield open_
    for page in opened:
        page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_asks_for_nothing_but_itself(open_page: Any, plain: Path, scheme: str) -> None:
    opened = open_page(plain, color_scheme=scheme)
    opened.page.wait_for_timeout(200)
    assert opened.requests == [f"file://{plain}"]
    assert opened.said == []
    assert opened.page.evaluate("document.documentElement.classList.contains('js')")


def test_light_and_dark_differ_and_both_are_readable(open_page: Any, plain: Path) -> None:
    colours = "(() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; })()"
    light, dark = (open_page(plain, color_scheme=scheme).page.evaluate(colours) for scheme in ("light", "dark"))
    assert light[0] != dark[0] and light[1] != dark[1]


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(open_page: Any, plain: Path, width: int) -> None:
    opened = open_page(plain, viewport={"width": width, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width


def test_a_cell_of_the_matrix_opens_its_evidence(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    assert not page.locator(f"details[id='{HANG}']").evaluate("node => node.open")
    page.locator(f"a.cell[href='#{HANG}']").click()
    evidence = page.locator(f"details[id='{HANG}']")
    assert evidence.evaluate("node => node.open")
    assert "transport timeout ended the wait" in evidence.locator(".t-deadline").inner_text()
    assert evidence.evaluate("node => node.getBoundingClientRect().top < innerHeight")


def test_a_link_to_a_cell_works_for_who_receives_it(open_page: Any, plain: Path) -> None:
    assert open_page(plain, f"#{HANG}").page.locator(f"details[id='{HANG}']").evaluate("node => node.open")


def test_without_scripts_the_page_is_whole(open_page: Any, plain: Path) -> None:
    page = open_page(plain, f"#{HANG}", java_script_enabled=False).page
    assert page.locator("a.cell").count() == 14
    assert page.locator("#filters").is_hidden()


def visible(page: Any, selector: str) -> int:
    count: int = page.locator(selector).evaluate_all("nodes => nodes.filter(node => node.checkVisibility()).length")
    return count


def test_disagreements_only_and_fails_with_everyone(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    page.locator("[data-show=disagreements]").click()
    assert visible(page, "details.evidence") == 6
    assert page.locator("a.cell.dimmed").count() == 8
    assert page.locator("#count").inner_text() == "6 of 14 cells"
    page.locator("[data-show=everyone]").click()
    assert visible(page, "details.evidence") == 5
    page.locator("[data-show=all]").click()
    assert visible(page, "details.evidence") == 14


def test_a_page_of_one_run_offers_no_filter_that_could_show_nothing(open_page: Any, tmp_path: Path) -> None:
    folder = synthetic.write_seven(tmp_path, "trusting")
    notebook = inprocess.run_notebook("matrix", {"posture": "trusting", "recorded": str(folder)})
    inprocess.write_page(notebook, tmp_path / "page.html", now=inprocess.NOW)
    page = open_page(tmp_path / "page.html").page
    assert page.locator("[data-show=disagreements]").is_hidden()
    assert page.locator("[data-show=everyone]").is_visible()
    assert page.locator("a.cell").count() == page.locator("details.evidence").count() == 7


def test_filter_and_order_travel_in_the_link(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    page.locator("#q").fill("cedar")
    page.locator("[data-name=cells-trusting] th button", has_text=re.compile("^time$")).click()
    assert "q=cedar" in page.url and "sort=cells-trusting." in page.url
    again = open_page(plain, "#" + page.url.partition("#")[2]).page
    assert again.locator("#q").input_value() == "cedar"
    assert visible(again, "details.evidence") == 4
    assert again.locator("[data-name=cells-trusting] th[aria-sort=descending]").inner_text().startswith("time")


def test_columns_sort_by_value_both_ways(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    button = page.locator("[data-name=cells-trusting] th button", has_text=re.compile("^time$"))
    column = "rows => rows.map(row => row.cells[11].textContent)"
    button.click()
    down = page.locator("[data-name=cells-trusting] tbody tr").evaluate_all(column)
    button.click()
    up = page.locator("[data-name=cells-trusting] tbody tr").evaluate_all(column)
    assert down[0] == up[-1] == "5.36 s" and down[-1] == up[0] == "0.58 s"


def test_a_link_keeps_the_filter_that_was_set(open_page: Any, plain: Path) -> None:
    page = open_page(plain, "#?q=cedar").page
    page.locator(f"a.cell[href='#{HANG}']").click()
    page.wait_for_url(lambda url: url.endswith(f"#{HANG}?q=cedar"))
    page.go_back()
    assert page.locator("#q").input_value() == "cedar"


def test_printing_opens_the_evidence_and_closes_it_again(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.evidence[open]").count() == 14
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.evidence[open]").count() == 0


def test_a_card_named_script_does_nothing(open_page: Any, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    cell = synthetic.cell(synthetic.key("alder"), said=evil, evidence="evidence/x.har", errors=(evil,))
    folders = {}
    for posture in ("trusting", "enforcing"):
        mine = synthetic.replace(cell, key=synthetic.replace(cell.key, posture=posture))
        folders[posture] = synthetic.write(tmp_path / posture, [mine], posture=posture, run=f"run-{posture}")
        exchanges = [synthetic.card_get(f"{evil}<img src=http://192.0.2.1/x onerror=alert(2)>")]
        har = synthetic.to_har(exchanges, started=synthetic.STARTED, tool="a2a-lab 0")
        (folders[posture] / "evidence" / "x.har").write_text(synthetic.json.dumps(har))
    path = tmp_path / "page.html"
    path.write_text(inprocess.page_of(folders), encoding="utf-8")
    opened = open_page(path)
    opened.page.locator("#open").click()
    opened.page.wait_for_timeout(200)
    assert opened.requests == [f"file://{path}"] and opened.said == []
    assert evil in opened.page.locator(".timeline").first.inner_text()


def test_markup_that_slipped_through_would_not_run_either(open_page: Any, plain: Path, tmp_path: Path) -> None:
    """The policy is the belt: an injected script and handler stay dead, and nothing is fetched."""
    markup = plain.read_text(encoding="utf-8")
    injected = (
        '<script>document.title="owned"</script><img src="http://192.0.2.1/x" onerror="document.title=\'owned\'">'
    )
    (tmp_path / "page.html").write_text(
        markup.replace('<main id="main">', f'<main id="main">{injected}'), encoding="utf-8"
    )
    opened = open_page(tmp_path / "page.html")
    opened.page.wait_for_timeout(200)
    assert opened.page.title() == "A2A interop findings"
    assert all("Content Security Policy" in line for line in opened.said) and opened.said
    assert opened.page.evaluate("document.documentElement.classList.contains('js')")


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = synthetic_field.write_field(tmp_path_factory.mktemp("field") / "run")
    return report_again([folder]).page


def test_the_whole_field_fits_the_screen_and_keeps_its_heads_in_sight(open_page: Any, field: Path) -> None:
    opened = open_page(field, viewport={"width": 1280, "height": 900})
    page = opened.page
    assert opened.requests == [f"file://{field}"] and opened.said == []
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    frame = page.locator(".scroll:has(> table.matrix)").first
    frame.evaluate("node => { node.scrollTop = 400; node.scrollLeft = 400; }")
    places = "node => { const f = node.closest('.scroll').getBoundingClientRect(), b = node.getBoundingClientRect(); "
    places += "return [Math.round(b.left - f.left), Math.round(b.top - f.top)]; }"
    assert frame.locator("thead th").first.evaluate(places) == [0, 0]
    assert frame.locator("tbody th").nth(3).evaluate(places)[0] == 0
    assert frame.locator("thead th").nth(5).evaluate(places)[1] == 0
    assert frame.get_attribute("tabindex") == "0"  # reached and scrolled by keyboard


def test_news_and_disagreements_are_a_click_away_and_folds_open_for_what_is_found(open_page: Any, field: Path) -> None:
    page = open_page(field).page
    everything = page.locator("details.evidence").count()
    for show in ("news", "disagreements"):
        page.locator(f"[data-show={show}]").click()
        shown = int(page.locator("#count").inner_text().split(" ")[0])
        assert 0 < shown < everything / 2 and f"show={show}" in page.url
        assert visible(page, "details.evidence") == shown
    page.locator("[data-show=all]").click()
    assert page.locator("details.fold[open]").count() == 0


def test_the_search_finds_the_cells_of_a_finding(open_page: Any, field: Path) -> None:
    page = open_page(field, "#?q=newer-card-unreadable").page
    shown = page.locator("details.evidence:not([hidden])")
    assert shown.count() > 5
    lit = page.locator("div.cell:not(.dimmed)")
    assert lit.count() > 5 and page.locator("div.cell.dimmed").count() > 100
    assert all("newer-card-unreadable" in text for text in lit.all_inner_texts())


def test_a_rule_leads_to_its_line_in_the_glossary(open_page: Any, plain: Path) -> None:
    page = open_page(plain).page
    rule = page.locator("a.rule", has_text="R22").first
    assert "probe" in (rule.get_attribute("title") or "")
    rule.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.endswith("#rule-R22"))
    page.locator("#rule-R22.at").wait_for(state="visible")


def test_the_placeholder_of_the_search_is_not_cut(open_page: Any, plain: Path) -> None:
    box = open_page(plain).page.locator("#q")
    assert box.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert box.get_attribute("placeholder") and "finding" in (box.get_attribute("aria-label") or "")


def test_paper_has_no_frames_that_cut_and_explains_its_words(open_page: Any, plain: Path) -> None:
    page = open_page(plain, viewport={"width": 1280, "height": 900}).page
    page.emulate_media(media="print")
    assert page.locator("#filters").is_hidden() and page.locator("nav").is_hidden()
    cut = "nodes => nodes.filter(n => getComputedStyle(n).overflowY !== 'visible').length"
    assert page.locator(".scroll").evaluate_all(cut) == 0
    assert page.locator("#rule-R30").is_visible()


HOSTILE = "‮evil⁦" + "W" * 230 + "́" * 40 + "<script>alert(1)</script>‏"


def test_a_page_of_hostile_names_keeps_its_shape_and_runs_nothing(open_page: Any, tmp_path: Path) -> None:
    """Very long names, marks of direction, control characters and markup, wherever a vendor can put a word."""
    name = HOSTILE.replace("/", "-")
    found = synthetic.finding(
        "mode-narrowed", synthetic.Stage.PROBE, synthetic.Verdict.HINT, detail=f"\x1b[31m{HOSTILE}"
    )
    keys = [synthetic.key(name, consumer, "foreign", scenario="send") for consumer in ("notes", name[::-1])]
    cells = [
        synthetic.cell(key, synthetic.Verdict.REFUSE, [found], said=HOSTILE, errors=(HOSTILE,), orphans=())
        for key in keys
    ]
    folder = synthetic.write(tmp_path / "run", cells, posture="foreign", matrix="real", parameters={"matrix": "real"})
    opened = open_page(report_again([folder]).page, viewport={"width": 1280, "height": 900})
    opened.page.locator("#open").click()
    opened.page.wait_for_timeout(100)
    assert opened.said == [] and len(opened.requests) == 1
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 1280
    shown = opened.page.locator("main").inner_text()
    assert not set(shown) & set("‮⁦‏\x1b") and "⟨U+202E⟩" in shown
