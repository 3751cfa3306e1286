/* A quiet word when a batch ends: the title and the icon of the tab, and the browser's own notification
   for whoever asked for it. A slow question of its own, because a tab that nobody sees does not poll. */
(() => {
  "use strict";

  const EVERY = 15_000;
  const ON = "You will be told";
  const OFF = "Tell me when it is done";
  const DENIED =
    "The browser does not allow notifications from this page. Allow them in the settings of this site, to the left of the address, and press again.";
  const CANNOT =
    "This browser shows no notifications here. The title and the icon of this tab tell when it is done.";

  const byId = (id) => document.getElementById(id);
  const key = "batchui.tell";
  const wanted = {
    get: () => {
      try {
        return localStorage.getItem(key) === "yes";
      } catch {
        return false;
      }
    },
    set: (yes) => {
      try {
        localStorage.setItem(key, yes ? "yes" : "");
      } catch {
        /* Private windows may forbid it: then nothing is shown but the title. */
      }
    },
  };
  const isAllowed = () => "Notification" in window && Notification.permission === "granted";
  const say = (sentence) => {
    byId("announcement").textContent = sentence;
    const note = byId("tell-note");
    note.textContent = sentence;
    note.hidden = !sentence;
  };

  const show = () => {
    const button = byId("tell");
    if (!button) return;
    const on = wanted.get() && isAllowed();
    button.setAttribute("aria-pressed", String(on));
    button.querySelector("span").textContent = on ? ON : OFF;
  };
  const press = async () => {
    if (wanted.get() && isAllowed()) {
      wanted.set(false);
      say("");
    } else if (!("Notification" in window) || !window.isSecureContext) {
      say(CANNOT);
    } else {
      const answer = await Notification.requestPermission();
      wanted.set(answer === "granted");
      say(answer === "denied" ? DENIED : "");
    }
    show();
  };
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.("#tell")) press();
  });

  /* The batches under way that this page has shown, and that have not been told of. */
  let watched = new Set();
  let told = new Set();
  let before = null; /* The title and the icon that the tab had. */

  const look = () => {
    for (const { dataset } of document.querySelectorAll("[data-active]")) {
      if (!told.has(dataset.active)) watched.add(dataset.active);
    }
    /* She sees what has ended: on its own page, or in its line of the history. */
    if (!document.hidden && document.hasFocus()) {
      if (document.querySelector("#live:not([data-active])")) watched.clear();
      for (const id of watched) {
        if (document.querySelector(`#batch-${id}:not([data-active])`)) watched.delete(id);
      }
    }
    show();
  };
  const icon = () => document.querySelector("link[rel=icon]");
  const mark = (title) => {
    before ??= { title: document.title, icon: icon().href };
    document.title = `✓ ${title}`;
    icon().href = byId("tell").dataset.tellIcon;
  };
  const unmark = () => {
    if (!before || document.hidden) return;
    /* A poll may have written a newer title meanwhile. */
    if (document.title.startsWith("✓ ")) document.title = before.title;
    icon().href = before.icon;
    before = null;
  };
  const tell = ({ id, address, title, sentence }) => {
    if (told.has(id)) return; /* A slow answer may come after that to the next question. */
    watched.delete(id);
    told.add(id);
    if (!document.hidden && document.hasFocus()) return; /* She sees it. */
    mark(title);
    if (!wanted.get() || !isAllowed()) return;
    const note = new Notification(title, { body: sentence, tag: id });
    note.addEventListener("click", () => {
      window.focus();
      location.assign(address);
      note.close();
    });
  };
  const ask = async () => {
    look();
    const button = byId("tell");
    if (!button || !watched.size) return;
    const query = new URLSearchParams([...watched].map((id) => ["batch", id]));
    try {
      const answer = await fetch(`${button.dataset.tell}?${query}`, {
        headers: { Accept: "application/json" },
        redirect: "error",
      });
      if (answer.status === 200) for (const one of (await answer.json()).ended) tell(one);
    } catch {
      /* The server is away, or she has been signed out: later, then. */
    }
  };

  document.addEventListener("visibilitychange", unmark);
  addEventListener("focus", unmark);
  document.addEventListener("htmx:load", ({ target }) => {
    if (target === document.body) [watched, told] = [new Set(), new Set()];
    if (!target.matches("td")) look();
  });
  document.addEventListener("DOMContentLoaded", () => {
    look();
    setInterval(ask, EVERY);
  });

  /* What is typed for the labels of a batch stays while its line in the history would be replaced. */
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target.querySelector?.(".labels.open")) event.detail.shouldSwap = false;
  });
})();
