/* The sheet: the keys of its grid, and the panel of a row. One listener a kind of event, on the
   document, so that rows may come and go. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* Rows. The link with the number of a row has the focus of that row; only one of them can be reached
     with Tab, as in every grid. */
  const links = () => [...document.querySelectorAll("#grid-rows .n a")];
  const rowOf = (element) => element?.closest?.("#grid-rows tr");
  const linkOf = (row) => row?.querySelector(".n a");

  let active = ""; /* The id of the row that Tab reaches. */

  /* What follows from the number of a row, each of a hundred rows needs, and the server leaves it out:
     the names of its link and of its cells, and the box to tick it. */
  const boxFor = (number, shown) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    Object.assign(box, { className: "tick", type: "checkbox", name: "rows", value: number, tabIndex: -1 });
    box.autocomplete = "off"; /* A reload ticks nothing. */
    box.setAttribute("aria-label", `Tick row ${shown}`);
    label.className = "tick-box";
    label.append(box);
    return label;
  };
  const complete = () => {
    for (const link of document.querySelectorAll("#grid-rows .n a:not([id])")) {
      const row = rowOf(link);
      const number = row.id.slice("row-".length);
      link.id = `open-${number}`;
      if (byId("grid").hasAttribute("data-ticks")) link.before(boxFor(number, link.textContent));
      let at = 0;
      for (const cell of row.querySelectorAll("td.answer")) cell.id ||= `cell-${number}-${at++}`;
    }
  };
  let left = ""; /* The id of the link that has the focus, and goes. */
  for (const event of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
    on(event, ({ detail: { target } }) => {
      const focused = document.activeElement;
      if (!target.matches("td")) left = target.contains(focused) && rowOf(focused) ? focused.id : "";
    });
  }
  for (const event of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
    on(
      event,
      ({ detail: { target } }) => {
        if (target.matches("td")) return;
        complete();
        if (left && document.activeElement === document.body) byId(left)?.focus({ preventScroll: true });
        left = "";
      },
      true,
    );
  }

  const settle = () => {
    for (const link of document.querySelectorAll("#grid-rows .gap a")) link.tabIndex = -1;
    const all = links();
    if (!all.length) return;
    const chosen =
      all.find((link) => rowOf(link).id === active) ??
      linkOf(document.querySelector("#grid-rows tr[aria-selected=true]")) ??
      all[0];
    active = rowOf(chosen).id;
    for (const link of all) link.tabIndex = link === chosen ? 0 : -1;
  };
  const go = (row, block = "nearest") => {
    const link = linkOf(row);
    if (!link) return;
    active = row.id;
    for (const other of document.querySelectorAll("#grid-rows .n a[tabindex='0']")) {
      other.tabIndex = -1;
    }
    link.tabIndex = 0;
    link.focus({ preventScroll: true });
    row.scrollIntoView({ block, inline: "nearest" });
  };
  on("focusin", ({ target }) => {
    const row = target.matches(".n a") && rowOf(target);
    if (row && row.id !== active) go(row);
  });

  /* A page has its first rows at once; the others come as soon as the line in their place is in view, or
     somebody needs them (see `gaps.py`). */
  const GAPS = "#gap-above, #gap-below";
  let filled = null; /* What waits for them. */
  const fill = (gap) => window.htmx.trigger(gap, "fill");
  on("htmx:afterSwap", ({ detail: { target } }) => {
    if (!target.matches(GAPS)) return;
    if (byId("panel")?.open) select();
    const act = filled;
    filled = null;
    act?.();
  });
  /* The browser's own search and “select all” look at what is there. */
  on("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || !"fag".includes(event.key)) return;
    for (const gap of document.querySelectorAll(GAPS)) fill(gap);
  });
  /* Paper has all rows of the page. Nothing can be waited for here, so the request holds up the window. */
  addEventListener("beforeprint", () => {
    for (const gap of document.querySelectorAll(GAPS)) {
      const request = new XMLHttpRequest();
      request.open("GET", gap.getAttribute("hx-get"), false);
      request.setRequestHeader("HX-Request", "true");
      request.send();
      if (request.status !== 200) continue;
      const rows = document.createElement("template");
      rows.innerHTML = request.responseText;
      gap.replaceWith(rows.content);
    }
    window.htmx.process(byId("grid-rows") ?? document.body);
    complete();
    settle();
  });

  const step = (by) => {
    const all = links();
    if (!all.length) return;
    const now = all.findIndex((link) => rowOf(link).id === active);
    const gap = now + by < 0 ? byId("gap-above") : now + by >= all.length && byId("gap-below");
    if (gap) {
      filled = () => step(by);
      fill(gap);
      return;
    }
    const next = rowOf(all[Math.max(0, Math.min(all.length - 1, now + by))]);
    go(next);
    if (byId("panel")?.open) linkOf(next).click();
  };

  /* The column that was asked about stays in view, unless answers would have too little room beside it. */
  const frozen = new CSSStyleSheet(); /* A style attribute would be copied by htmx, which the page forbids. */
  document.adoptedStyleSheets.push(frozen);
  let widths = "";
  const freeze = (frame) => {
    const [number, main] = [".n", ".main"].map((kind) => frame.querySelector(`thead ${kind}`)?.offsetWidth ?? 0);
    frame.toggleAttribute("data-frozen", main > 0 && number + main < frame.clientWidth * 0.65);
    const found = `.grid-frame { --frozen: ${number}px; --unscrolled: ${number + main}px }`;
    if (found !== widths) frozen.replaceSync((widths = found));
  };

  /* A shadow where the grid goes on. */
  /* Once a frame: to measure after each of a hundred cells that come at once would lay out the whole grid
     as often. */
  let shading = 0;
  const shade = () => {
    shading ||= requestAnimationFrame(() => {
      shading = 0;
      const frame = byId("grid-frame");
      if (!frame) return;
      freeze(frame);
      const { scrollLeft } = frame;
      const left = frame.scrollWidth - frame.clientWidth - scrollLeft;
      frame.parentElement.toggleAttribute("data-more", left > 1);
      frame.parentElement.toggleAttribute("data-less", scrollLeft > 1);
    });
  };
  on("scroll", ({ target }) => target.id === "grid-frame" && shade(), true);

  /* Behind many columns the answers of a batch would be out of sight: they come into view, with as much of
     what stands before them as there is room for. Of a draft, `trying.js` shows what is tried. */
  const showAnswers = () => {
    const frame = byId("grid-frame");
    const heads = byId("live") ? [...(frame?.querySelectorAll("th.answer") ?? [])] : [];
    if (!heads.length) return;
    freeze(frame);
    const still = frame.querySelectorAll(frame.hasAttribute("data-frozen") ? "thead .n, thead .main" : "thead .n");
    const beside = [...still].reduce((width, head) => width + head.offsetWidth, 0);
    const last = heads[heads.length - 1];
    const toLast = last.offsetLeft + last.offsetWidth - frame.clientWidth;
    frame.scrollLeft = Math.min(heads[0].offsetLeft - beside, toLast);
  };
  addEventListener("resize", shade);

  /* The panel: beside the grid, or a dialog over it where there is no room for both. */
  const PHONE = matchMedia("(width < 48rem)");

  const select = () => {
    const number = byId("panel").querySelector("[data-row]")?.dataset.row;
    for (const row of document.querySelectorAll("#grid-rows tr[aria-selected]")) {
      row.removeAttribute("aria-selected");
    }
    byId(`row-${number}`)?.setAttribute("aria-selected", "true");
  };
  const showPanel = () => {
    const panel = byId("panel");
    select();
    if (panel.open && panel.matches(":modal") === PHONE.matches) return;
    const focused = document.activeElement;
    panel.close();
    if (PHONE.matches) panel.showModal();
    else {
      panel.show();
      focused?.focus?.({ preventScroll: true });
    }
    panel.scrollTop = 0;
    shade();
  };
  /* A window that is made wider or narrower. */
  PHONE.addEventListener("change", () => byId("panel")?.open && showPanel());
  const closePanel = () => {
    const panel = byId("panel");
    if (!panel?.open) return false;
    /* `editing.js` keeps it open while somebody writes in it. */
    if (panel.dispatchEvent(new Event("leave", { bubbles: true, cancelable: true }))) panel.close();
    return true;
  };
  const sheetAddress = () => {
    const address = new URL(location.href);
    address.pathname = address.pathname.replace(/rows\/\d+\/$/, "");
    return address.href;
  };
  on(
    "close",
    ({ target }) => {
      if (target.id !== "panel") return;
      const row = document.querySelector("#grid-rows tr[aria-selected=true]");
      row?.removeAttribute("aria-selected");
      history.replaceState(history.state, "", sheetAddress());
      shade();
      const focused = document.activeElement;
      const isFree = focused === document.body || target.contains(focused) || rowOf(focused);
      if (row && isFree) go(row);
    },
    true,
  );

  /* Anywhere on a row opens it. */
  let opening = 0;
  const openRow = (row) => {
    go(row);
    linkOf(row)?.click();
  };
  on("click", (event) => {
    const row = rowOf(event.target);
    if (!row || event.target.closest("a, button, input, label, select, textarea, form")) return;
    if (String(getSelection())) return;
    clearTimeout(opening);
    if (event.detail > 1) return;
    /* A double click corrects an answer: nothing may move beneath it meanwhile. */
    const waits = event.target.closest(".edits") && !byId("panel")?.open;
    if (waits) opening = setTimeout(() => row.isConnected && openRow(row), 250);
    else openRow(row);
  });
  const tick = () => {
    const box = byId(active)?.querySelector(".tick");
    if (!box) return false;
    if (box.checkVisibility({ visibilityProperty: true })) box.click();
  };
  const keys = {
    " ": tick,
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    j: () => step(1),
    k: () => step(-1),
    PageDown: () => step(10),
    PageUp: () => step(-10),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    ArrowRight: () => byId("grid-frame").scrollBy({ left: 160 }),
    ArrowLeft: () => byId("grid-frame").scrollBy({ left: -160 }),
  };
  const anywhere = {
    x: tick,
    j: keys.j,
    k: keys.k,
    n: () => byId("page-next")?.click(),
    p: () => byId("page-back")?.click(),
    "]": () => byId("page-next")?.click(),
    "[": () => byId("page-back")?.click(),
    "/": () => document.querySelector("[data-search]")?.focus(),
    "?": () => byId("keys-button")?.click(),
    Escape: closePanel,
  };
  on("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!byId("grid-frame")) return;
    if (event.key === "Escape" && event.target.matches("[data-search]") && !event.target.value) {
      go(byId(active));
      return;
    }
    if (event.target.matches("input, select, textarea, [contenteditable], [role=separator]")) return;
    if (document.querySelector("dialog:modal, [popover]:popover-open")) return;
    const act = (event.target.closest("#grid-frame") ? keys[event.key] : null) ?? anywhere[event.key];
    if (!act || act() === false) return;
    event.preventDefault();
  });

  on("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "panel") showPanel();
  });
  const ready = () => {
    settle();
    shade();
  };
  on("htmx:load", ({ target }) => {
    if (!target.matches("td")) ready();
    if (target.id === "grid-area") showAnswers();
    if (target.id === "grid-area" && byId("panel")?.open) select();
  });
  on("DOMContentLoaded", () => {
    complete();
    ready();
    showAnswers();
    const panel = byId("panel");
    if (panel?.open) showPanel();
    const at = document.querySelector("#grid-rows tr.at");
    if (at) go(at, "center"); /* Rows are there on both sides of it. */
  });
  on("htmx:afterSettle", ({ detail }) => {
    const { elt: asked } = detail.requestConfig ?? {};
    if (detail.elt?.id !== "grid-area" || asked === document.body) return; /* It came by itself. */
    const at = document.querySelector("#grid-rows tr.at");
    /* The button that turned the page may have gone with it. */
    const turned = asked?.closest("#pager");
    if (at) go(at, "center");
    else if (turned && document.activeElement === document.body) go(byId(active));
  });
})();
