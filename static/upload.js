/* The pages that take a file: it may be pasted or dropped. What shows how far it is stands in `app.js`,
   with what is true of every form. */
(() => {
  "use strict";

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
})();
