/**
 * The one stylesheet of the platform's pages and their icon, as text for the browser app to serve. Colours and sizes
 * are named once, on top; below only the names are used. Directions are logical, so Arabic needs no rules of its own.
 */

import { PORTAL_STYLES } from "./stylesheet_portal.ts";

/** Where the browser app serves {@link STYLESHEET}. */
export const STYLESHEET_PATH = "/assets/platform.css";
/** Where the browser app serves {@link ICON}. */
export const ICON_PATH = "/assets/platform.svg";

/** `image/svg+xml`. */
export const ICON =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#15507f"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"><path d="M16 5 8 8v6.5c0 5.5 3.5 9.7 8 11.5 4.5-1.8 8-6 8-11.5V8z"/><path d="m12 15.5 3 3 5.5-6"/></g></svg>`;

/** `text/css`. */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --page: #f3f5f8;
  --surface: #ffffff;
  --sunken: #eef2f6;
  --text: #17212b;
  --muted: #4a5967;
  --line: #d5dce3;
  --edge: #6b7885;
  --accent: #15507f;
  --accent-strong: #0d3b61;
  --on-accent: #ffffff;
  --accent-soft: #e8f1f9;
  --warn: #fff2cc;
  --on-warn: #4f3b00;
  --hairline: 1px;
  --radius: 12px;
  --gap: 16px; /* pixels: space must not grow with the reader's text and squeeze it */
  --gap-small: 8px;
  --pad: clamp(12px, 4vw, 24px);
  --target: 44px;
  --small: 0.9375rem;
  --narrow: 36rem;
  --wide: 76rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10161d;
    --surface: #19222c;
    --sunken: #222d39;
    --text: #e9eef3;
    --muted: #afbcc9;
    --line: #364352;
    --edge: #8b9aa9;
    --accent: #9acbf5;
    --accent-strong: #c3e1fb;
    --on-accent: #0b2239;
    --accent-soft: #1d3246;
    --warn: #47390f;
    --on-warn: #ffe9a8;
  }
}
@media (prefers-contrast: more) {
  :root {
    --muted: var(--text);
    --line: var(--text);
    --edge: var(--text);
    --hairline: 2px;
  }
}

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, h4, h5, p, ul, ol, dl, dd, fieldset, legend, pre { margin: 0; padding: 0; }
h1, h2, h3, h4, h5 { line-height: 1.25; font-weight: 650; text-wrap: balance; }
h1 { font-size: clamp(1.375rem, 1.1rem + 1.6vw, 1.875rem); letter-spacing: -0.01em; }
h2 { font-size: 1.0625rem; }
ul { list-style-type: ""; } /* none would take the list away from VoiceOver */
code, .identifier { font-family: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace; font-size: 0.9em; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { color: var(--accent-strong); text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
main:focus { outline: none; }
:lang(ar) :is(h1, h2, h3) { letter-spacing: normal; }
.visually-hidden {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
  user-select: none;
}
.skip {
  position: absolute;
  inset-block-start: 0.5rem;
  inset-inline-start: 0.5rem;
  z-index: 1;
  padding: 0.625rem 1rem;
  background: var(--surface);
  border-radius: var(--radius);
  transform: translateY(-200%);
}
.skip:focus { transform: none; }

.sandbox {
  padding: var(--gap-small) var(--pad);
  background: var(--warn);
  color: var(--on-warn);
  border-block-end: var(--hairline) solid transparent;
  text-align: center;
  font-size: var(--small);
  font-weight: 600;
}
.bar, .narrow main, footer { max-inline-size: var(--narrow); margin-inline: auto; padding-inline: var(--pad); }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; padding-block-start: var(--gap-small); column-gap: var(--gap); }
.product { display: flex; align-items: center; gap: var(--gap-small); min-block-size: var(--target); font-weight: 650; }
.logo { flex: none; max-block-size: 2rem; max-inline-size: 10rem; }
footer { padding-block-end: 24px; color: var(--muted); font-size: var(--small); }
footer a { display: inline-block; min-block-size: var(--target); padding-block: 10px; }
.mark { flex: none; color: var(--accent); inline-size: 1.5rem; block-size: 1.5rem; }
.languages ul { display: flex; flex-wrap: wrap; justify-content: end; margin-inline: calc(-1 * var(--gap-small)); }
.languages summary { justify-content: end; font-size: var(--small); }
.languages:has([open]) { flex-basis: 100%; }
.languages a {
  display: flex;
  align-items: center;
  min-block-size: var(--target);
  min-inline-size: var(--target);
  justify-content: center;
  padding-inline: var(--gap-small);
  font-size: var(--small);
}
.languages [aria-current] { color: var(--text); font-weight: 650; text-decoration: none; }
.narrow main { padding-block: var(--gap-small) 48px; }
.narrow main > * + *, form > * + * { margin-block-start: 12px; }
.lead { color: var(--muted); }

.card {
  min-inline-size: 0;
  padding: var(--pad);
  background: var(--surface);
  border: var(--hairline) solid var(--line);
  border-radius: var(--radius);
}
.card > * + * { margin-block-start: var(--gap-small); }
.facts > div { padding-block: var(--gap-small); }
.facts > div + div { border-block-start: var(--hairline) solid var(--line); }
.facts > div:last-child { padding-block-end: 0; }
.facts dt { color: var(--muted); font-size: var(--small); }
.facts dd { overflow: clip; }
.facts .amount { padding-block-start: 0; }
.facts .amount dd { font-size: clamp(1.875rem, 1.5rem + 2.5vw, 2.5rem); font-weight: 700; line-height: 1.2; }
.facts .payee dd { font-weight: 650; }
.payment h2 + * { margin: 0; }
.payment > .facts > div:not(.amount) { display: block; }
.payment .facts > div { padding-block: 0; }
.payment .facts > div + div { border: 0; margin-block-start: var(--gap-small); }
.written { padding: var(--gap-small) 12px; border-inline-start: 4px solid var(--edge); background: var(--sunken); border-radius: 4px; }
.written > p, .written dt { color: var(--muted); font-size: var(--small); }
details > summary { display: flex; align-items: center; gap: var(--gap-small); min-block-size: var(--target); color: var(--accent); cursor: pointer; list-style: none; }
details > summary::-webkit-details-marker { display: none; }
details > summary::before { content: ""; flex: none; inline-size: 0.5em; block-size: 0.5em; border: solid; border-width: 0 2px 2px 0; transform: translateY(-25%) rotate(45deg); }
details[open] > summary::before { transform: translateY(25%) rotate(225deg); }
details > * + * { margin-block-start: 12px; }
.card > details:last-child { margin-block-end: calc(-1 * var(--gap-small)); }
.account .balance { font-weight: 400; }
@media (max-width: 29.99rem) {
  .account .scheme { display: block; }
  .account .scheme.IBAN { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); } /* shows by itself what it is */
}
@media (min-width: 30rem) {
  .facts > div:not(.amount) { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); column-gap: var(--gap); align-items: baseline; }
}
.money, .number { font-variant-numeric: tabular-nums; }
.money { display: inline-block; max-inline-size: 100%; } /* whole on the next line, in parts where it fits on none */
.number span span { white-space: nowrap; }
.scheme { color: var(--muted); }
.note { padding: 12px var(--gap); background: var(--accent-soft); border-radius: 8px; font-size: var(--small); }
.notice { padding: 12px var(--gap); background: var(--warn); color: var(--on-warn); border-radius: 8px; }
.next { padding-inline-start: 20px; list-style: disc; }
.next li + li { margin-block-start: var(--gap-small); }

