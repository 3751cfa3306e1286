/* Around the grid of a batch that was started: its strip by the keyboard, its filters and tabs, its
   search. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* The number of a part is in the address of its segment, and the server says it once: a strip may have
     120 of them. By its id a segment keeps the focus when the strip is replaced. */
  const nameSegments = () => {
    for (const segment of document.querySelectorAll(".segment:not([id])")) {
      segment.id = `strip-${segment.pathname.split("/").at(-2)}`;
    }
  };
  on("DOMContentLoaded", nameSegments);
  for (const event of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
    on(event, ({ detail: { target } }) => target.matches("td") || nameSegments());
  }

  /* The strip is one stop of Tab; arrows lead from segment to segment. */
  const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  on("keydown", (event) => {
    const segment = event.target.closest?.(".segment");
    const by = steps[event.key];
    if (!segment || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...segment.closest(".strip").querySelectorAll(".segment")];
    const place = all.indexOf(segment) + by;
    all[Math.max(0, Math.min(all.length - 1, place))].focus();
    event.preventDefault();
  });
  on("focusin", ({ target }) => {
    if (!target.matches(".segment")) return;
    for (const one of target.closest(".strip").querySelectorAll(".segment[tabindex='0']")) {
      one.tabIndex = -1;
    }
    target.tabIndex = 0;
  });

  /* The chosen filter, and the tab, where they stand beyond the end of their line. */
  const LINES = "#chips, #chips > .filters, #tabs";
  const fade = (line) => {
    line.toggleAttribute("data-more", line.scrollWidth - line.clientWidth - line.scrollLeft > 1);
  };
  const fadeAll = () => document.querySelectorAll(LINES).forEach(fade);
  on("scroll", ({ target }) => target.matches?.(LINES) && fade(target), true);
  addEventListener("resize", fadeAll);
  const showChosen = () => {
    fadeAll();
    for (const line of document.querySelectorAll(LINES)) {
      const chosen = [...line.querySelectorAll("[aria-current], .chosen")].pop()?.getBoundingClientRect();
      if (!chosen) continue;
      const seen = line.getBoundingClientRect();
      if (chosen.right > seen.right) line.scrollLeft += chosen.right - seen.right;
      else if (chosen.left < seen.left) line.scrollLeft -= seen.left - chosen.left;
    }
  };
  on("htmx:load", ({ target }) => {
    if (target.id === "chips") showChosen();
  });
  on("DOMContentLoaded", showChosen);

  /* The search field says what is searched, also after its filter was taken away. */
  const sayWords = () => {
    const field = byId("search-words");
    const words = new URLSearchParams(location.search).get("q") ?? "";
    if (field && field !== document.activeElement) field.value = words;
  };
  on("htmx:afterSettle", ({ detail }) => {
    if (detail.elt?.id === "grid-area") sayWords();
  });
})();
