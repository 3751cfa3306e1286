/* Where a file is taken: it may be pasted or dropped, and a bar shows how far it is. A draft gets this with
   the dialog that takes pictures, perhaps more than once. */
(() => {
  "use strict";

  const page = document.documentElement.dataset;
  if ("takesFiles" in page) return;
  page.takesFiles = "";

  const on = (event, act, capture = false) => document.addEventListener(event, act, capture);

  /* A pasted table goes up as a file: a form takes only little text. */
  on(
    "submit",
    (event) => {
      const form = event.target.closest?.("form[data-paste]");
      const text = form?.elements.pasted;
      if (!text?.value) return;
      const file = form.elements.file;
      const isTable = text.value.includes("\t") || "cells" in form.dataset;
      const name = isTable ? "Pasted table.tsv" : "Pasted list.txt";
      const held = new DataTransfer();
      held.items.add(new File([text.value], name, { type: "text/plain" }));
      file.files = held.files;
      file.disabled = false;
      text.disabled = true;
      setTimeout(() => {
        text.disabled = false;
        file.disabled = true;
      });
    },
    true,
  );

  /* Pasting works anywhere on the page of a new batch. Cells of a spreadsheet come as HTML, too: that
     tells a column of cells, with line breaks within, from a list. */
  on("paste", (event) => {
    const form = document.querySelector("form[data-paste]");
    const text = form?.elements.pasted;
    const isBeside = event.target !== text;
    if (!text || (isBeside && event.target.matches("input, textarea"))) return;
    const { clipboardData } = event;
    form.toggleAttribute("data-cells", /<table/i.test(clipboardData.getData("text/html")));
    const pasted = clipboardData.getData("text/plain");
    if (!isBeside || !pasted) return;
    event.preventDefault();
    form.closest("details").open = true;
    text.value = pasted;
    text.focus();
  });

  /* A file may be dropped anywhere on a page that takes one. Else the browser would leave the page
     and open it. */
  for (const [event, over] of [
    ["dragenter", true],
    ["dragover", true],
    ["dragleave", false],
    ["drop", false],
  ]) {
    on(event, (drag) => {
      const zone = document.querySelector("[data-dropzone]");
      if (!zone || !drag.dataTransfer?.types.includes("Files")) return;
      zone.toggleAttribute("data-over", over);
      const input = zone.querySelector("input[type=file]");
      if (drag.target === input || event === "dragleave") return;
      drag.preventDefault();
      if (event !== "drop" || !drag.dataTransfer.files.length) return;
      input.files = drag.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  on("change", (event) => {
    const zone = event.target.closest("[data-dropzone]");
    const name = zone?.querySelector("[data-file-name]");
    if (name && event.target.files?.length) name.textContent = event.target.files[0].name;
  });

  /* Uploads: a bar with a figure. */
  const megabytes = (bytes) => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);

  const showUpload = (form, { loaded, total, lengthComputable }) => {
    const file = form.querySelector("input[type=file]")?.files[0];
    /* The download of the answer fires the same event. */
    if (!lengthComputable || !file || total < file.size) return;
    const bar = form.querySelector("[data-upload-status] progress");
    const text = form.querySelector("[data-upload-text]");
    if (loaded < total) {
      bar.max = total;
      bar.value = loaded;
      text.textContent = `${megabytes(loaded)} of ${megabytes(total)} MB`;
    } else {
      bar.removeAttribute("value");
      text.textContent = `${megabytes(total)} MB are uploaded. Reading the file …`;
    }
  };
  const uploading = (form, under) => {
    const status = form.querySelector("[data-upload-status]");
    if (status) status.hidden = !under;
  };

  /* A file over the limit is refused here, before it is uploaded. */
  const refuse = (form) => {
    const input = form.querySelector("input[data-limit]");
    if (!(input?.files[0]?.size > Number(input?.dataset.limit))) return false;
    const problem = form.querySelector("[data-upload-problem]");
    problem.textContent = input.dataset.tooLarge;
    problem.closest("[role=alert]").hidden = false;
    input.value = "";
    return true;
  };

  on("htmx:xhr:progress", (event) => {
    const form = event.target.closest("form[data-upload]");
    if (form) showUpload(form, event.detail);
  });
  on("click", ({ target }) => {
    const form = target.closest("[data-aborts]")?.closest("form");
    if (!form) return;
    window.htmx.trigger(form, "htmx:abort");
    form.reset();
    const name = form.querySelector("[data-file-name]");
    if (name) name.textContent = name.dataset.fileName;
    const detail = "The upload was cancelled. Nothing was kept.";
    document.dispatchEvent(new CustomEvent("says", { detail }));
    form.querySelector("input[type=file]")?.focus();
  });

  let underWay = false;
  addEventListener("beforeunload", (event) => {
    if (underWay) event.preventDefault();
  });
  const UPLOAD = "form[data-upload]";
  on(
    "htmx:beforeRequest",
    (event) => {
      const form = event.detail.elt;
      if (!form.matches(UPLOAD)) return;
      if (refuse(form)) return event.preventDefault();
      uploading(form, true);
      underWay = true;
    },
    true, /* Before the page shows that it is under way. */
  );
  /* Before the answer leads to another page: leaving for that is no loss. */
  on("htmx:beforeOnLoad", ({ detail: { elt } }) => {
    if (elt.matches(UPLOAD)) underWay = false;
  });
  on("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
    if (!elt.matches(UPLOAD)) return;
    underWay = false;
    if (!xhr.getResponseHeader("HX-Redirect")) uploading(elt, false);
  });
})();
