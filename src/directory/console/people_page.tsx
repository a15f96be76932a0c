/** What people attempted: sign-ins, forbidden pages, approvals that were refused. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { More } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import { History } from "./history_table.tsx";
import type { HistoryView } from "./participant_view.ts";
import { PEOPLE_PATH } from "./people.ts";
import { phrase } from "./phrase.ts";

export function PeoplePage(
  { visit, view }: { readonly visit: Visit; readonly view: HistoryView },
): JSX.Element {
  return (
    <>
      <h1>{phrase(visit.language, "people.title")}</h1>
      <section class="card">
        <History visit={visit} history={view} />
      </section>
      <More visit={visit} path={PEOPLE_PATH} query={{ before: view.before }} cursor="before" />
    </>
  );
}
