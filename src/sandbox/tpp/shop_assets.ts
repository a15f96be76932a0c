/** The shop's two static files, as text: stylesheet (mobile first, from 320 px) and icon. */

/** `/assets/shop.css`. */
export const shopStylesheet = `
:root { color-scheme: light; --ink: #22201d; --paper: #fffdf9; --accent: #7a2e0e; --line: #8a8178; }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main, footer { max-width: 44rem; margin: 0 auto; padding: 0 1rem; }
footer { margin-top: 2rem; border-top: 1px solid var(--line); }
.sandbox { margin: 0 -1rem; padding: 0.5rem 1rem; background: #ffe9a8; }
.brand { font: 600 1.25rem/1.5 Georgia, serif; }
.brand a { color: var(--accent); text-decoration: none; }
h1, h2, h3 { line-height: 1.2; overflow-wrap: anywhere; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
code, pre, .reference { font-family: ui-monospace, monospace; font-size: 0.875rem; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: #f3eee6; padding: 0.75rem; margin: 0.5rem 0; }
.goods, .links { list-style: none; padding: 0; }
.goods > li { border: 1px solid var(--line); border-radius: 0.5rem; padding: 1rem; margin: 0 0 1rem; }
.goods h2 { margin: 0; }
.price { font-size: 1.25rem; font-weight: 600; margin: 0.5rem 0; }
.links li { margin: 0.75rem 0; }
fieldset { border: 0; padding: 0; margin: 0 0 0.75rem; }
legend { font-weight: 600; padding: 0; }
.choice { display: flex; gap: 0.75rem; align-items: center; min-height: 2.75rem; }
.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }
label { display: block; }
input[type="text"] { width: 100%; min-height: 2.75rem; padding: 0.5rem; font: inherit; border: 1px solid var(--line);
  border-radius: 0.25rem; background: #fff; color: inherit; }
button, .button { display: inline-block; min-height: 2.75rem; margin-top: 0.75rem; padding: 0.5rem 1rem; font: inherit;
  font-weight: 600; border: 0; border-radius: 0.25rem; background: var(--accent); color: #fff; text-decoration: none;
  cursor: pointer; }
button { width: 100%; }
.outcome, .fault { padding: 0.75rem; border-left: 0.375rem solid var(--line); background: #f3eee6; }
.outcome.good { border-color: #1e6b34; }
.outcome.bad, .fault { border-color: #a3160c; }
dt { font-weight: 600; }
dd { margin: 0 0 0.75rem; }
output { font-weight: 600; overflow-wrap: anywhere; }
.messages { padding-left: 1.5rem; }
.messages h2 { font-size: 1rem; margin: 1rem 0 0; }
.messages h3 { font-size: 0.875rem; margin: 0.5rem 0 0; }
summary { min-height: 2rem; cursor: pointer; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 40rem) { button { width: auto; } }
`;

/** `/assets/shop.svg`. */
export const shopIcon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#7a2e0e"/>` +
  `<path d="M8 12h13v7a5 5 0 0 1-5 5h-3a5 5 0 0 1-5-5zm13 1h2a3 3 0 0 1 0 6h-2" fill="#fff"/></svg>`;
