/** Says that a change was made, after the redirect from its form. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Visit } from "../../console/visit.ts";
import { CHANGES, OWN_CHANGES } from "./changes.ts";
import { phrase } from "./phrase.ts";

export function Done({ visit: { address, language } }: { readonly visit: Visit }): JSX.Element | null {
  const done = new URLSearchParams(address.split("?")[1]).get("done");
  const change = [...CHANGES, ...OWN_CHANGES].find(({ name }) => name === done);
  if (change === undefined) return null;
  return <p class="note" role="status">{phrase(language, `change.${change.name}.done`)}</p>;
}
