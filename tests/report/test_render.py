"""The page (DESIGN 8): one file, no external URL, and nothing that a vendor wrote runs or leaks."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import inprocess
import pytest
import synthetic_runs as synthetic

from a2a_lab.errors import Misuse
from a2a_lab.report.notebooks import join, nbformat, read_notebook, run_folders
from a2a_lab.report.render import page, policy, shown_output, write_page

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def markup(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("runs")
    return inprocess.page_of({posture: synthetic.write_seven(root, posture) for posture in ("trusting", "enforcing")})


class Elements(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_names_no_url_outside_itself(markup: str) -> None:
    for name, attributes in Elements(markup).found:
        for attribute in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(attribute)
            assert value is None or value.startswith(("#", "data:")), (name, attribute, value)
    styles = "".join(re.findall(r"<style>(.*?)</style>", markup, re.DOTALL))
    assert "url(" not in styles.replace("url(#", "") and "@import" not in styles


def test_the_policy_allows_the_one_script_of_the_page_and_no_fetch(markup: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", markup, re.DOTALL)
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    (given,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', markup)
    assert given == policy(script)
    assert f"script-src 'sha256-{digest}'" in given and given.startswith("default-src 'none'")
    assert "<script" not in script


def test_the_page_of_the_seven_pairs_is_small(markup: str) -> None:
    assert len(markup.encode()) < 400_000


def test_ids_are_unique_and_every_link_leads_somewhere(markup: str) -> None:
    elements = Elements(markup).found
    ids = [attributes["id"] for _, attributes in elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    targets = {str(attributes["href"])[1:] for _, attributes in elements if str(attributes.get("href")).startswith("#")}
    assert targets <= set(ids)


def test_the_bar_lists_the_sections_and_says_when_in_utc(markup: str) -> None:
    sections = re.findall(r'<a href="#[^"]*">([^<]*)</a>', markup.partition("</nav>")[0])
    assert sections == ["Matrix", "Cost", "Differences", "Runs", "Trusting", "Enforcing", "Words", "Sources"]
    assert '<time datetime="2026-11-30T12:46:40Z">2026-11-30 12:46:40 UTC</time>' in markup


def test_what_both_parts_would_repeat_is_shown_once(markup: str) -> None:
    assert markup.count("<h1") == 1
    assert markup.count('class="tiles"') == 1
    assert markup.count('<a class="cell') == 14
    assert markup.count('<details class="evidence"') == 14
    assert "def accept_parameters" not in markup and "run_matrix" not in markup


def test_no_path_of_this_machine_is_on_the_page(markup: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert str(tmp_path_factory.getbasetemp()) not in markup
    assert str(Path.home()) not in markup


def test_what_a_vendor_wrote_is_text_everywhere(tmp_path: Path) -> None:
    evil = EVIL.replace("/", "")
    cell = synthetic.cell(
        synthetic.key(evil, evil),
        synthetic.Verdict.REFUSE,
        [synthetic.finding(EVIL, synthetic.Stage.RPC, synthetic.Verdict.REFUSE, detail=EVIL, clause=EVIL, other=EVIL)],
        said=EVIL,
        mode=EVIL,
        closure=EVIL,
        errors=(EVIL,),
        orphans=(
            synthetic.Orphan(
                agent=EVIL, task_id=EVIL, artifact_or_message_id=EVIL, media_type=EVIL, bytes=1, state=EVIL
            ),
        ),
        card_digest=EVIL,
    )
    folders = {}
    for posture in ("trusting", "enforcing"):
        mine = synthetic.replace(cell, key=synthetic.replace(cell.key, posture=posture))
        more = {"matrix": EVIL, "parameters": {EVIL: EVIL}, "tool": EVIL, "run": f"run-{posture}"}
        folders[posture] = synthetic.write(tmp_path / posture, [mine], posture=posture, **more)
    markup = inprocess.page_of(folders)
    found = Elements(markup).found
    assert [name for name, _ in found].count("script") == 1
    assert not [name for name, _ in found if name == "img"]
    assert not [attributes for _, attributes in found if any(name.startswith("on") for name in attributes)]
    assert "&lt;script&gt;alert(1)" in markup


def notebook_of(*cells: Any) -> Any:
    return nbformat().v4.new_notebook(cells=list(cells), metadata={"title": "<b>x</b>"})


def test_other_outputs_are_escaped_and_errors_are_shown() -> None:
    new = nbformat().v4
    stream = new.new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m <b>\n")
    error = new.new_output("error", ename="Misuse", evalue="<i>", traceback=["\x1b[1mTraceback <i>\x1b[0m"])
    plain = new.new_output("execute_result", data={"text/plain": "<u>"})
    image = new.new_output("display_data", data={"image/png": "aGk=\n"})
    assert shown_output(stream) == '<pre class="output-text">red &lt;b&gt;</pre>'
    assert shown_output(error) == '<pre class="output-error">Traceback &lt;i&gt;</pre>'
    assert shown_output(plain) == '<pre class="output-text">&lt;u&gt;</pre>'
    assert shown_output(image) == '<img alt="figure" src="data:image/png;base64,aGk=">'


def test_code_is_hidden_unless_it_is_tagged_to_show() -> None:
    new = nbformat().v4
    hidden, seen = new.new_code_cell("a = 1"), new.new_code_cell("b < 2", metadata={"tags": ["show-input"]})
    markup = page(notebook_of(hidden, seen), now=inprocess.NOW)
    assert "a = 1" not in markup and "b &lt; 2" in markup


def test_prose_is_markdown_without_raw_html() -> None:
    cell = nbformat().v4.new_markdown_cell("## A <b>title</b>\n\n*words* <script>x</script>")
    markup = page(notebook_of(cell), now=inprocess.NOW)
    assert "<em>words</em>" in markup and "&lt;script&gt;x" in markup
    assert "<title>&lt;b&gt;x&lt;/b&gt;</title>" in markup


def test_parts_of_equal_headings_get_ids_of_their_own() -> None:
    new = nbformat().v4
    part = notebook_of(new.new_markdown_cell("## Findings"))
    markup = page(join(notebook_of(new.new_markdown_cell("# Top")), [("One", part), ("Two", part)]), now=inprocess.NOW)
    assert '<h3 id="findings">' in markup and '<h3 id="findings-2">' in markup


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    empty = notebook_of()
    with pytest.raises(Misuse, match=r"cannot write the page .*Name a writable file"):
        write_page(empty, tmp_path / "folder", now=inprocess.NOW)
    written = write_page(empty, tmp_path / "deep" / "page.html", now=inprocess.NOW)
    assert written.read_text().startswith("<!DOCTYPE html>") and not list(tmp_path.glob("**/*.tmp"))


def test_a_file_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="there is no notebook"):
        read_notebook(tmp_path / "x.ipynb")
    (tmp_path / "x.ipynb").write_text("{}")
    with pytest.raises(Misuse, match="is no notebook that can be read"):
        read_notebook(tmp_path / "x.ipynb")


def test_an_executed_notebook_names_its_runs(tmp_path: Path) -> None:
    folder = synthetic.write_seven(tmp_path, "trusting")
    executed = inprocess.run_notebook("matrix", {"posture": "trusting", "recorded": str(folder)})
    assert run_folders(executed) == [str(folder)]
