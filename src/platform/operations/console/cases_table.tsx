/** The table of the cases that a search has found. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Instant } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import type { caseSchema } from "../search/routes.ts";
import { Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

export function Cases(
  { visit, found }: { readonly visit: Visit; readonly found: readonly z.infer<typeof caseSchema>[] },
): JSX.Element | null {
  const { language } = visit;
  if (found.length === 0) return null;
  const rows = found.map((one) => [
    <CaseLink visit={visit} id={one.ConsentId} status={one.ConsentStatus} />,
    one.DomesticPaymentId === undefined
      ? null
      : <CaseLink visit={visit} id={one.DomesticPaymentId} status={one.PaymentStatus ?? ""} />,
    <bdi>{one.Bank}</bdi>,
    <bdi>{one.ClientId}</bdi>,
    <Instant visit={visit} at={one.CreationDateTime} />,
  ]);
  return (
    <section class="card">
      <h2>{phrase(language, "search.cases")}</h2>
      <Table
        language={language}
        name="search.cases"
        heads={["column.consent", "column.payment", "column.bank", "column.participant", "column.time"]}
        rows={rows}
      />
    </section>
  );
}

function CaseLink(
  { visit, id, status }: { readonly visit: Visit; readonly id: string; readonly status: string },
): JSX.Element {
  const shown = <code dir="ltr">{id}</code>;
  return (
    <>
      {visit.may("GET /console/cases/{id}") ? <a href={`/console/cases/${id}`}>{shown}</a> : shown}
      <span class="detail">
        <code dir="ltr">{status}</code>
      </span>
    </>
  );
}
