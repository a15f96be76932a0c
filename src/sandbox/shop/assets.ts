/**
 * The shop's stylesheet and icon as text. The stylesheet is mobile first (from 320 px), supports both colour schemes
 * and uses logical directions, so that Arabic needs no own rules.
 */

/** `/assets/shop.css`. */
export const shopStylesheet = `
:root {
  color-scheme: light dark;
  --ink: #22201d; --paper: #fffdf9; --sunken: #f3eee6; --field: #ffffff; --accent: #7a2e0e; --on-accent: #ffffff;
  --line: #8a8178; --notice: #ffe9a8; --on-notice: #3a2c00; --good: #1e6b34; --bad: #a3160c; --focus: #0b57d0;
  --edge: 1px; --soft: #5d564f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #f3ede5; --paper: #191613; --sunken: #2a2520; --field: #211d19; --accent: #f0a98a; --on-accent: #2b0f03;
    --line: #9a8f84; --notice: #47390f; --on-notice: #ffe9a8; --good: #7fd197; --bad: #ff9d92; --focus: #a8c7fa; --soft: #c9bfb4;
  }
}
@media (prefers-contrast: more) { :root { --line: var(--ink); --soft: var(--ink); --edge: 2px; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; color: var(--ink); background: var(--paper); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, "Noto Sans", "Noto Sans Arabic", sans-serif;
}
header, main, footer { max-inline-size: 44rem; margin: 0 auto; padding: 0 16px; }
footer { margin-block-start: 2rem; border-block-start: 1px solid var(--line); }
main:focus { outline: none; }
.sandbox {
  margin: 0 -16px; padding: 8px 16px; background: var(--notice); color: var(--on-notice);
  box-shadow: 0 0 0 100vmax var(--notice); clip-path: inset(0 -100vmax); /* to both edges of a wide screen */
}
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; column-gap: 16px; }
.brand { margin: 0; font: 600 1.25rem/1.5 Georgia, serif; }
.brand a { display: inline-flex; align-items: center; min-block-size: 44px; color: var(--accent); text-decoration: none; }
.languages { margin-inline: -8px; }
.languages ul { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style-type: ""; }
.languages a {
  display: flex; align-items: center; justify-content: center; min-block-size: 44px; min-inline-size: 44px;
  padding-inline: 8px; font-size: 0.9375rem;
}
.languages [aria-current] { color: var(--ink); font-weight: 700; text-decoration: none; }
.skip {
  position: absolute; inset-block-start: 8px; inset-inline-start: 8px; z-index: 1; padding: 10px 16px;
  background: var(--paper); border-radius: 8px; transform: translateY(-200%);
}
.skip:focus { transform: none; }
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.6vw, 2rem); margin: 16px 0 12px; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
code, pre, .reference { font-family: ui-monospace, monospace; font-size: 0.8125rem; }
.reference { text-align: start; }
[dir="rtl"] :is(.reference, .accounts code) { text-align: right; } /* the number is Latin, its place is the reader's */
pre, .facts { border: 1px solid transparent; } /* seen where colours are forced */
pre { white-space: pre-wrap; font-size: 0.75rem; background: var(--sunken); padding: 12px; margin: 8px 0; }
.goods, .links, .accounts, .progress, .messages { list-style-type: ""; padding: 0; }
.goods > li { border: var(--edge) solid var(--line); border-radius: 8px; padding: 16px; margin: 0 0 16px; }
.dish { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; column-gap: 16px; }
.dish + p { margin-block: 4px 16px; }
.goods h2 { margin: 0; font-size: 1.25rem; }
.price { font-size: 1.125rem; font-weight: 600; margin: 0; }
.accounts { margin: 0; }
.accounts li { margin-block-end: 8px; }
.accounts code { display: block; }
.hint, .quiet { color: var(--soft); font-size: 0.9375rem; }
.hint p { margin-block: 8px 4px; }
.links { margin-block: 20px 0; }
.links a:not(.button) { display: inline-flex; align-items: center; min-block-size: 44px; min-inline-size: 44px; }
fieldset { border: 0; padding: 0; margin: 0 0 8px; min-inline-size: 0; }
legend { font-weight: 600; padding: 0; }
.choice { display: flex; gap: 12px; align-items: flex-start; min-block-size: 44px; padding-block: 10px; cursor: pointer; }
.choice > span { min-inline-size: 0; }
.choice input { inline-size: 24px; block-size: 24px; flex: none; margin: 0; accent-color: var(--accent); }
.choice small { display: block; color: var(--soft); font-size: 0.9375rem; line-height: 1.35; }
label { display: block; }
input[type="text"] {
  inline-size: 100%; min-block-size: 44px; margin-block-start: 4px; padding: 8px; font: inherit; color: inherit;
  background: var(--field); border: var(--edge) solid var(--line); border-radius: 4px;
}
[dir="rtl"] input[type="text"] { text-align: right; }
input[aria-invalid="true"] { border: 2px solid var(--bad); }
button, .button {
  display: inline-block; min-block-size: 44px; margin-block-start: 12px; padding: 9px 16px; font: inherit;
  font-weight: 600; text-align: center; border: 2px solid var(--accent); border-radius: 4px;
  background: var(--accent); color: var(--on-accent); text-decoration: none; cursor: pointer;
}
.links .button { margin-block: 4px 12px; }
button:hover, .button:hover { text-decoration: underline; }
button { inline-size: 100%; }
.outcome, .fault { margin: 0 0 16px; padding: 12px; border-inline-start: 6px solid var(--line); background: var(--sunken); }
.outcome p { margin: 0; }
.outcome.good { border-color: var(--good); }
.outcome.bad, .fault { border-color: var(--bad); }
.fault { font-weight: 600; }
.fault a { display: flex; align-items: center; min-block-size: 44px; color: inherit; }
#payment-status { font-size: 0.8125rem; } /* the longest word of the platform fits a small phone */
.progress { margin: 0 0 16px; }
.progress li { display: flex; gap: 10px; align-items: center; min-block-size: 36px; }
.mark {
  flex: none; display: grid; place-items: center; inline-size: 24px; block-size: 24px; border-radius: 50%;
  border: 2px solid var(--line); font-size: 0.875rem; line-height: 1; font-weight: 700;
}
.done .mark { border-color: var(--good); background: var(--good); color: var(--paper); }
.progress .open { color: var(--soft); }
dt { font-weight: 600; }
dd { margin: 0 0 12px; }
.facts { padding: 12px; background: var(--sunken); }
.facts dd { margin: 0; }
.facts div + div { margin-block-start: 6px; }
.messages h2 { font-size: 1.125rem; margin: 12px 0 4px; }
.messages h2 a { display: inline-flex; align-items: center; min-block-size: 44px; }
.turn { display: flex; flex-wrap: wrap; column-gap: 24px; margin-block: 8px; }
.messages > li { border-block-start: 1px solid var(--line); }
.messages p { margin-block: 4px; }
.result { font-size: 0.9375rem; }
main > h2 { font-size: 1.25rem; margin: 24px 0 8px; }
main > h3 { font-size: 0.9375rem; margin: 16px 0 0; }
.status {
  display: inline-block; padding: 0 8px; border: 1px solid var(--line); border-radius: 1rem; color: var(--ink);
  font-size: 0.875rem; font-weight: 600; text-decoration: none;
}
.status.good { border-color: var(--good); color: var(--good); }
.status.bad { border-color: var(--bad); color: var(--bad); }
summary { min-block-size: 44px; padding-block: 10px; cursor: pointer; }
.hidden {
  position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
@media (min-width: 40rem) {
  button { inline-size: auto; }
  pre { font-size: 0.8125rem; }
  .facts div { display: flex; gap: 16px; }
  .facts dt { flex: 0 0 12rem; }
}
`;

/** `/assets/shop.svg`. */
export const shopIcon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#7a2e0e"/>` +
  `<path d="M8 12h13v7a5 5 0 0 1-5 5h-3a5 5 0 0 1-5-5zm13 1h2a3 3 0 0 1 0 6h-2" fill="#fff"/></svg>`;
