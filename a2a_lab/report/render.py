"""Makes the page of an executed notebook: one HTML file that asks no server for anything.

The style and the one script stand in the file; a content security policy allows exactly that script by its hash, so
that markup which slipped through all escaping would still not run, and nothing can be fetched. Code cells show their
outputs only, unless they are tagged `show-input`.
"""

from __future__ import annotations

import base64
import errno
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from a2a_lab import __version__
from a2a_lab.errors import Misuse
from a2a_lab.report.html import STYLE_TYPE, escape
from a2a_lab.report.notebooks import nbformat

TEMPLATE = Path(__file__).parent / "template"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OUTPUT_CAP = 20_000  # characters of plain output; a notebook that prints a log is not the page's reader


def page(notebook: Any, *, now: datetime) -> str:
    """The HTML of an executed notebook; `now` stands in its title bar, in UTC."""
    nbformat()  # first, so that nbconvert finds it without the grammar
    from nbconvert.exporters.templateexporter import TemplateExporter

    # Not HTMLExporter: it parses the finished page and writes it anew; what is parsed twice can be read in two ways.
    exporter: Any = TemplateExporter(  # type: ignore[no-untyped-call]
        template_name=TEMPLATE.name, template_file="index.html.j2", extra_template_basedirs=[str(TEMPLATE.parent)]
    )
    prose = _Prose()
    exporter.register_filter("prose", prose)
    exporter.register_filter("shown_output", shown_output)
    exporter.register_filter("text", lambda source: escape(source, cap=_OUTPUT_CAP))
    for cell in notebook.cells:  # once ahead, since the bar lists the sections that come below it
        if cell.cell_type == "markdown":
            prose(cell)
    prose.restart()
    html, _ = exporter.from_notebook_node(notebook, resources={"page": _around(notebook, now, prose.sections)})
    return str(html)


def write_page(notebook: Any, path: Path, *, now: datetime) -> Path:
    """Write the page, whole or not at all. `Misuse` where the file cannot be written."""
    html = page(notebook, now=now)
    half = make_place(path)
    try:
        half.write_text(html, encoding="utf-8")
        os.replace(half, path)
    except OSError as fault:
        half.unlink(missing_ok=True)
        raise _unwritable(path, fault) from fault
    return path


def make_place(path: Path) -> Path:
    """Make the folder of a page; gives where it is written first. `Misuse` where no page can be: ask before a run."""
    half = path.parent / f"{path.name}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        half.touch()
        half.unlink()
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    return half


def _unwritable(path: Path, fault: OSError) -> Misuse:
    return Misuse(f"cannot write the page {path}: {fault.strerror}. Name a writable file")


def _around(notebook: Any, now: datetime, sections: list[dict[str, str]]) -> dict[str, Any]:
    script = (TEMPLATE / "page.js").read_text(encoding="utf-8").strip()
    css = [(TEMPLATE / name).read_text(encoding="utf-8") for name in ("fragments.css", "page.css")]
    utc = now.astimezone(UTC)
    return {
        "title": escape(str(notebook.metadata.get("title") or "A2A interop findings"), cap=80),
        "time": f"{utc:%Y-%m-%dT%H:%M:%SZ}",
        "time_shown": f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        "tool": f"a2a-lab {__version__}",
        "css": _tight_css("\n".join(css)),
        "js": script,
        "csp": policy(script),
        "sections": sections,
    }


def policy(script: str) -> str:
    """A content security policy under which this one script runs and nothing is fetched."""
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    )


def _tight_css(css: str) -> str:
    return re.sub(r"\n\s+", "\n", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)).strip()


class _Prose:
    """Markdown of a notebook as HTML, with raw HTML escaped, headings shifted and their ids collected as sections."""

    def __init__(self) -> None:
        import mistune

        outer = self

        class Renderer(mistune.HTMLRenderer):
            def heading(self, text: str, level: int, **attrs: Any) -> str:
                return outer.heading(text, level)

        self._markdown = mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table"])
        self.sections: list[dict[str, str]] = []
        self._shift, self._is_part = 0, False
        self._ids: dict[str, int] = {}

    def restart(self) -> None:
        """Give the same ids again on a second pass."""
        self._ids = {}

    def __call__(self, cell: Any) -> str:
        where = cell.metadata.get("a2a_lab", {})
        self._shift, self._is_part = where.get("shift", 0), where.get("part", False)
        return str(self._markdown(cell.source))

    def heading(self, text: str, level: int) -> str:
        level = min(level + self._shift, 6)
        plain = re.sub(r"<[^>]*>", "", text)
        name = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "section"
        self._ids[name] = count = self._ids.get(name, 0) + 1
        name = name if count == 1 else f"{name}-{count}"
        section = {"id": name, "title": plain}
        if level == 2 and section not in self.sections:
            self.sections.append(section)
        part = ' class="part"' if self._is_part else ""
        return f'<h{level} id="{name}"{part}>{text}</h{level}>\n'


def shown_output(output: Any) -> str:
    """One output of a code cell as HTML. Markup is taken from our own kind of output; all other text is escaped."""
    if output.output_type == "stream":
        return _block("output-text", output.text)
    if output.output_type == "error":
        return _block("output-error", "\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    data = output.get("data", {})
    if STYLE_TYPE in data:
        return ""
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        return f'<img alt="figure" src="data:image/png;base64,{escape(data["image/png"].strip(), cap=10_000_000)}">'
    return _block("output-text", data.get("text/plain", ""))


def _block(kind: str, text: str) -> str:
    lines = _ANSI.sub("", text).rstrip().splitlines()
    return f'<pre class="{kind}">{_joined(lines)}</pre>' if lines else ""


def _joined(lines: Iterable[str]) -> str:
    """Lines escaped one by one: a line feed is layout here, every other control character is shown."""
    text = "\n".join(escape(line, cap=2000) for line in lines)
    return text if len(text) <= _OUTPUT_CAP else f"{text[:_OUTPUT_CAP]}\n… (cut)"