.accounts legend { float: inline-start; inline-size: 100%; padding-block-end: var(--gap-small); }
.accounts legend + * { clear: both; }
.account {
  position: relative;
  display: flex;
  gap: 12px;
  min-block-size: var(--target);
  padding: 10px clamp(12px, 3vw, 16px);
  border: 1px solid var(--edge);
  border-radius: 10px;
}
.account input { position: relative; z-index: 1; flex: none; inline-size: 22px; block-size: 22px; margin: 1px 0 0; accent-color: var(--accent); }
.account .words { flex: 1; min-inline-size: 0; }
.account label { display: flex; flex-wrap: wrap; justify-content: space-between; column-gap: var(--gap); font-weight: 650; }
.account label::after { content: ""; position: absolute; inset: 0; border-radius: inherit; cursor: pointer; }
.account .more { color: var(--muted); font-size: var(--small); }
.account .why { margin-block-start: 4px; color: var(--text); }
.account .warning { padding: 4px 8px; background: var(--warn); color: var(--on-warn); border-radius: 6px; }
.account:hover { border-color: var(--accent); }
.account:has(:checked) { border-color: var(--accent); background: var(--accent-soft); box-shadow: inset 0 0 0 1px var(--accent); }
.account:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 2px; }
.account:has(:focus-visible) input { outline: none; }
.account:has(:disabled) { background: var(--sunken); border-style: dashed; border-color: var(--line); }
.account:has(:disabled) label { color: var(--muted); }
.account:has(:disabled) label::after { cursor: not-allowed; }

.decisions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9rem), 1fr)); gap: 12px; }
@media (min-height: 40rem) {
  html:has(.decisions) { scroll-padding-block-end: 8rem; } /* what has the focus is not below the buttons (WCAG 2.4.11) */
  .decisions { position: sticky; inset-block-end: 0; z-index: 2; margin-inline: calc(-1 * var(--gap-small)); padding: var(--gap-small); background: var(--page); box-shadow: 0 -1px 0 var(--line); }
}
.after > * + * { margin-block-start: var(--gap-small); }
.after { padding-inline: var(--gap-small); }
a.back { display: inline-block; min-block-size: var(--target); padding-block: 10px; }
button, a.button {
  min-block-size: 52px;
  padding: 12px var(--gap);
  border: 2px solid var(--accent);
  border-radius: 10px;
  background: var(--surface);
  color: var(--accent);
  font: inherit;
  font-weight: 650;
  line-height: 1.3;
  overflow-wrap: anywhere;
  cursor: pointer;
}
button.accept { background: var(--accent); color: var(--on-accent); }
a.button { display: inline-flex; align-items: center; justify-content: center; text-decoration: none; text-align: center; }
button:hover, a.button:hover { border-color: var(--accent-strong); color: var(--accent-strong); }
button.accept:hover { background: var(--accent-strong); color: var(--on-accent); }

.card .help { margin-block-start: 20px; padding-block-start: var(--gap); border-block-start: var(--hairline) solid var(--line); color: var(--muted); font-size: var(--small); }
.card .help code { display: inline-block; color: var(--text); }
.card > h2:not(:first-child) { margin-block-start: 20px; }
.card > h2 + p { margin-block-start: 4px; }

${PORTAL_STYLES}@media (forced-colors: active) {
  .mark { color: CanvasText; }
  .account:has(:checked) { outline: 2px solid Highlight; }
  .account:has(:disabled) label { color: GrayText; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .account { transition: background-color 120ms, border-color 120ms; }
}
`;
