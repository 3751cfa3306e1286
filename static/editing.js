/* Correcting answers: in the panel, and in the cell itself (F2, or a double click). */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* In a cell: what stood there comes back when somebody cancels. */
  let open = null; /* { cell, was } of the cell that is edited. */
  let saving = null; /* The form that is sent. */

  const formIn = (cell) => cell?.querySelector(".edit-form");
  const changed = (form) =>
    [...form.elements].some((one) =>
      one.type === "checkbox"
        ? one.checked !== one.defaultChecked
        : one.tagName === "SELECT"
          ? [...one.options].some((option) => option.selected !== option.defaultSelected)
          : one.type !== "hidden" && "defaultValue" in one && one.value !== one.defaultValue,
    );
  const focusRow = (cell) => cell.closest("tr")?.querySelector(".n a")?.focus({ preventScroll: true });

  const cancelCell = () => {
    const { cell, was } = open;
    open = null;
    cell.classList.remove("editing");
    cell.replaceChildren(...was);
    focusRow(cell);
  };
  const edit = (cell) => {
    if (!cell?.matches(".edits") || formIn(cell)) return false;
    if (open?.cell.isConnected) {
      if (changed(formIn(open.cell) ?? document.createElement("form"))) {
        formIn(open.cell).requestSubmit();
        return true;
      }
      cancelCell();
    }
    const [, row, at] = cell.id.match(/^cell-(\d+)-(\d+)$/);
    const address = new URL(location.href);
    address.pathname = address.pathname.replace(/rows\/\d+\/$/, "");
    address.pathname += `rows/${row}/answers/${at}/`;
    address.searchParams.set("in", "cell");
    open = { cell, was: [...cell.childNodes] };
    cell.classList.add("editing");
    window.htmx.ajax("GET", address.pathname + address.search, { target: cell, swap: "innerHTML" });
    return true;
  };

  on("dblclick", ({ target }) => {
    const cell = target.closest?.("#grid-rows td.answer");
    if (!cell || target.closest("form, a, button")) return;
    getSelection().removeAllRanges();
    edit(cell);
  });

  /* In the panel: the button has the focus again when the form has gone. */
  let pressed = "";
  on("click", ({ target }) => {
    const button = target.closest?.("[data-edits]");
    if (button) pressed = button.id;
  });
  const cancel = (form) => {
    if (form.dataset.editForm === "cell" && open) cancelCell();
    else window.htmx.trigger("#panel-row", "panel-again");
  };
  on("click", ({ target }) => {
    const button = target.closest?.("[data-edit-cancel]");
    if (button) cancel(button.form);
  });
  on(
    "keydown",
    (event) => {
      const form = event.target.closest?.(".edit-form");
      if (!form) {
        const row = event.target.closest?.("#grid-rows tr");
        if (event.key === "F2" && row && edit(row.querySelector(".edits"))) event.preventDefault();
        return;
      }
      const inCell = form.dataset.editForm === "cell";
      if (event.key === "Escape") {
        cancel(form);
      } else if (event.key === "F2" && inCell && !changed(form)) {
        const next = form.closest("td").nextElementSibling;
        if (!next?.matches(".edits")) return;
        edit(next);
      } else if (event.key === "Enter" && !event.target.closest("button") && !event.isComposing) {
        const saves = inCell ? !event.shiftKey : event.ctrlKey || event.metaKey;
        if (!saves) return;
        form.requestSubmit();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );

  /* The form has the focus where it comes; a sentence in its place says why there is none. */
  on("htmx:afterSwap", ({ detail }) => {
    const control = detail.target.closest?.("td.editing")
      ? byId("cell-edit")
      : byId("panel")?.querySelector(".edit-form [name=value]");
    if (control && !control.form.contains(document.activeElement)) {
      control.focus();
      if (open?.cell.contains(control)) control.select?.();
    }
    if (detail.target.id === "panel" && pressed && document.activeElement === document.body) {
      byId(pressed)?.focus();
      pressed = "";
    }
    const refused = document.querySelector("[data-refused]");
    if (!refused || !detail.target.contains?.(refused)) return;
    if (open?.cell.contains(refused)) {
      byId("announcement").textContent = refused.textContent;
      const { cell } = open;
      setTimeout(() => open?.cell === cell && cancelCell(), 4_000);
    } else refused.focus();
  });
  on("htmx:oobBeforeSwap", (event) => {
    const { target } = event.detail;
    if (open?.cell !== target) return;
    /* Others have changed it: who saves is told. What is written here stays. */
    if (!saving) {
      event.detail.shouldSwap = false;
      return;
    }
    open = null;
    const row = target.closest("tr");
    queueMicrotask(() => row?.querySelector(".n a")?.focus({ preventScroll: true }));
  });

  /* What is written in the panel is not lost to another row, or to the button that closes it. */
  const written = () => [...document.querySelectorAll("#panel .edit-form")].find(
      (form) => changed(form) || form.querySelector("[aria-invalid]"), /* refused, and not saved yet */
    );
  const stay = (form, event) => {
    event.preventDefault();
    event.stopPropagation();
    const said = form.querySelector("[data-stays]");
    said.hidden = false;
    said.textContent = said.dataset.stays;
    form.querySelector("[name=value]").focus();
    form.scrollIntoView({ block: "nearest" });
  };
  on("leave", (event) => {
    const form = written();
    if (form) stay(form, event);
  });
  on(
    "click",
    (event) => {
      const form = event.target.closest?.("#panel [data-closes]") && written();
      if (form) stay(form, event);
    },
    true,
  );
  on("htmx:beforeRequest", (event) => {
    const { elt, target } = event.detail;
    const form = target.id === "panel" && elt.id !== "panel-row" && written();
    if (form) stay(form, event);
  });

  /* The panel does not ask anew under the hands of somebody who writes in it. */
  on("htmx:afterRequest", ({ detail }) => {
    if (detail.elt === saving) saving = null;
  });
  on("htmx:beforeRequest", (event) => {
    const { elt } = event.detail;
    if (elt.matches(".edit-form")) saving = elt;
    if (elt.id !== "panel-row" || event.detail.requestConfig.triggeringEvent?.type === "panel-again") {
      return;
    }
    const others = [...elt.querySelectorAll(".edit-form")].filter((form) => form !== saving);
    if (others.some(changed)) event.preventDefault();
  });
})();
