/**
 * The banks' one style sheet (narrow screens first, system fonts, contrast of at least 4.5:1 in both schemes) and
 * their logo.
 */

/** Served as `/assets/bank.css`. */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: #f4f6f8; --surface: #ffffff; --text: #17202a; --muted: #4a5763; --line: #7b8894;
  --accent: #0b5394; --on-accent: #ffffff; --alert: #9b1c1c; --alert-ground: #fdecec; --badge: #ffd54d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11161b; --surface: #1b232b; --text: #eef2f5; --muted: #b7c2cc; --line: #8795a1;
    --accent: #8fc3f5; --on-accent: #0b1b2a; --alert: #ffb3b3; --alert-ground: #3a1a1a; --badge: #ffd54d;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
.bar, main, footer { max-width: 34rem; margin: 0 auto; padding: 0.75rem 1rem; }
.bar { display: flex; flex-wrap: wrap; gap: 0.5rem; justify-content: space-between; align-items: center; }
.bar p { margin: 0; }
.brand { font-weight: 700; overflow-wrap: anywhere; }
.badge { background: var(--badge); color: #17202a; font-weight: 700; padding: 0.125rem 0.625rem; border-radius: 1rem; }
main { background: var(--surface); border-radius: 0.75rem; padding: 1.25rem 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.75rem; }
h2 { font-size: 1.125rem; margin: 0 0 0.5rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
.summary { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem; margin: 0 0 1.25rem; }
dl { margin: 0; }
dl > div { display: flex; flex-direction: column; padding: 0.375rem 0; }
dl > div + div { border-top: 1px solid var(--ground); }
dt { color: var(--muted); font-size: 0.875rem; }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
dd p { margin: 0; }
.number { font-variant-numeric: tabular-nums; }
.field { margin: 0 0 1rem; }
.field label { display: block; font-weight: 600; margin: 0 0 0.25rem; }
.field input {
  width: 100%; min-height: 3rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit;
  background: var(--surface); border: 1px solid var(--line); border-radius: 0.5rem;
}
.hint { color: var(--muted); font-size: 0.9375rem; }
kbd { font: 600 0.9375rem/1.4 ui-monospace, monospace; color: var(--text); }
.complaint {
  color: var(--alert); background: var(--alert-ground); font-weight: 600;
  border-left: 0.25rem solid var(--alert); padding: 0.625rem 0.75rem;
}
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; min-width: 0; }
legend { font-size: 1.125rem; font-weight: 700; padding: 0; margin: 0 0 0.5rem; }
.choice { display: flex; gap: 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; padding: 0 0.75rem; }
.choice + .choice { margin-top: 0.5rem; }
.choice input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0.75rem 0 0; accent-color: var(--accent); }
.choice label { flex: 1; min-width: 0; padding: 0.75rem 0; cursor: pointer; overflow-wrap: anywhere; }
.choice span { display: block; }
.choice-name { font-weight: 600; }
.remark { color: var(--alert); }
.actions { display: flex; flex-direction: column; gap: 0.75rem; }
button {
  min-height: 3rem; padding: 0.5rem 1.25rem; font: 600 1rem/1.25 system-ui, sans-serif; cursor: pointer;
  background: var(--accent); color: var(--on-accent); border: 2px solid var(--accent); border-radius: 0.5rem;
}
button.quiet { background: transparent; color: var(--accent); }
:focus-visible { outline: 3px solid var(--text); outline-offset: 2px; }
.choice:has(:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.plain { padding-left: 1.25rem; }
footer { color: var(--muted); font-size: 0.875rem; }
@media (min-width: 36rem) {
  main { padding: 1.75rem; }
  dl > div { flex-direction: row; gap: 1rem; }
  dt { flex: 0 0 9.5rem; }
  .actions { flex-direction: row; }
}
@media (max-width: 35.99rem) { main { border-radius: 0; } }
`;

/** Served as `/logo.svg`, the `logo_uri` given at onboarding. */
export const LOGO =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Sandbox bank">
<rect width="64" height="64" rx="12" fill="#0b5394"/>
<path d="M32 12 54 24H10ZM14 28h6v18h-6ZM29 28h6v18h-6ZM44 28h6v18h-6ZM10 49h44v5H10Z" fill="#fff"/>
</svg>
`;
