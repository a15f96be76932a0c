/** Shows an edited consent while it is typed. Without it the form's button does. */
"use strict";

const form = document.querySelector("#consent");
const WAIT_MS = 250;
let waiting;
let latest = 0;

async function show() {
  const query = new URLSearchParams(new FormData(form));
  const mine = ++latest;
  const answer = await fetch(`${location.pathname}?${query}`);
  const shown = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== latest) return;
  history.replaceState(null, "", `?${query}`);
  document.querySelector("#json").replaceWith(shown.querySelector("#json"));
  addCopyButton();
  for (const frame of document.querySelectorAll("iframe")) {
    // Not `src`: each change would be a step of the browser's history.
    frame.contentWindow.location.replace(
      new URL(`${frame.dataset.screen}?${query}`, location.href),
    );
  }
  for (const field of form.querySelectorAll(".field")) {
    const { id } = field.querySelector("input, select");
    field.querySelector(".fault")?.remove();
    const fault = shown.querySelector(`#${id}-fault`);
    if (fault !== null) field.append(fault);
    const input = field.querySelector("input");
    input?.toggleAttribute("aria-invalid", fault !== null);
  }
}

form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(show, WAIT_MS);
});

function addCopyButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector("#json pre").textContent);
    button.textContent = "Copied";
  });
  document.querySelector("#json p").prepend(button, " ");
}
addCopyButton();
