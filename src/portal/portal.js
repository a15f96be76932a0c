/** The portal's only script, served as text: copy buttons, the filter of the errors, `/` for the search. Pages work without it. */
"use strict";

for (const block of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const what = block.querySelector("figcaption")?.textContent ?? "code";
  const say = (text) => {
    button.textContent = text;
    button.setAttribute("aria-label", `${text}: ${what}`);
  };
  say("Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent.trimEnd());
    say("Copied");
    setTimeout(() => say("Copy"), 2000);
  });
  block.prepend(button);
}

const samples = [...document.querySelectorAll("[data-language]")];
const open = (language) => {
  for (const sample of samples) sample.open = sample.dataset.language === language;
};
for (const sample of samples) {
  sample.querySelector("summary").addEventListener("click", (event) => {
    event.preventDefault();
    localStorage.setItem("language", sample.dataset.language);
    open(sample.dataset.language);
  });
}
if (samples.some(({ dataset }) => dataset.language === localStorage.getItem("language"))) {
  open(localStorage.getItem("language"));
}

const list = document.querySelector("[data-filter]");
if (list !== null) {
  const form = document.createElement("p");
  form.className = "search";
  const label = document.createElement("label");
  label.htmlFor = "filter";
  label.textContent = list.dataset.filter;
  const input = document.createElement("input");
  Object.assign(input, { id: "filter", type: "search", autocomplete: "off" });
  const count = document.createElement("output");
  count.htmlFor = "filter";
  form.append(label, input, count);
  list.before(form);
  const entries = [...list.querySelectorAll("article")].map((
    entry,
  ) => [entry, entry.textContent.toLowerCase()]);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const [entry, text] of entries) {
      entry.hidden = !words.every((word) => text.includes(word));
      if (!entry.hidden) shown += 1;
    }
    for (const section of list.querySelectorAll("section")) {
      section.hidden = section.querySelector("article:not([hidden])") === null;
    }
    count.textContent = input.value === "" ? "" : `${shown} of ${entries.length}`;
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select") !== null) return;
  event.preventDefault();
  (document.querySelector("#filter") ?? document.querySelector("#q")).focus();
});
