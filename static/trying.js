/* The sheet of a draft gets other columns: what stands in it stays where it is. Of tries a new column
   comes into view, and the focus stays where the button was. */
(() => {
  "use strict";

  const on = (event, act) => document.addEventListener(event, act);
  const byId = (id) => document.getElementById(id);

  /* The question wants other columns than the sheet shows: those of the answer follow the typing. */
  on("columns-wanted", ({ detail: { key } }) => {
    const shown = byId("grid")?.dataset.columnsKey;
    if (shown && shown !== key) window.htmx.trigger("#sheet-refresh", "columns-changed");
  });

  /* Its rows are the same ones: the place, the ticks and the open row stay. */
  let before = null;
  on("htmx:beforeSwap", ({ detail }) => {
    const frame = byId("grid-frame");
    if (!frame || detail.requestConfig?.elt?.id !== "sheet-refresh") return;
    before = {
      top: frame.scrollTop,
      left: frame.scrollLeft,
      ticked: [...frame.querySelectorAll(".tick:checked")].map(({ value }) => value),
      opened: frame.querySelector("tr[aria-selected=true]")?.id,
    };
  });
  on("htmx:afterSwap", ({ target }) => {
    if (!before || target.id !== "grid-area") return;
    const { top, left, ticked, opened } = before;
    before = null;
    for (const box of target.querySelectorAll(".tick")) box.checked = ticked.includes(box.value);
    if (opened) byId(opened)?.setAttribute("aria-selected", "true");
    byId("grid-frame")?.scrollTo({ top, left, behavior: "instant" });
  });

  /* The columns of tries stand behind hers, and their rows may be further down. */
  let begun = false;
  on("tries-changed", () => {
    begun = true;
  });
  on("htmx:afterSettle", ({ target }) => {
    if (!begun || target.id !== "grid-area") return;
    begun = false;
    /* Where the sheet stands below the question, it is led to. */
    byId("sheet").scrollIntoView({ block: "start" });
    const heads = target.querySelectorAll(".try-head");
    const head = heads[heads.length - 1];
    if (!head) return;
    head.scrollIntoView({ block: "nearest", inline: "end" });
    const cell = target.querySelector(`td.${head.dataset.column} .try-answer`);
    cell?.parentElement.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  /* The button becomes a sentence while answers come, and a button again. */
  let hadFocus = false;
  for (const event of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
    on(event, ({ detail: { target } }) => {
      if (target.id === "try") hadFocus = target.contains(document.activeElement);
    });
  }
  on("htmx:load", () => {
    if (!hadFocus || document.activeElement !== document.body) return;
    hadFocus = false;
    (byId("try-told") ?? byId("try-now"))?.focus({ preventScroll: true });
  });
})();
