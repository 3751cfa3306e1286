/* A grid that is watched: answers and rows come in without moving what is read. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* A row keeps its height when its answer comes, so that what is read stays where it is: of a longer
     answer it shows as many lines as there is room. Another page, or a reload, shows more. */
  let heights = null; /* Of the rows with a cell that changes, before it does. */
  let first = null; /* The first row in view, and where it stands. */

  const firstInView = (frame) => {
    const top = frame.getBoundingClientRect().top + frame.querySelector("thead").offsetHeight;
    const row = [...frame.querySelectorAll("#grid-rows tr[id^=row]")].find(
      (one) => one.getBoundingClientRect().bottom > top,
    );
    return row && { id: row.id, top: row.getBoundingClientRect().top };
  };

  const isFull = () => document.documentElement.hasAttribute("data-full-cells");
  const fit = (cell, height) => {
    const text = cell.firstElementChild;
    const style = getComputedStyle(cell);
    const line = parseFloat(style.lineHeight);
    const room = height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    const lines = Math.max(1, Math.floor(room / line));
    text.style.webkitLineClamp = lines;
    text.style.maxHeight = `${lines * line}px`;
  };
  const holdInView = () => {
    const now = byId(first?.id)?.getBoundingClientRect().top;
    if (now !== undefined) byId("grid-frame").scrollTop += now - first.top;
  };
  const settle = () => {
    const rows = [...heights].map(([id, height]) => [byId(id), height]).filter(([row]) => row);
    heights = null;
    /* Not on a cell with an id: htmx would copy the style, which the page does not allow. */
    for (const [row, height] of rows) row.firstElementChild.style.height = `${height}px`;
    if (isFull()) {
      /* Every answer is shown whole: rows grow, but those above move nothing in view. */
      holdInView();
      return;
    }
    const grown = rows.filter(([row, height]) => row.getBoundingClientRect().height > height + 0.01);
    for (const [row, height] of grown) {
      for (const cell of row.querySelectorAll("td.answer:has(> *)")) fit(cell, height);
    }
  };
  on("htmx:oobBeforeSwap", ({ detail: { target } }) => {
    if (!target.matches("td.answer")) return;
    if (!heights) {
      heights = new Map();
      first = isFull() ? firstInView(byId("grid-frame")) : null;
      queueMicrotask(settle);
      for (const row of document.querySelectorAll("#grid-rows tr:has(.waits)")) {
        heights.set(row.id, row.getBoundingClientRect().height);
      }
    }
  });

  /* Rows that come above those in view are higher or lower than the line in their place. */
  on("htmx:beforeSwap", ({ detail: { target } }) => {
    if (target.id !== "gap-above") return;
    first = firstInView(byId("grid-frame"));
    queueMicrotask(holdInView);
  });
})();
