/**
 * The shop's only script, served as text: updates an order's page. It fetches the current page and replaces its changed
 * parts; screen readers announce the live region. Without scripts the page has a link.
 */
"use strict";
(() => {
  /** Interval between updates, milliseconds. */
  const EVERY_MS = 2500;
  /** After so many updates, about ten minutes, the tab has probably been left open unused. */
  const MAX_LOOKS = 240;
  const live = document.getElementById("live");
  const again = document.getElementById("again");
  let looks = 0;
  const put = (part, fresh) => {
    part.className = fresh.className;
    if (part.innerHTML === fresh.innerHTML) return;
    const hadFocus = part.contains(document.activeElement);
    part.replaceChildren(...fresh.childNodes);
    if (hadFocus) document.getElementById("main").focus();
  };
  const look = async () => {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return true;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const other = fresh.getElementById(part.id);
      if (other !== null) put(part, other);
    }
    document.title = fresh.title;
    return fresh.getElementById("live") !== null;
  };
  const later = () =>
    setTimeout(async () => {
      if (document.hidden) return later();
      looks += 1;
      const goesOn = await look().catch(() => true);
      if (goesOn && looks < MAX_LOOKS) return later();
      live.hidden = true;
      again.hidden = !goesOn && !again.contains(document.activeElement);
    }, EVERY_MS);
  live.hidden = false;
  later();
})();
