/* The pictures of rows. A browser has six connections to batchui, and a picture whose host hangs keeps
   one for seconds: those of the grid are fetched two at a time, so that the page itself never waits. */
(() => {
  "use strict";

  const on = (event, act) => document.addEventListener(event, act, true);
  const AT_ONCE = 2;
  const near = new Set(); /* In view, and not asked for yet. */
  let fetched = 0; /* How many are being fetched now. */

  const fetchNext = () => {
    for (const picture of near) {
      if (fetched === AT_ONCE) return;
      near.delete(picture);
      view.unobserve(picture);
      if (!picture.isConnected) continue;
      fetched += 1;
      /* Of its own, because one that has left the page meanwhile tells the document nothing. */
      for (const event of ["load", "error"]) picture.addEventListener(event, ended);
      picture.src = picture.dataset.src;
    }
  };
  const ended = () => {
    fetched -= 1;
    fetchNext();
  };
  const view = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) near.add(target);
      else near.delete(target);
    }
    fetchNext();
  });
  const watch = () => {
    for (const picture of document.querySelectorAll("#grid-rows img[data-src]:not([src])")) {
      view.observe(picture);
    }
  };
  addEventListener("load", watch); /* Of the page, which they must not keep from being loaded. */
  for (const event of ["htmx:afterSwap", "htmx:oobAfterSwap"]) on(event, watch);

  /* Arrows go through the columns, and each is another question: they stay in the list. */
  on("htmx:afterSettle", ({ detail }) => {
    const { elt: asked } = detail.requestConfig ?? {};
    if (asked?.id === "id_picture_column") {
      document.getElementById(asked.id)?.focus({ preventScroll: true });
    }
  });

  /* A picture that is not to be had: the grid goes without it, the panel says why. */
  on("error", ({ target }) => {
    if (!target.matches?.("[data-says-why]")) return target.matches?.(".thumb") && target.remove();
    const why = document.createElement("p");
    why.className = "soft";
    why.textContent = "The picture cannot be shown now.";
    target.replaceWith(why);
    fetch(target.src).then(async (reply) => {
      const isPlain = reply.headers.get("Content-Type")?.startsWith("text/plain");
      if (!reply.ok && isPlain) why.textContent = await reply.text();
    });
  });
})();
