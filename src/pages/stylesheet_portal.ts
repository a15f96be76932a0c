/** The documentation's part of the one stylesheet: wide pages, their navigation, guides, reference, tables, search. */

/** `text/css`; colours and sizes have their names in `stylesheet.ts`. */
export const PORTAL_STYLES =
  `.wide .reference { max-inline-size: var(--wide); margin-inline: auto; padding: var(--pad); display: grid; gap: var(--pad); }
.wide .body, .wide .introduction { min-inline-size: 0; }
.wide .body > :first-child > h2 { margin-block-start: 0.5rem; }
.wide h2 { font-size: 1.375rem; margin-block: 2.5rem 0.5rem; }
.wide h3 { font-size: 1.125rem; }
.wide h4 { font-size: 1rem; margin-block: 1.25rem 0.5rem; }
.wide h5 { font-size: var(--small); margin-block: 0.75rem 0.25rem; }
.wide p + p { margin-block-start: 0.5rem; }
.wide .card { margin-block-start: var(--gap); }
.wide :target, .wide [id] { scroll-margin-block-start: 1rem; }
.wide nav a { display: flex; align-items: center; min-block-size: var(--target); padding: 0.375rem 0.5rem; line-height: 1.35; font-size: var(--small); text-decoration: none; }
.wide nav a:hover { text-decoration: underline; }
.wide nav > ul > li > a { font-weight: 650; }
.wide nav ul ul { margin-inline-start: 0.5rem; border-inline-start: 2px solid var(--line); }
.method { display: inline-block; padding: 0 0.5em; border: var(--hairline) solid currentColor; border-radius: 0.375rem; font-size: 0.8em; font-weight: 700; color: var(--accent); }
.path { font-weight: 600; }
.reference .card ul { border-inline-start: 2px solid var(--line); padding-inline-start: 0.75rem; }
.reference .card li + li { margin-block-start: 0.5rem; }
.reference .card ul ul { margin-block-start: 0.5rem; }
.reference li p, .reference small { color: var(--muted); font-size: var(--small); }
.reference b { padding: 0.0625rem 0.375rem; border-radius: 0.25rem; background: var(--warn); color: var(--on-warn); font-size: 0.8125rem; }
pre, .scroll { overflow: auto; }
pre { padding: 0.75rem 1rem; background: var(--sunken); border-radius: 0.5rem; line-height: 1.45; overflow-wrap: normal; }
table { inline-size: 100%; border-collapse: collapse; font-size: var(--small); overflow-wrap: normal; }
caption { text-align: start; color: var(--muted); padding-block-end: 0.5rem; }
th, td { padding: 0.5rem 0.75rem; text-align: start; vertical-align: top; border-block-end: var(--hairline) solid var(--line); }
@media (min-width: 40rem) {
  td:nth-child(n + 2) { min-inline-size: 10rem; }
  td:nth-child(3) { min-inline-size: 15rem; }
}
@media (max-width: 39.99rem) {
  table, tbody { display: block; }
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: 3rem minmax(0, 1fr); gap: 4px; padding-block: 12px; border-block-end: var(--hairline) solid var(--line); }
  td { padding: 0; border: 0; overflow-wrap: anywhere; }
  td:nth-child(n + 3) { grid-column: 1 / -1; }
  td:nth-child(4) { color: var(--muted); font-size: 0.875rem; }
}
.search label { display: block; font-weight: 650; margin-block-end: 4px; }
.search div { display: flex; flex-wrap: wrap; gap: 8px; }
.search input { flex: 1 1 10rem; min-inline-size: 0; min-block-size: var(--target); padding: 8px 12px; font: inherit; color: inherit; background: var(--surface); border: var(--hairline) solid var(--edge); border-radius: 8px; }
.search button { min-block-size: var(--target); padding-block: 8px; font-size: 1rem; }
.toc > * + * { margin-block-start: var(--gap); }
.toc h2 { font-size: 1rem; margin-block: 0; padding-inline: 0.5rem; }
.wide nav [aria-current] { color: var(--text); border-inline-start: 4px solid var(--accent); }
.guide > * + * { margin-block-start: 12px; }
.wide .guide > h2, .wide .card > h2:first-child { margin-block-start: 0; }
.guide figure { margin-inline: 0; margin-block-end: 0; }
.guide pre.line { white-space: pre-wrap; overflow-wrap: anywhere; }
.guide figcaption { color: var(--muted); font-size: var(--small); padding-block-end: 4px; }
.guide dt { min-inline-size: 0; }
.guide dt code { font-size: 0.85em; }
.reference .steps { padding-inline-start: 1.5rem; }
.steps li + li { margin-block-start: var(--gap-small); }
.reference .card .see, .reference .card .endpoints { border: 0; padding: 0; }
.see a, .endpoints a, .findings h2 a, .guide > h2 a, .guide dt a { display: inline-flex; align-items: center; min-block-size: var(--target); }
.endpoints li > span { display: block; }
.findings { padding: 0; list-style-type: ""; }
.wide .findings h2 { margin-block: 0; font-size: 1.125rem; }
tr:target { background: var(--accent-soft); }
@media (max-width: 59.99rem) {
  .toc nav > ul { display: flex; flex-wrap: wrap; column-gap: var(--gap-small); }
  .wide nav [aria-current] { border-inline-start: 0; border-block-end: 3px solid var(--accent); }
}
@media (min-width: 60rem) {
  .wide .reference { grid-template-columns: 17rem minmax(0, 1fr); }
  .wide .introduction { grid-column: 1 / -1; }
  .wide .toc { position: sticky; inset-block-start: 0; align-self: start; max-block-size: 100vh; overflow: auto; }
}
`;
