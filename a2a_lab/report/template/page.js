"use strict";
// Opens what a link points to, sorts tables, filters by text and by what the reader asks for. All state is in the hash:
// #anchor?show=disagreements&q=cedar&sort=cells-trusting.4.d, so that a link shows what its sender saw.
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const root = document.documentElement, box = document.getElementById("q"), count = document.getElementById("count");
  root.classList.add("js");

  const cells = (node) => (node.dataset.cells || "").split(" ").filter(Boolean);
  const chips = all(".cell[data-cells]"), evidence = all("details.evidence"), folds = all("details.fold");
  const flags = { disagreements: new Set(), everyone: new Set(), news: new Set() }, known = new Set();
  for (const chip of chips) {
    for (const id of cells(chip)) {
      known.add(id);
      if ("differs" in chip.dataset) flags.disagreements.add(id);
      if ("everyone" in chip.dataset) flags.everyone.add(id);
      if ("news" in chip.dataset) flags.news.add(id);
    }
    chip.classList.toggle("differs", "differs" in chip.dataset);
  }
  // A filter that could show nothing is no help: pages of one run, or of one agent, have fewer.
  for (const button of all("[data-show]")) {
    const wanted = flags[button.dataset.show];
    button.hidden = wanted ? !wanted.size : !known.size;
  }
  document.getElementById("open").hidden = !evidence.length;

  // What a cell is found by: its key, its verdict, what was said of it and every finding; not the text of its timeline.
  const words = new Map();
  const add = (id, text) => words.set(id, `${words.get(id) || ""} ${text.toLowerCase()}`);
  for (const node of evidence) {
    const told = [node.querySelector(".key"), node.querySelector("summary"), ...all(".found", node)];
    for (const id of cells(node)) add(id, told.map((part) => (part ? part.textContent : "")).join(" "));
  }
  for (const chip of chips) for (const id of cells(chip)) if (!words.has(id)) add(id, chip.textContent);
  for (const row of all(".sortable tr[data-cells] td.w code:first-child")) {
    for (const id of cells(row.closest("tr"))) add(id, row.textContent);
  }

  const tables = new Map(all("table.sortable").map((table) => [table.dataset.name, table]));
  for (const table of tables.values()) table.rows0 = [...table.tBodies[0].rows];
  // What scrolls by itself can be reached and scrolled by keyboard.
  const reach = () => all(".scroll").forEach((node) => {
    const wide = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
    if (wide) node.tabIndex = 0; else node.removeAttribute("tabindex");
  });

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

  const apply = () => {
    const wanted = flags[state.show], text = state.q.trim().toLowerCase();
    const test = (id) => !wanted || wanted.has(id), found = (id) => !text || (words.get(id) || "").includes(text);
    const fits = (node, reads = true) => {
      const ids = cells(node);
      if (!ids.length) return !text || node.textContent.toLowerCase().includes(text);
      return ids.some((id) => test(id) && found(id)) || (reads && ids.some(test) && node.textContent.toLowerCase().includes(text));
    };
    for (const chip of chips) chip.classList.toggle("dimmed", !fits(chip));
    for (const row of all("table.sortable tbody tr")) row.hidden = !fits(row);
    let shown = 0;
    for (const node of evidence) { node.hidden = !fits(node, false); shown += !node.hidden; }
    const filtered = state.show !== "all" || text;
    count.textContent = filtered ? `${shown} of ${evidence.length} cells` : "";
    for (const node of folds) {
      const rows = all("tbody tr, details.evidence", node), hit = rows.some((row) => !row.hidden);
      node.hidden = filtered && rows.length > 0 && !hit;
      if (filtered && hit && !node.open) { node.open = true; node.byFilter = true; }
      if (!filtered && node.byFilter) { node.open = false; node.byFilter = false; }
    }
    for (const button of all("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === state.show));
    if (box.value !== state.q) box.value = state.q;
    order();
    reach();
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
      if (!sorted && !table.moved) continue;
      const rows = [...table.rows0];
      if (sorted) rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
      table.moved = sorted;
    }
  };

  const open = () => {
    all(".at").forEach((node) => node.classList.remove("at"));
    const node = state.at && document.getElementById(state.at);
    if (!node) return;
    for (let up = node.parentElement; up; up = up.parentElement) {
      if (up.matches("details")) { up.hidden = false; up.open = true; }
    }
    if (node.matches("details")) { node.hidden = false; node.open = true; }
    if (node.matches("details, dt")) node.classList.add("at");
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
      // What is in sight: evidence below a fold that is closed stays as it is.
      const nodes = evidence.filter((node) => !node.hidden && !node.closest("details.fold:not([open])"));
      const closed = nodes.some((node) => !node.open);
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
  addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);
  addEventListener("hashchange", () => {
    const moved = parse().at !== state.at;
    state = parse();
    apply();
    if (moved) open();
  });

  // Paper shows the evidence of what is in sight; what is folded stays folded, and says how much it is.
  let before = [];
  addEventListener("beforeprint", () => {
    before = evidence.filter((node) => !node.open && !node.closest("details.fold:not([open])"));
    before.forEach((node) => { node.open = true; });
  });
  addEventListener("afterprint", () => before.forEach((node) => { node.open = false; }));

  state = parse();
  apply();
  open();
})();
