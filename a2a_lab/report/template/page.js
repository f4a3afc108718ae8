"use strict";
// Opens what a link points to, sorts tables, filters by text and by disagreement. All state is in the hash:
// #anchor?show=disagreements&q=cedar&sort=cells-trusting.4.d, so that a link shows what its sender saw.
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const root = document.documentElement, box = document.getElementById("q"), count = document.getElementById("count");
  root.classList.add("js");

  const facts = new Map(), pairs = new Map();
  for (const chip of all("a.cell")) {
    const { cell, pair, works } = chip.dataset, everyone = "everyone" in chip.dataset;
    for (const id of cell.split(" ")) {
      const known = facts.get(id);
      facts.set(id, { pair, everyone: everyone || Boolean(known && known.everyone) });
    }
    if (works) pairs.set(pair, (pairs.get(pair) || new Set()).add(works));
  }
  const disagrees = (id) => facts.has(id) && pairs.has(facts.get(id).pair) && pairs.get(facts.get(id).pair).size > 1;
  for (const chip of all("a.cell")) chip.classList.toggle("disagrees", disagrees(chip.dataset.cell.split(" ")[0]));
  // A filter that could show nothing is no help: pages of one run, or of one agent, have fewer.
  const useful = { all: facts.size, disagreements: [...facts.keys()].some(disagrees), everyone: [...facts.values()].some((fact) => fact.everyone) };
  for (const button of all("[data-show]")) button.hidden = !useful[button.dataset.show];
  document.getElementById("open").hidden = !document.querySelector("details.evidence");

  const tables = new Map(all("table.sortable").map((table) => [table.dataset.name, table]));
  for (const table of tables.values()) table.rows0 = [...table.tBodies[0].rows];

  let state = { at: "", show: "all", q: "", sort: "" };
  const parse = () => {
    const [at, rest = ""] = location.hash.slice(1).split("?"), given = new URLSearchParams(rest);
    return { at, show: given.get("show") || "all", q: given.get("q") || "", sort: given.get("sort") || "" };
  };
  const written = (next) => {
    const kept = new URLSearchParams();
    if (next.show !== "all") kept.set("show", next.show);
    for (const name of ["q", "sort"]) if (next[name]) kept.set(name, next[name]);
    return `#${next.at}${kept.size || !next.at ? `?${kept}` : ""}`; // "#" alone would scroll to the top
  };
  const keep = (change) => {
    state = { ...state, ...change };
    // A page opened from a file may not rewrite its history with a state object; replacing the location may.
    location.replace(written(state));
    apply();
  };

  const wanted = { all: () => true, disagreements: disagrees, everyone: (id) => facts.has(id) && facts.get(id).everyone };
  const apply = () => {
    const test = wanted[state.show] || wanted.all, text = state.q.trim().toLowerCase();
    const fits = (node) => {
      const ids = (node.dataset.cells || node.dataset.cell || "").split(" ").filter(Boolean);
      if (!ids.length) return !text || node.textContent.toLowerCase().includes(text);
      return ids.some((id) => test(id) && (!text || id.toLowerCase().includes(text)))
        || (ids.some(test) && node.textContent.toLowerCase().includes(text));
    };
    for (const chip of all("a.cell")) chip.classList.toggle("dimmed", !fits(chip));
    for (const row of all("table.sortable tbody tr")) row.hidden = !fits(row);
    let shown = 0;
    const evidence = all("details.evidence");
    for (const node of evidence) { node.hidden = !fits(node); shown += !node.hidden; }
    count.textContent = state.show === "all" && !text ? "" : `${shown} of ${evidence.length} cells`;
    for (const button of all("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === state.show));
    if (box.value !== state.q) box.value = state.q;
    order();
  };

  const value = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim(), number = Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  const order = () => {
    const [name, column, way] = state.sort.split(".");
    for (const [own, table] of tables) {
      const sorted = own === name && column in table.tHead.rows[0].cells, down = way === "d";
      for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
        if (sorted && place === Number(column)) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      }
      const rows = [...table.rows0];
      if (sorted) rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    }
  };

  const open = () => {
    all(".at").forEach((node) => node.classList.remove("at"));
    const node = state.at && document.getElementById(state.at);
    if (!node) return;
    if (node.matches("details")) { node.hidden = false; node.open = true; node.classList.add("at"); }
    node.scrollIntoView({ block: "start" });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']"), sorter = event.target.closest(".sortable th button");
    const show = event.target.closest("[data-show]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const next = written({ ...state, at: link.getAttribute("href").slice(1) });
      if (location.hash === next) open(); else location.hash = next;
    } else if (sorter) {
      const head = sorter.closest("th"), name = head.closest("table").dataset.name;
      const way = head.getAttribute("aria-sort") === "descending" ? "a" : head.hasAttribute("aria-sort") ? "d" : firstWay(head);
      keep({ sort: `${name}.${head.cellIndex}.${way}` });
    } else if (show) keep({ show: show.dataset.show });
    else if (event.target.id === "open") {
      const nodes = all("details.evidence:not([hidden])"), closed = nodes.some((node) => !node.open);
      for (const node of nodes) node.open = closed;
      event.target.textContent = closed ? "close all" : "open all";
    }
  });
  // Figures are asked for the largest first, words from A on.
  const firstWay = (head) => {
    const row = head.closest("table").tBodies[0].rows[0];
    return row && typeof value(row, head.cellIndex) === "number" ? "d" : "a";
  };
  box.addEventListener("input", () => keep({ q: box.value }));
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    const moved = parse().at !== state.at;
    state = parse();
    apply();
    if (moved) open();
  });

  let before = [];
  addEventListener("beforeprint", () => { before = all("details.evidence:not([open])"); before.forEach((node) => { node.open = true; }); });
  addEventListener("afterprint", () => before.forEach((node) => { node.open = false; }));

  state = parse();
  apply();
  open();
})();
