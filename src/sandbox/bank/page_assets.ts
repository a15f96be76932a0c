/**
 * The banks' one style sheet (narrow screens first, system fonts, contrast of at least 4.5:1 in both schemes,
 * directions logical so that Arabic needs no rules of its own) and their logo.
 */

/** Served as `/assets/bank.css`. */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: #f4f6f8; --surface: #ffffff; --text: #17202a; --muted: #4a5763; --line: #7b8894;
  --accent: #0b5394; --on-accent: #ffffff; --alert: #9b1c1c; --alert-ground: #fdecec; --badge: #ffd54d;
  --chosen: #e8f1f9; --edge: 1px;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11161b; --surface: #1b232b; --text: #eef2f5; --muted: #b7c2cc; --line: #8795a1;
    --accent: #8fc3f5; --on-accent: #0b1b2a; --alert: #ffb3b3; --alert-ground: #3a1a1a; --badge: #ffd54d;
    --chosen: #1d3246;
  }
}
@media (prefers-contrast: more) {
  :root { --muted: var(--text); --line: var(--text); --edge: 2px; }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, "Noto Sans", "Noto Sans Arabic", sans-serif;
}
.bar, main, footer { max-inline-size: 34rem; margin-inline: auto; padding: 12px 16px; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; justify-content: space-between; align-items: center; }
.bar p { margin: 0; }
.brand { font-weight: 700; }
.badge {
  background: var(--badge); color: #17202a; font-weight: 700; padding: 2px 10px; border-radius: 1rem;
  border: 1px solid transparent;
}
.languages { flex: 1 0 calc(100% + 12px); margin-inline: -6px; }
.languages ul { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style-type: ""; }
.languages a {
  display: flex; align-items: center; justify-content: center; min-block-size: 44px; min-inline-size: 44px;
  padding-inline: 6px; font-size: 0.9375rem;
}
.languages [aria-current] { color: var(--text); font-weight: 700; text-decoration: none; }
.skip {
  position: absolute; inset-block-start: 8px; inset-inline-start: 8px; z-index: 1; padding: 10px 16px;
  background: var(--surface); border-radius: 8px; transform: translateY(-200%);
}
.skip:focus { transform: none; }
main { background: var(--surface); border-radius: 12px; padding: 20px 16px; }
main:focus { outline: none; }
h1 { font-size: clamp(1.375rem, 1.1rem + 1.6vw, 1.75rem); line-height: 1.25; margin: 0 0 12px; }
h2 { font-size: 1.125rem; margin: 0 0 8px; }
p { margin: 0 0 16px; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { text-decoration-thickness: 2px; }
.summary { border: var(--edge) solid var(--line); border-radius: 8px; padding: 12px; margin: 0 0 20px; }
dl { margin: 0; }
dl > div { display: flex; flex-direction: column; padding-block: 6px; }
dl > div + div { border-block-start: 1px solid var(--ground); }
dt { color: var(--muted); font-size: 0.875rem; }
dd { margin: 0; min-inline-size: 0; font-weight: 600; }
dd p { margin: 0; }
.written { border-inline-start: 4px solid var(--line); padding-inline-start: 8px; }
.amount dd { font-size: min(1.5rem, 13vw); line-height: 1.25; font-weight: 700; } /* an amount must not break */
.number { font-variant-numeric: tabular-nums; }
dd:has(.number), dd p:has(.number), .choice-number { text-wrap: balance; } /* an account number breaks in its middle, not before its last group */
.faults dd { font-weight: 400; }
.field { margin: 0 0 16px; }
.field label { display: block; font-weight: 600; margin: 0 0 4px; }
.field input {
  inline-size: 100%; min-block-size: 3rem; padding: 8px 12px; font: inherit; color: inherit; text-align: start;
  background: var(--surface); border: var(--edge) solid var(--line); border-radius: 8px;
}
.field input[aria-invalid] { border: 2px solid var(--alert); }
[dir="rtl"] .field input { text-align: right; } /* the entry is Latin, its place is the reader's */
.hint { color: var(--muted); font-size: 0.9375rem; }
kbd, code { font: 600 0.9375rem/1.4 ui-monospace, monospace; color: var(--text); }
.body { display: block; } /* broken in the middle it would not be read in order between Arabic words */
.complaint {
  color: var(--alert); background: var(--alert-ground); font-weight: 600;
  border: 1px solid transparent; border-inline-start: 4px solid var(--alert); padding: 10px 12px;
}
fieldset { border: 0; padding: 0; margin: 0 0 20px; min-inline-size: 0; }
legend { font-size: 1.125rem; font-weight: 700; padding: 0; margin: 0 0 8px; }
.choice { display: flex; gap: 12px; border: 1px solid var(--line); border-radius: 8px; padding: 0 12px; }
.choice + .choice { margin-block-start: 8px; }
.choice input { flex: none; inline-size: 24px; block-size: 24px; margin: 12px 0 0; accent-color: var(--accent); }
.choice label { flex: 1; min-inline-size: 0; padding: 12px 0; cursor: pointer; }
.choice label > span { display: block; }
.choice-name { font-weight: 600; }
.remark { color: var(--alert); }
.actions { display: flex; flex-direction: column; gap: 12px; }
button {
  min-block-size: 3rem; padding: 8px 20px; font: inherit; font-size: 1.0625rem; font-weight: 600; line-height: 1.25; cursor: pointer;
  background: var(--accent); color: var(--on-accent); border: 2px solid var(--accent); border-radius: 8px;
}
button.quiet { background: var(--surface); color: var(--accent); }
button:hover { text-decoration: underline; text-underline-offset: 0.2em; }
:focus-visible { outline: 3px solid var(--text); outline-offset: 2px; border-radius: 4px; }
.choice:has(:checked) { border-color: var(--accent); background: var(--chosen); box-shadow: 0 0 0 1px var(--accent); }
.plain { padding: 0; margin: 0; list-style-type: ""; }
.plain a, p > a:only-child { display: inline-flex; align-items: center; min-block-size: 44px; }
footer { color: var(--muted); font-size: 0.875rem; }
@media (min-width: 36rem) {
  main { padding: 28px; }
  .languages { flex: none; }
  dl > div { flex-direction: row; gap: 16px; align-items: baseline; }
  dt { flex: 0 0 8rem; }
  .faults dt { flex-basis: 4rem; }
  .actions { flex-direction: row; }
}
@media (max-width: 35.99rem) { main { border-radius: 0; } }
@media (forced-colors: active) { .choice:has(:checked) { outline: 2px solid Highlight; } }
`;

/** Served as `/logo.svg`, the `logo_uri` given at onboarding. */
export const LOGO =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Sandbox bank">
<rect width="64" height="64" rx="12" fill="#0b5394"/>
<path d="M32 12 54 24H10ZM14 28h6v18h-6ZM29 28h6v18h-6ZM44 28h6v18h-6ZM10 49h44v5H10Z" fill="#fff"/>
</svg>
`;
