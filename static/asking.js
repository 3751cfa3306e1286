/* The page before Start: the question saves itself and is filled in for the row in view, names of
   columns are offered while they are typed, and nothing but its own button starts a batch. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);
  const isOfQuestion = (element) => element.form?.id === "ask" && element.name !== "";

  /* Saving. Every change has a number; a request saves all changes up to its own. The next one waits for
     its answer (hx-sync), so that none can overtake it on its way. */
  let changes = 0;
  let saved = 0;
  /* A request that was given up may still arrive, and after those that follow it: each tells its number,
     and of which page it is. */
  const page = Math.random().toString(36).slice(2, 12);
  const change = () => `${page}:${changes}`;
  const upTo = new WeakMap(); /* By request; others of the page save nothing. */

  const tell = (words) => {
    const place = byId("saved")?.querySelector("span");
    if (place && place.textContent !== words) place.textContent = words;
  };
  const typed = () => {
    changes += 1;
    tell("Saving …");
    byId("prompt-preview")?.dispatchEvent(new CustomEvent("typed"));
  };
  const isSaving = ({ detail }) => detail.pathInfo?.requestPath.endsWith("/preview/");

  on("input", ({ target }) => {
    if (isOfQuestion(target)) typed();
  });
  /* While Start, or a question to start from, is under way nothing else is asked: the answer may
     replace the whole question. Nor is Start pressed then, for a question that is about to change. */
  let replacing = null; /* Its request. */
  const replaces = ({ detail }) => detail.target?.id === "ask";
  const mayStart = (yes) => byId("start-button")?.toggleAttribute("disabled", !yes);
  on("htmx:configRequest", (event) => {
    if (!event.detail.formData.has("template")) return;
    if (replaces(event)) changes += 1;
    event.detail.formData.set("change", change());
  });
  on("htmx:beforeRequest", (event) => {
    if (replacing && (replaces(event) || isSaving(event))) return event.preventDefault();
    if (replaces(event)) {
      replacing = event.detail.xhr;
      mayStart(false);
      window.htmx.trigger("#prompt-preview", "htmx:abort");
    }
    if (replaces(event) || isSaving(event)) upTo.set(event.detail.xhr, changes);
  });
  /* Before the page is left for the batch that was started. */
  on("htmx:beforeOnLoad", (event) => {
    /* Also where Start is refused, what was typed is saved. */
    const isSaved = replaces(event) && [200, 422].includes(event.detail.xhr.status);
    if (isSaved) saved = Math.max(saved, upTo.get(event.detail.xhr) ?? 0);
  });
  on("htmx:afterRequest", (event) => {
    const underWay = upTo.get(event.detail.xhr) ?? 0;
    /* The dialog that asks for consent to the price has another target than the question. */
    if (event.detail.xhr === replacing) {
      replacing = null;
      if (event.detail.elt.id !== "ask") mayStart(true);
      if (saved === changes) tell("Saved");
      else byId("prompt-preview")?.dispatchEvent(new CustomEvent("typed"));
      return;
    }
    if (!isSaving(event)) return;
    if (event.detail.successful) {
      saved = Math.max(saved, underWay);
      document.body.dispatchEvent(new CustomEvent("question-saved"));
    }
    /* A request that Start has ended has no answer. */
    if (saved === changes) tell("Saved");
    else if (event.detail.failed && event.detail.xhr.status) tell("Not saved");
  });
  for (const name of ["htmx:sendError", "htmx:timeout"])
    on(name, (event) => {
      if (replaces(event) || isSaving(event)) tell("Not saved");
    });

  /* What was typed in the last moment is saved when the page is left, or put in the background. */
  const saveNow = () => {
    const form = byId("ask");
    if (!form || saved === changes) return;
    const sent = changes;
    const body = new URLSearchParams(new FormData(form));
    body.set("change", change());
    const saving = { method: "POST", body, keepalive: true };
    fetch(form.dataset.saves, saving).then(
      ({ ok }) => {
        if (ok) saved = Math.max(saved, sent);
        if (saved === changes) tell("Saved");
      },
      () => {},
    );
  };
  /* A page that is loaded anew may be made before that is saved: it gets the words from here, and
     everything else from the server, once it is saved. */
  const LEFT = "batchui.left";
  const SECONDS_LEFT = 10;
  let savedBefore = null; /* When the next page was asked for. */
  const filledIn = (form) => {
    const fields = new URLSearchParams(new FormData(form));
    /* Another one each time; and the row in view is not of the question. */
    for (const name of ["csrfmiddlewaretoken", "row"]) fields.delete(name);
    return fields;
  };
  const keepWords = () => {
    const form = byId("ask");
    if (!form || (savedBefore ?? saved) === changes) return;
    const left = { page: form.dataset.saves, at: Date.now(), fields: `${filledIn(form)}` };
    try {
      sessionStorage.setItem(LEFT, JSON.stringify(left));
    } catch {
      /* Private windows may forbid it, and a very long text has no room: then it is only sent. */
    }
  };
  const bringWordsBack = () => {
    let left = null;
    try {
      left = JSON.parse(sessionStorage.getItem(LEFT));
      sessionStorage.removeItem(LEFT);
    } catch {
      return;
    }
    const form = byId("ask");
    const isOfPage = left && form && left.page === form.dataset.saves;
    const isRecent = isOfPage && Date.now() - left.at < SECONDS_LEFT * 1000;
    if (!isRecent || left.fields === `${filledIn(form)}`) return;
    const fields = new URLSearchParams(left.fields);
    byId("id_template").value = fields.get("template") ?? "";
    if (left.fields === `${filledIn(form)}`) {
      byId("id_template").dispatchEvent(new Event("input", { bubbles: true }));
      return;
    }
    fields.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    tell("Saving …");
    const showSaved = () => {
      const shown = { target: "#ask", select: "#ask", swap: "outerHTML" };
      const isStarted = () => !byId("ask");
      window.htmx.ajax("get", location.href, shown).then(() => isStarted() && location.reload());
    };
    fields.set("change", change());
    fetch(form.dataset.saves, { method: "POST", body: fields }).then(showSaved, () => tell("Not saved"));
  };
  /* The next page may be asked for long before this one is left, and be made before what is saved
     meanwhile. */
  addEventListener("beforeunload", () => {
    savedBefore = saved;
  });
  addEventListener("pagehide", () => {
    saveNow();
    keepWords();
  });
  on("visibilitychange", () => {
    if (document.visibilityState === "hidden") saveNow();
  });

  /* The row whose filled prompt is shown: the one before, the next one, or one of the sheet. */
  const showRow = (number) => {
    const field = document.querySelector("#prompt-preview [name=row]");
    if (!field || !number || field.value === number) return;
    field.value = number;
    byId("prompt-preview").dispatchEvent(new CustomEvent("row-chosen"));
  };
  on("click", ({ target }) => {
    const button = target.closest("[data-shows-row]");
    if (button) return showRow(button.dataset.showsRow);
    const row = target.closest("#sheet tr[id^=row-]");
    if (row) showRow(row.id.slice(4));
  });
  on("focusin", ({ target }) => {
    const row = target.closest("#sheet tr[id^=row-]");
    if (row) showRow(row.id.slice(4));
  });

  /* Columns that the question uses are marked. */
  const used = (text) => {
    const names = [...text.matchAll(/\{\{([\s\S]*?)\}\}/g)];
    return new Set(names.flatMap(([, name]) => [name, name.trim()]));
  };
  const markColumns = () => {
    const area = byId("id_template");
    if (!area) return;
    const inUse = used(area.value);
    for (const chip of document.querySelectorAll("#column-chips [data-column]")) {
      /* In a field every line break is a line feed. */
      const isUsed = inUse.has(chip.dataset.column.replaceAll(/\r\n?/g, "\n").trim());
      if ("used" in chip.dataset === isUsed) continue;
      chip.toggleAttribute("data-used", isUsed);
      if (isUsed) chip.setAttribute("aria-description", "in use");
      else chip.removeAttribute("aria-description");
    }
  };
  on("input", ({ target }) => {
    if (target.id === "id_template") markColumns();
  });

  /* Typing {{ offers the columns. The field keeps the focus; the list says which one is chosen. */
  const MOST_OFFERED = 50;
  const LONGEST_TYPED = 100;
  let chosen = 0;

  const list = () => byId("column-list");
  const isOffering = () => list() !== null && !list().hidden;

  const closeList = () => {
    if (!isOffering()) return;
    list().hidden = true;
    list().replaceChildren();
    byId("id_template").removeAttribute("aria-activedescendant");
  };

  /* Where the name begins that is being typed, and what of it is there; null outside of {{. */
  const beingTyped = (area) => {
    if (area.selectionStart !== area.selectionEnd) return null;
    const before = area.value.slice(0, area.selectionStart);
    const start = before.lastIndexOf("{{");
    const name = before.slice(start + 2);
    if (start < 0 || name.includes("}}") || name.length > LONGEST_TYPED) return null;
    return { start, name: name.trim().toLowerCase() };
  };

  const matching = (wanted) => {
    const chips = document.querySelectorAll("#column-chips [data-column]");
    const names = [...chips].map(({ dataset }) => dataset.column);
    const found = names.filter((name) => name.toLowerCase().includes(wanted));
    const begins = (name) => !name.toLowerCase().startsWith(wanted);
    return found.sort((one, other) => begins(one) - begins(other)).slice(0, MOST_OFFERED);
  };

  const choose = (place) => {
    const options = [...list().children];
    chosen = (place + options.length) % options.length;
    for (const [at, option] of options.entries()) {
      option.setAttribute("aria-selected", String(at === chosen));
    }
    options[chosen].scrollIntoView({ block: "nearest" });
    byId("id_template").setAttribute("aria-activedescendant", options[chosen].id);
  };

  const offer = () => {
    const area = byId("id_template");
    const typing = area && document.activeElement === area ? beingTyped(area) : null;
    const names = typing ? matching(typing.name) : [];
    if (!names.length) return closeList();
    const before = [...list().children].map(({ textContent }) => textContent);
    if (isOffering() && before.join("\0") === names.join("\0")) return;
    list().replaceChildren(
      ...names.map((name, at) => {
        const option = document.createElement("li");
        option.id = `column-option-${at}`;
        option.setAttribute("role", "option");
        option.textContent = name;
        return option;
      }),
    );
    list().hidden = false;
    choose(0);
    byId("announcement").textContent =
      names.length === 1 ? `1 column: ${names[0]}` : `${names.length} columns: use the arrow keys`;
  };

  /* Writes the name in full. What may stand behind the caret of the same name goes. */
  const complete = () => {
    const area = byId("id_template");
    const { start } = beingTyped(area);
    const rest = area.value.slice(area.selectionStart).match(/^[^{}\n]{0,100}\}\}/);
    const text = `{{${list().children[chosen].textContent}}}`;
    area.setSelectionRange(start, area.selectionStart + (rest ? rest[0].length : 0));
    /* This way, the browser's own Undo takes it back. */
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
    closeList();
  };

  const keys = {
    ArrowDown: () => choose(chosen + 1),
    ArrowUp: () => choose(chosen - 1),
    Enter: complete,
    Tab: complete,
    Escape: closeList,
  };
  on(
    "keydown",
    (event) => {
      if (event.target.id !== "id_template" || event.isComposing || !isOffering()) return;
      if (!(event.key in keys) || event.shiftKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    },
    true,
  );
  on("input", ({ target }) => {
    if (target.id === "id_template") offer();
  });
  on("selectionchange", () => {
    if (isOffering()) offer();
  });
  on("focusout", ({ target }) => {
    if (target.id === "id_template") closeList();
  });
  /* The press itself would take the focus from the field. */
  on("mousedown", (event) => {
    if (event.target.closest("#column-list")) event.preventDefault();
  });
  on("click", ({ target }) => {
    const option = target.closest("#column-list [role=option]");
    if (!option) return;
    choose([...list().children].indexOf(option));
    complete();
  });

  /* The answer columns: lines are added, moved and removed where they stand, and saved like any change. */
  const answerLines = () => byId("answer-lines");
  /* What a line is while it is closed: “tone · one of good, mixed, bad”, as the server says it. */
  const showLine = (line) => {
    const kind = line.querySelector("select").selectedOptions[0].text;
    const choices = line.querySelector("[name=column_choices]").value;
    const listed = choices.split(/[;\n]/).map((one) => one.trim()).filter(Boolean).join(", ");
    line.querySelector(".answer-name").textContent =
      line.querySelector("[name=column_name]").value.trim() || "New column";
    line.querySelector(".answer-kind").textContent = listed ? kind.replace("a list", listed) : kind;
  };
  on("input", ({ target }) => {
    const line = target.closest(".answer-line");
    if (line) showLine(line);
  });
  /* Where the focus goes in a line: to its name, or, while it is closed, to what opens it. */
  const entryOf = (line) =>
    line?.querySelector(line.querySelector("details").open ? "[name=column_name]" : "summary");
  const changedLines = (focused) => {
    for (const [at, line] of [...answerLines().children].entries()) {
      line.setAttribute("aria-label", `Answer column ${at + 1}`);
    }
    focused?.focus();
    typed();
  };
  const addLine = () => {
    const line = byId("answer-line").content.firstElementChild.cloneNode(true);
    answerLines().append(line);
    changedLines(entryOf(line));
    line.scrollIntoView({ block: "nearest" });
  };
  const actsOnLine = {
    up: (line, button) => {
      line.previousElementSibling?.before(line);
      changedLines(button);
    },
    down: (line, button) => {
      line.nextElementSibling?.after(line);
      changedLines(button);
    },
    remove: (line) => {
      const next = line.nextElementSibling ?? line.previousElementSibling;
      const name = line.querySelector("[name=column_name]").value;
      line.remove();
      byId("announcement").textContent = name ? `“${name}” was removed` : "The column was removed";
      changedLines(entryOf(next) ?? byId("add-answer-column"));
    },
  };
  on("click", ({ target }) => {
    if (target.closest("#add-answer-column")) return addLine();
    const button = target.closest("[data-line]");
    if (button) actsOnLine[button.dataset.line](button.closest(".answer-line"), button);
  });
  /* Lines that were made of a pasted schema. */
  on("htmx:afterSwap", ({ detail }) => {
    if (detail.requestConfig?.path?.endsWith("/answer-columns/")) {
      changedLines(entryOf(answerLines().firstElementChild) ?? byId("id_column_schema"));
    }
  });

  /* Only its own button starts a batch: Enter in a field does not. The title and the labels are forms of
     their own. */
  on("keydown", (event) => {
    const { target, key } = event;
    if (key !== "Enter" || !target.matches("#asking input:not(.title *, .label-form *)")) return;
    event.preventDefault();
    if (target.id === "id_question_name") byId("save-question-button").click();
    target.closest("dialog")?.close();
  });

  /* The list of models opens at the chosen one, which may have to come first. */
  const toChosenModel = () => {
    const dialog = byId("model-dialog");
    if (dialog?.open) dialog.querySelector("input:checked")?.focus();
  };
  on("click", ({ target }) => {
    if (target.closest("[data-opens=model-dialog]")) toChosenModel();
  });
  on("htmx:load", ({ target }) => {
    if (target.id === "models") toChosenModel();
  });

  /* What a refused Start is about may be in a note that is closed. */
  const showNotes = () => {
    for (const note of document.querySelectorAll("[popover][data-shows-itself]")) {
      delete note.dataset.showsItself;
      note.showPopover();
      (note.querySelector("[autofocus]") ?? byId("id_skip_invalid"))?.focus();
      const reasons = [...note.querySelectorAll(".unaskable, .field-error")];
      byId("announcement").textContent =
        `Nothing was started. ${reasons.map((reason) => reason.textContent.trim()).join(" ")}`;
    }
  };
  /* What the empty field says is about the chosen model, and the columns of the file. */
  const showPlaceholder = () => {
    const area = byId("id_template");
    const { placeholder } = byId("question-label")?.dataset ?? {};
    if (area && placeholder && area.placeholder !== placeholder) area.placeholder = placeholder;
  };
  const settle = () => {
    markColumns();
    showPlaceholder();
    showNotes();
    /* A field that gets the focus anew has the caret at its end. */
    const area = document.activeElement;
    if (area.id === "id_template" && !("met" in area.dataset)) {
      area.dataset.met = "";
      area.setSelectionRange(area.value.length, area.value.length);
    }
  };
  on("htmx:load", settle);
  on("DOMContentLoaded", () => {
    bringWordsBack();
    settle();
  });
})();
