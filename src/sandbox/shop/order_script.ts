/**
 * The shop's only script, as text: keeps an order's page up to date where scripts run. It fetches the page that it is on
 * and puts its changed parts in place; screen readers hear the part that is a live region. Without it there is a link.
 */

/** How often the page looks again, milliseconds. */
const EVERY_MS = 2500;
/** After so many looks the page has been forgotten in a tab: about ten minutes. */
const MAX_LOOKS = 240;

/** `/assets/order.js`. */
export const orderScript = `"use strict";
(() => {
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
  const later = () => setTimeout(async () => {
    if (document.hidden) return later();
    looks += 1;
    const goesOn = await look().catch(() => true);
    if (goesOn && looks < ${MAX_LOOKS}) return later();
    live.hidden = true;
    again.hidden = !goesOn && !again.contains(document.activeElement);
  }, ${EVERY_MS});
  live.hidden = false;
  later();
})();
`;
