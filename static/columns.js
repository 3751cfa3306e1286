/* The columns of a sheet: their widths, and which of them are hidden; and what else a person folds away.
   This browser keeps that, the columns for each batch, and applies it before the first paint (this file is
   not deferred). */
(() => {
  "use strict";

  const MOST_BATCHES = 50;
  const MOST_KEPT = 400; /* Columns of a batch. */
  const [NARROWEST, WIDEST, FITTED] = [48, 1200, 640];
  const STEP = 16;

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);
  const within = (width) => Math.round(Math.max(NARROWEST, Math.min(WIDEST, width)));

  const read = (name) => {
    try {
      return JSON.parse(localStorage.getItem(`batchui.${name}`));
    } catch {
      return null;
    }
  };
  const write = (name, value) => {
    try {
      if (value === null) localStorage.removeItem(`batchui.${name}`);
      else localStorage.setItem(`batchui.${name}`, JSON.stringify(value));
    } catch {
      /* Private windows may forbid it: then the choice lasts as long as the page. */
    }
  };

  const batch = location.pathname.match(/\/batches\/([0-9a-f-]{36})\//)?.[1];
  const place = `sheet.${batch}`;
  const isKey = (key) => /^(n|[act]\d{1,5})$/.test(key);

  const kept = (batch && read(place)) || {};
  const hidden = new Set((Array.isArray(kept.hidden) ? kept.hidden : []).filter(isKey).slice(0, MOST_KEPT));
  const widths = new Map(
    Object.entries(kept.widths ?? {})
      .filter(([key, width]) => isKey(key) && Number.isFinite(width))
      .slice(0, MOST_KEPT)
      .map(([key, width]) => [key, within(width)]),
  );

  /* Kept for the batches that were looked at last. */
  const keep = () => {
    const nothing = !hidden.size && !widths.size;
    write(place, nothing ? null : { hidden: [...hidden], widths: Object.fromEntries(widths) });
    const known = (read("sheets") ?? []).filter((other) => other !== batch);
    for (const old of known.splice(MOST_BATCHES - 1)) write(`sheet.${old}`, null);
    write("sheets", nothing ? known : [batch, ...known]);
  };

  const rules = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, rules];
  const paint = () => {
    const gone = [...hidden].map((key) => `.sheet-grid .${key} { display: none; }`);
    const wide = [...widths].map(([key, width]) => `.sheet-grid col.${key} { width: ${width}px; }`);
    if (wide.length) wide.push(".sheet-grid { min-width: 0; width: 1px; }");
    rules.replaceSync(`${gone.join("\n")}\n@media screen and (width >= 40rem) { ${wide.join("\n")} }`);
  };
  if (batch) paint();

  /* Long cells: three lines of each, or all. */
  const cells = (full) => {
    document.documentElement.toggleAttribute("data-full-cells", full);
  };
  cells(read("cells") === "full");

  /* At a glance: shown where the style sheet finds the room, until a person shows or hides it. */
  const glance = (state) => {
    document.documentElement.dataset.glance = state;
  };
  const isShown = (element) => Boolean(element?.getClientRects().length);
  if (["open", "closed"].includes(read("glance"))) glance(read("glance"));
  const tellGlance = () => {
    byId("glance-button")?.setAttribute("aria-expanded", String(isShown(byId("glance"))));
  };
  on("click", ({ target }) => {
    if (!target.closest?.("#glance-button")) return;
    const state = isShown(byId("glance")) ? "closed" : "open";
    glance(state);
    write("glance", state);
    tellGlance();
    if (state === "open") window.htmx.trigger("#glance", "unfolded");
  });
  on("htmx:load", ({ target }) => target.id === "glance" && tellGlance());
  addEventListener("resize", tellGlance);
  /* Nobody sees it: it need not know. */
  on("htmx:beforeRequest", (event) => {
    const { elt, requestConfig } = event.detail;
    const asks = /^(batch|answer)-/.test(requestConfig.triggeringEvent?.type ?? "");
    if (elt.id === "glance" && asks && !isShown(elt)) event.preventDefault();
  });

  const tell = () => {
    for (const box of document.querySelectorAll("[data-shows-column]")) {
      box.checked = !hidden.has(box.dataset.showsColumn);
    }
    const full = byId("full-cells");
    if (full) full.checked = document.documentElement.hasAttribute("data-full-cells");
    for (const count of document.querySelectorAll("[data-hidden-columns]")) {
      const gone = [...hidden].filter((key) => document.querySelector(`#grid th.${key}`)).length;
      count.textContent = gone ? `· ${gone} hidden` : "";
    }
    for (const edge of document.querySelectorAll("#grid [role=separator]")) {
      const width = widths.get(edge.parentElement.dataset.column);
      if (width) edge.setAttribute("aria-valuenow", String(width));
    }
    dispatchEvent(new Event("resize"));
  };

  on("change", ({ target }) => {
    if (target.id === "full-cells") {
      cells(target.checked);
      write("cells", target.checked ? "full" : null);
    } else if (target.dataset.showsColumn) {
      hidden[target.checked ? "delete" : "add"](target.dataset.showsColumn);
      keep();
    } else return;
    paint();
    tell();
  });
  on("click", ({ target }) => {
    const button = target.closest?.("[data-columns]");
    if (!button) return;
    if (button.dataset.columns === "all") hidden.clear();
    else widths.clear();
    keep();
    paint();
    tell();
  });

  /* The edge of a column. The first change keeps the widths of all, so that no other one moves. */
  const widen = (key, width) => {
    if (!widths.size) {
      for (const head of document.querySelectorAll("#grid th[data-column]")) {
        const now = head.getBoundingClientRect().width;
        if (now) widths.set(head.dataset.column, within(now));
      }
      widths.set("n", within(document.querySelector("#grid th.n").getBoundingClientRect().width));
    }
    widths.set(key, within(width));
    paint();
    tell();
  };
  const widthOf = (head) => head.getBoundingClientRect().width;

  /* The width of the longest line of a column, as it is drawn. */
  const fit = (head) => {
    const pen = document.createElement("canvas").getContext("2d");
    const wanted = [...document.querySelectorAll(`#grid .${head.dataset.column}`)].map((cell) => {
      const style = getComputedStyle(cell);
      pen.font = style.font;
      const text = cell === head ? head.querySelector(".column-name").textContent : cell.innerText;
      const lines = (text ?? "").split("\n").map((line) => pen.measureText(line).width);
      return Math.max(0, ...lines) + 2 * parseFloat(style.paddingLeft) + 4;
    });
    widen(head.dataset.column, Math.min(FITTED, Math.max(...wanted)));
    keep();
  };

  let drag = null;
  on("pointerdown", (event) => {
    const edge = event.target.closest?.("#grid [role=separator]");
    if (!edge || event.button) return;
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    edge.focus({ preventScroll: true });
    drag = { head: edge.parentElement, from: event.clientX, width: widthOf(edge.parentElement) };
  });
  on("pointermove", (event) => {
    if (!drag || event.clientX === drag.from) return;
    widen(drag.head.dataset.column, drag.width + event.clientX - drag.from);
    drag.moved = true;
  });
  for (const end of ["pointerup", "pointercancel"]) {
    on(end, () => {
      if (drag?.moved) keep();
      drag = null;
    });
  }
  on("dblclick", ({ target }) => {
    const edge = target.closest?.("#grid [role=separator]");
    if (edge) fit(edge.parentElement);
  });

  const another = (edge, by) => {
    const edges = [...document.querySelectorAll("#grid [role=separator]")].filter(
      (one) => one.parentElement.offsetWidth,
    );
    const next = edges[edges.indexOf(edge) + by];
    if (!next) return;
    edge.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
  on("keydown", (event) => {
    const edge = event.target;
    if (!edge.matches?.("#grid [role=separator]")) return;
    const head = edge.parentElement;
    const { column } = head.dataset;
    const acts = {
      ArrowRight: () => widen(column, widthOf(head) + STEP),
      ArrowLeft: () => widen(column, widthOf(head) - STEP),
      ArrowDown: () => another(edge, 1),
      ArrowUp: () => another(edge, -1),
      Enter: () => fit(head),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
    keep();
  });

  const ready = () => {
    const edges = document.querySelectorAll("#grid [role=separator]");
    if (edges.length && ![...edges].some((edge) => edge.tabIndex === 0)) edges[0].tabIndex = 0;
    tell();
  };
  on("DOMContentLoaded", () => {
    if (byId("grid")) ready();
    tellGlance();
    if (!byId("sheet")?.hasAttribute("data-settled") && isShown(byId("glance"))) {
      window.htmx.trigger("#glance", "unfolded");
    }
  });
  on("htmx:load", ({ target }) => target.id === "grid-area" && ready());
})();
