/* Everything the pages do in the browser besides htmx. One listener a kind of event, on the
   document, so that fragments need no set-up. The data attributes of an element say what it does. */
(() => {
  "use strict";

  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* htmx: no inline styles and no eval, as the content security policy asks; nothing from other sites;
     no copy of a page in the browser's storage; and the answer to a form that is not right yet (422)
     is shown. */
  Object.assign(window.htmx.config, {
    includeIndicatorStyles: false,
    allowEval: false,
    selfRequestsOnly: true,
    historyCacheSize: 0,
    refreshOnHistoryMiss: true,
    defaultSettleDelay: 0,
    responseHandling: [
      { code: "204", swap: false },
      { code: "[23]..", swap: true },
      { code: "422", swap: true },
      { code: "[45]..", swap: false, error: true },
    ],
  });

  /* Theme and density: remembered here, applied before the first paint (this file is not deferred). */
  const kept = (storage) => ({
    get(name) {
      try {
        return storage().getItem(`batchui.${name}`);
      } catch {
        return null;
      }
    },
    set(name, value) {
      try {
        storage().setItem(`batchui.${name}`, value);
      } catch {
        /* Private windows may forbid it: then the choice lasts as long as the page. */
      }
    },
  });
  const remembered = kept(() => localStorage);
  const untilReload = kept(() => sessionStorage);

  const choose = (name, value) => {
    root.dataset[name] = value;
    for (const button of document.querySelectorAll(`[data-${name}-choice]`)) {
      button.setAttribute("aria-pressed", String(button.dataset[`${name}Choice`] === value));
    }
  };
  const chosen = { theme: "auto", density: "comfortable" };
  const chooseAll = () => {
    for (const name of Object.keys(chosen)) choose(name, remembered.get(name) ?? chosen[name]);
  };
  chooseAll();

  /* Times: kept fresh, with the exact local time on hover and focus. */
  const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
  const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const inDays = new Intl.RelativeTimeFormat("en-GB");

  const DAY = 86_400;

  /* "4 min ago", "in 3 h": shorter than the browser's own words ("4 minutes ago"). */
  const relative = (then, now) => {
    const seconds = (then - now) / 1000;
    const size = Math.abs(seconds);
    if (size < 5) return "just now";
    if (seconds <= -7 * DAY) return day.format(then);
    if (size >= DAY) return inDays.format(Math.round(seconds / DAY), "day");
    const [length, unit] = size < 60 ? [1, "s"] : size < 3600 ? [60, "min"] : [3600, "h"];
    const span = `${Math.floor(size / length)} ${unit}`;
    return seconds < 0 ? `${span} ago` : `in ${span}`;
  };

  /* As `lasted` in templatetags/times.py writes it once a batch has ended: change both. */
  const elapsed = (then, now) => {
    const seconds = Math.max(0, Math.floor((now - then) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  };

  const texts = {
    relative,
    due: (then, now) => (then - now < 5_000 ? "now" : relative(then, now)),
    elapsed,
    local: (then) => local.format(then),
  };

  /* How long ago a part was sent is said when somebody looks at it: a name that changed every second
     would be read out again and again. */
  for (const event of ["pointerover", "focusin"]) {
    document.addEventListener(event, ({ target }) => {
      const part = target.closest?.("[data-sent]");
      if (!part) return;
      part.dataset.name ??= part.getAttribute("aria-label");
      const ago = elapsed(new Date(part.dataset.sent), Date.now());
      part.setAttribute("aria-label", `${part.dataset.name}, sent ${ago} ago`);
    });
  }

  const updateTimes = () => {
    const now = Date.now();
    for (const time of document.querySelectorAll(
      "time[data-relative], time[data-due], time[data-elapsed], time[data-local]",
    )) {
      const then = new Date(time.dateTime);
      if (Number.isNaN(then.getTime())) continue;
      const kind = Object.keys(texts).find((name) => name in time.dataset);
      const text = texts[kind](then, now);
      if (time.textContent !== text) time.textContent = text;
      if (time.title || kind === "local") continue;
      time.title = exact.format(then);
      time.dataset.exact = time.title;
      time.tabIndex = 0;
    }
  };

  /* Messages. A success disappears after a while, unless the pointer or the focus is on it; a problem
     stays. */
  const TOAST_STAYS = 10_000;

  const close = (toast) => {
    if (toast.matches(":hover, :focus-within")) setTimeout(() => close(toast), 2_000);
    else toast.remove();
  };
  const settleToasts = () => {
    for (const toast of document.querySelectorAll(".toast:not([data-settled])")) {
      toast.dataset.settled = "";
      const stays = toast.querySelector("form") ? 3 * TOAST_STAYS : TOAST_STAYS; /* With “Undo” */
      if (!toast.matches(".error, .warning")) setTimeout(() => close(toast), stays);
    }
  };
  const show = (kind, sentence, list = byId("toasts")) => {
    if (!list || [...list.querySelectorAll("p")].some((p) => p.textContent === sentence)) return;
    const toast = byId(`toast-${kind}`).content.cloneNode(true);
    toast.querySelector("p").textContent = sentence;
    list.append(toast);
    settleToasts();
  };
  /* What stands behind an open dialog cannot be seen or closed, so the dialog itself says it. */
  const complain = (sentence) => {
    show("error", sentence, document.querySelector("dialog[open] form, dialog[open]") ?? undefined);
  };
  const say = (sentence) => show("success", sentence);
  on("says", ({ detail }) => say(detail));

  /* A note over the grid that somebody closed stays closed until it says something else. */
  let closedNote = null;
  const keepNoteClosed = () => {
    const note = document.querySelector("[data-note]");
    if (note) note.hidden = note.dataset.note === closedNote;
  };
  const announce = (sentence) => {
    byId("announcement").textContent = sentence;
  };

  /* Copying: with the clipboard on a secure page, else the old way. */
  const copy = async (text, beside) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    beside.after(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    beside.focus();
    if (!done) throw new Error("not copied");
  };

  const copyFor = async (button) => {
    const from = byId(button.dataset.copy);
    const text = from.value ?? from.textContent;
    const label = button.querySelector("span") ?? button;
    const before = label.dataset.before ?? label.textContent;
    label.dataset.before = before;
    try {
      await copy(text, button);
      label.textContent = "Copied";
      announce("Copied");
    } catch {
      complain("The browser did not allow copying. Select the text and copy it yourself.");
    }
    setTimeout(() => {
      label.textContent = before;
    }, 2_000);
  };

  /* Dialogs. One with data-fresh opens in its first state every time. */
  const firstStates = new WeakMap();

  const openers = new WeakMap(); /* The id of the button that opened it. */

  const open = (dialog, button) => {
    openers.set(dialog, button.id);
    if ("fresh" in dialog.dataset && !firstStates.has(dialog)) {
      firstStates.set(dialog, dialog.innerHTML);
    }
    dialog.showModal();
    /* What comes only now. If it does not, the next opening asks again. */
    const awaited = dialog.querySelector("[hx-trigger=opened]");
    if (awaited) window.htmx.trigger(awaited, "opened");
  };
  /* A reply that asks once more opens its dialog itself. */
  on("opens-dialog", ({ detail }) => {
    const dialog = byId(detail.id);
    if (!dialog.open) open(dialog, { id: detail.opener });
  });
  const restore = (dialog) => {
    if (!firstStates.has(dialog)) return;
    dialog.innerHTML = firstStates.get(dialog);
    window.htmx?.process(dialog);
  };

  /* Inserts {{column}} at the caret. */
  const insert = (button) => {
    const area = byId(button.dataset.into);
    area.setRangeText(button.dataset.insert, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const reveal = (button) => {
    const input = byId(button.dataset.reveals);
    const shown = input.type === "password";
    input.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
    button.querySelector("span").textContent = shown ? "Hide" : "Show";
  };

  const clicks = {
    copy: copyFor,
    opens: (button) => open(byId(button.dataset.opens), button),
    closes: (button) => button.closest("dialog").close(),
    dismisses: (button) => button.closest(".toast").remove(),
    closesNote: (button) => {
      closedNote = button.closest("[data-note]").dataset.note;
      keepNoteClosed();
      byId("main").focus({ preventScroll: true });
    },
    insert,
    reveals: reveal,
    themeChoice: (button) => {
      remembered.set("theme", button.dataset.themeChoice);
      choose("theme", button.dataset.themeChoice);
    },
    densityChoice: (button) => {
      remembered.set("density", button.dataset.densityChoice);
      choose("density", button.dataset.densityChoice);
    },
  };

  /* A download says which file comes, and its menu closes. */
  on("click", ({ target }) => {
    const link = target.closest?.("a[download]");
    if (!link) return;
    link.closest("[popover]")?.hidePopover();
    const file = link.dataset.saves ? `“${link.dataset.saves}”` : "The file";
    say(`${file} is being saved. See the downloads of your browser.`);
  });

  /* Menus by arrow keys: from the button into its menu, and along it. */
  const MENU_STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  on("keydown", (event) => {
    const step = MENU_STEPS[event.key];
    const opener = event.target.closest?.("[popovertarget]");
    const menu = event.target.closest?.(".menu[popover]") ?? (opener && byId(opener.getAttribute("popovertarget")));
    if (!step || !menu?.matches(".menu:popover-open")) return;
    const items = [...menu.querySelectorAll("a, button:not(:disabled)")];
    const now = items.indexOf(document.activeElement);
    const next = now < 0 ? (step > 0 ? 0 : items.length - 1) : now + step;
    items[Math.min(items.length - 1, Math.max(0, next))]?.focus();
    event.preventDefault();
  });

  on("click", (event) => {
    const button = event.target.closest("button, a");
    if (button) {
      const does = Object.keys(button.dataset).find((name) => name in clicks);
      if (does) clicks[does](button);
    } else if (event.target.matches("dialog:modal")) {
      event.target.close();
    }
  });
  /* The button may have been replaced meanwhile, with its fragment. Then the browser loses the focus, or
     leaves it in the dialog until it draws the page again. */
  const returnFocus = (dialog) => {
    const focused = document.activeElement;
    if (focused === document.body || dialog.contains(focused)) {
      byId(openers.get(dialog))?.focus({ preventScroll: true });
    }
  };
  const closed = ({ target }) => {
    if (!target.matches("dialog")) return;
    restore(target);
    returnFocus(target);
  };
  on("close", closed, true);

  /* A dialog whose content does not come says so. */
  const unanswered = (target, sentence) => {
    const dialog = target?.closest?.("dialog");
    const place = dialog?.querySelector("[data-unanswered]");
    if (!place) return;
    if (sentence) place.textContent = sentence;
    place.hidden = false;
    for (const skeleton of dialog.querySelectorAll(".skeleton")) skeleton.remove();
  };

  /* A form is sent only once: its buttons are disabled until the answer comes. */
  const setBusy = (form) => {
    for (const button of form.querySelectorAll("button:not([type=button], :disabled)")) {
      button.disabled = true;
      button.setAttribute("aria-busy", "true");
    }
  };
  const setReady = (within) => {
    for (const button of within.querySelectorAll("button[aria-busy]")) {
      button.disabled = false;
      button.removeAttribute("aria-busy");
    }
  };
  /* What is pressed goes by htmx: a server that is down does not replace the page, and an answer that
     is no redirect (a form that is not right yet) leaves the address as it is. */
  const goesPlainly = (form) =>
    form.method !== "post" || form.matches("[hx-post], [data-brings], .bare *");
  on("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || goesPlainly(form)) return;
    event.preventDefault();
    form.closest("[popover]")?.hidePopover();
    const sent = window.htmx.ajax("post", form.action, {
      source: form,
      target: document.body,
      swap: "innerHTML show:window:top",
      headers: { "HX-Boosted": "true" },
      values: submitter?.name ? { [submitter.name]: submitter.value } : {},
    });
    sent.catch(() => {}); /* The listeners of htmx's own events say what went wrong. */
  });
  /* htmx sends the value of a button that stands in its form, and not that of one which names it. */
  on("htmx:configRequest", ({ detail: { formData, triggeringEvent } }) => {
    const button = triggeringEvent?.submitter;
    if (button?.name && !formData.has(button.name)) formData.set(button.name, button.value);
  });
  on("submit", ({ defaultPrevented, target }) => {
    if (defaultPrevented || target.method !== "post") return;
    /* Later: a button that is disabled now would not be sent with the form. */
    setTimeout(() => setBusy(target));
  });
  /* A file that comes leaves the page as it is. Where nothing answers, the browser's own page would take
     its place: so batchui is asked first whether it is there. */
  on("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || !("brings" in form.dataset)) return;
    event.preventDefault();
    try {
      const { status } = await fetch(form.action, { method: "HEAD" });
      if (isAway(status)) throw new Error("nobody is behind the proxy");
    } catch {
      setReady(form);
      reachable(false);
      return complain(NOT_DONE);
    }
    form.submit(); /* Fires no event. */
    setTimeout(() => {
      setReady(form);
      say("The file is on its way. See the downloads of your browser.");
    }, 1_000);
  });
  addEventListener("pageshow", () => setReady(document));

  /* Escape leaves what is being typed as it was, and closes nothing around it. */
  on(
    "keydown",
    (event) => {
      const cancels = event.key === "Escape" && event.target.dataset?.cancels;
      if (!cancels) return;
      event.preventDefault();
      event.stopPropagation();
      byId(cancels).click();
    },
    true,
  );
  /* A title is clicked to be edited; its button is for keys and for screen readers. */
  on("click", ({ target }) => target.closest("h1")?.parentElement.querySelector("#rename")?.click());

  /* The error of a field goes away when the field is changed. */
  on("input", ({ target }) => {
    if (target.getAttribute("aria-invalid") !== "true" || !target.id) return;
    target.removeAttribute("aria-invalid");
    const error = byId(`${target.id}_error`);
    if (error) error.hidden = true;
  });

  /* A field that finds: what beside it has other words is hidden. */
  on("input", ({ target }) => {
    const found = target.dataset?.filters;
    if (!found) return;
    const wanted = target.value.trim().toLowerCase();
    const all = [...target.parentElement.querySelectorAll(found)];
    for (const one of all) one.hidden = !one.textContent.toLowerCase().includes(wanted);
    const isNone = all.every((one) => one.hidden);
    target.parentElement.toggleAttribute("data-none", isNone);
    if (isNone) announce("No name has these letters.");
  });

  /* The server cannot be reached: one quiet banner, until it answers again. */
  const reachable = (yes) => {
    const banner = byId("offline");
    if (banner) banner.hidden = yes;
  };
  /* A proxy answers so where nothing is behind it. */
  const isAway = (status) => status >= 502 && status <= 504;
  const PROBLEMS = {
    403: "You may not do this, or this page is out of date. Reload it and try again.",
    404: "This is no longer there. Perhaps a colleague deleted it. Reload the page.",
    413: "This file is larger than batchui accepts. Split it into smaller files.",
    429: "Too many attempts in a short time. Wait a minute, then try again.",
  };
  const OTHER_PROBLEM =
    "batchui could not do this. Try again in a moment. If it happens again, tell the person who runs batchui.";

  on("htmx:beforeRequest", (event) => {
    const form = event.detail.elt;
    if (form.matches("form") && !event.defaultPrevented) setBusy(form);
  });
  /* An answer that takes the place of the whole page may be of another kind of page. */
  on("htmx:beforeSwap", ({ detail: { target, serverResponse, shouldSwap } }) => {
    if (!shouldSwap || target !== document.body) return;
    document.body.className = /<body\s+class="([^"]*)"/.exec(serverResponse)?.[1] ?? "";
  });
  on("htmx:afterRequest", (event) => {
    const { elt, xhr } = event.detail;
    if (xhr.status > 0 && !isAway(xhr.status)) reachable(true);
    if (!elt.matches("form") || xhr.getResponseHeader("HX-Redirect")) return;
    setReady(elt);
  });
  /* What a person does, unlike a poll, or a question that saves itself and says so. */
  const ACTS = "form, button[hx-post], select[hx-post]";
  const NOT_DONE = "batchui cannot be reached, so nothing was done. Try again in a moment.";
  const notReached = ({ detail: { elt, target } }) => {
    unanswered(target);
    reachable(false);
    if (elt.matches(ACTS)) complain(NOT_DONE);
  };
  on("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    const sentence = PROBLEMS[status] ?? OTHER_PROBLEM;
    if (isAway(status)) return notReached(event);
    unanswered(event.detail.target, sentence);
    complain(sentence);
  });
  for (const event of ["htmx:sendError", "htmx:timeout"]) on(event, notReached);
  addEventListener("offline", () => reachable(false));
  addEventListener("online", () => reachable(true));

  /* A tab that nobody sees does not ask. As soon as it is seen, or its window is used again, it does:
     also that of a batch that has ended, whose answers others may have corrected or asked again. */
  const POLLS = "[hx-trigger*='every'], [hx-trigger='seen']";
  on("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.matches(POLLS)) event.preventDefault();
  });
  const askNow = () => {
    if (document.hidden) return;
    for (const one of document.querySelectorAll(POLLS)) window.htmx.trigger(one, "seen");
  };
  on("visibilitychange", askNow);
  addEventListener("focus", askNow);

  /* A time that has the focus (for its exact value) keeps it when its fragment is replaced. For elements
     with an id, htmx does the same. A line of the history has its time twice, one of them hidden. */
  const timesIn = (fragment) =>
    [...(fragment?.querySelectorAll("time") ?? [])].filter((time) => time.getClientRects().length);
  let watched = null;
  for (const event of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
    on(event, ({ detail: { target } }) => {
      const time = document.activeElement;
      if (!time.matches("time") || !target.contains(time)) return;
      const place = timesIn(target).indexOf(time);
      watched = { fragment: target.id, moment: time.dateTime, place };
    });
  }
  const watchAgain = () => {
    const times = timesIn(byId(watched.fragment));
    const time = times.find(({ dateTime }) => dateTime === watched.moment) ?? times[watched.place];
    watched = null;
    time?.focus({ preventScroll: true });
  };

  /* What somebody has unfolded stays unfolded when its fragment is replaced, with the focus inside. */
  let unfolded = { ids: [], focus: "" };
  for (const event of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
    on(event, ({ detail: { target } }) => {
      const within = [target, ...target.querySelectorAll("details[id]")];
      const ids = within.filter((one) => one.matches("details[id][open]")).map(({ id }) => id);
      if (!ids.length) return; /* One answer may replace several fragments. */
      const inside = document.activeElement.closest("details[id]");
      unfolded = { ids, focus: ids.includes(inside?.id) ? document.activeElement.id : "" };
    });
  }
  const unfoldAgain = () => {
    for (const id of unfolded.ids) byId(id)?.setAttribute("open", "");
    if (unfolded.focus) byId(unfolded.focus)?.focus({ preventScroll: true });
    unfolded = { ids: [], focus: "" };
  };

  /* A file that was made is saved once, as soon as its page says that it is ready. */
  const saveOnce = () => {
    for (const link of document.querySelectorAll("[data-saves-itself]")) {
      delete link.dataset.savesItself;
      link.click();
    }
  };

  /* A choice of how a file is read loads the page anew: what had the focus has it again, or the button of
     the menu that it was made in. */
  on("htmx:beforeOnLoad", ({ detail: { elt, xhr } }) => {
    if (elt.id !== "reading" || !xhr.getResponseHeader("HX-Refresh")) return;
    untilReload.set("focus", document.activeElement.id);
  });
  const focusAgain = () => {
    const chosen = byId(untilReload.get("focus"));
    untilReload.set("focus", "");
    chosen?.closest("details")?.setAttribute("open", "");
    const menu = chosen?.closest("[popover]");
    const button = menu && document.querySelector(`[popovertarget="${menu.id}"]`);
    (button ?? chosen)?.focus({ preventScroll: true });
  };

  on("htmx:load", ({ target }) => {
    if (target === document.body) chooseAll();
    updateTimes();
    settleToasts();
    keepNoteClosed();
    saveOnce();
    unfoldAgain();
    if (watched) watchAgain();
  });
  on("DOMContentLoaded", () => {
    chooseAll();
    updateTimes();
    settleToasts();
    saveOnce();
    focusAgain();
    setInterval(updateTimes, 1_000);
  });
})();
