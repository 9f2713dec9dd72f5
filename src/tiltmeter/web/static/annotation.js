"use strict";
// The pages work without this file. It lets one answer with single keys, and answers no question twice.

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const wanted = document.querySelector('[data-key="' + CSS.escape(event.key.length === 1 ? event.key.toLowerCase() : event.key) + '"]');
  if (!wanted) return;
  event.preventDefault();
  wanted.click();
});

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => { for (const form of document.querySelectorAll("form")) delete form.dataset.sent; });
