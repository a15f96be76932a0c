/** Payments that are not final for long, by bank, with the inquiry at the bank. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Instant, Read } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { unsettledSchema } from "../unsettled/unsettled_routes.ts";
import { StatusOf } from "./case_head.tsx";
import { readNames } from "./names.ts";
import { Changes, First, Named, PaymentLink, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

/** Payments of a bank that the page shows (contract OP33). */
const SHOWN = 20;

export async function unsettledPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read("/operations/unsettled-payments", unsettledSchema);
  const names = await readNames(visit, answer.ok ? answer.value.Data.Bank.map(({ BankId }) => BankId) : []);
  return (
    <>
      <p class="lead">{phrase(language, "unsettled.lead")}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Bank: banks } }) => (
          <>
            {banks.length === 0 ? <p class="card">{phrase(language, "unsettled.none")}</p> : null}
            {banks.map((one) => drawBank(visit, one, names.get(one.BankId)))}
          </>
        )}
      </Read>
    </>
  );
}

type Unsettled = z.infer<typeof unsettledSchema>["Data"]["Bank"][number];

function drawBank(visit: Visit, { BankId, Payment }: Unsettled, name: string | undefined): JSX.Element {
  const { language } = visit;
  return (
    <section class="card">
      <h2>
        <Named id={BankId} name={name} />
      </h2>
      <Changes visit={visit} links={[[`/banks/${encodeURIComponent(BankId)}/inquire`, "link.inquire"]]} />
      <Table
        language={language}
        name="unsettled.title"
        rows={Payment.slice(0, SHOWN)}
        columns={{
          "column.payment": (one) => <PaymentLink visit={visit} one={one} />,
          "column.time": (one) => <Instant visit={visit} at={one.CreationDateTime} />,
          "column.status": (one) => <StatusOf language={language} of="payment" status={one.Status} />,
          "column.since": (one) => <Instant visit={visit} at={one.StatusUpdateDateTime} />,
        }}
      />
      <First language={language} shown={SHOWN} count={Payment.length} command="deno task ops unsettled" />
    </section>
  );
}
