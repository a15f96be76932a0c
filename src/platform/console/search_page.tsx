/** Search: leads to the case of a consent or payment by its id. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { phrase } from "./phrase.ts";
import type { Visit } from "./visit.ts";

export function searchPage(visit: Visit, sent: string): JSX.Element {
  const { language } = visit;
  return (
    <>
      <h1>{phrase(language, "search.title")}</h1>
      <form class="search" role="search" method="get" action="/console/search">
        <div class="field">
          <label for="q">{phrase(language, "search.field")}</label>
          <input id="q" name="q" type="search" value={sent} maxlength={100} dir="ltr" required />
        </div>
        <button type="submit">{phrase(language, "list.search")}</button>
      </form>
      {sent === "" ? null : <p class="notice" role="status">{phrase(language, "search.none")}</p>}
    </>
  );
}
