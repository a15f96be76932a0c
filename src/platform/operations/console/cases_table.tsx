/** The table of the cases that a search has found. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Instant } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import type { caseSchema } from "../search/routes.ts";
import { StatusOf } from "./case_head.tsx";
import type { Names } from "./names.ts";
import { CaseLink, Named, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

export function Cases(
  { visit, found, names }: {
    readonly visit: Visit;
    readonly found: readonly z.infer<typeof caseSchema>[];
    readonly names: Names;
  },
): JSX.Element | null {
  const { language } = visit;
  if (found.length === 0) return null;
  return (
    <section class="card">
      <h2>{phrase(language, "search.cases")}</h2>
      <Table
        language={language}
        name="search.cases"
        rows={found}
        columns={{
          "column.consent": (one) => drawPart(visit, one.ConsentId, "consent", one.ConsentStatus),
          "column.payment": ({ DomesticPaymentId: id, PaymentStatus: status = "" }) =>
            id && drawPart(visit, id, "payment", status),
          "column.bank": ({ Bank }) => <Named id={Bank} name={names.get(Bank)} />,
          "column.participant": ({ ClientId, Tpp }) => <Named id={ClientId} name={Tpp} />,
          "column.time": (one) => <Instant visit={visit} at={one.CreationDateTime} />,
        }}
      />
    </section>
  );
}

/** The consent or the payment of a case, and where it stands. */
function drawPart(visit: Visit, id: string, of: "consent" | "payment", status: string): JSX.Element {
  return (
    <>
      <CaseLink visit={visit} id={id} /> <StatusOf language={visit.language} of={of} status={status} />
    </>
  );
}
