/** Banks: state, orders, planned outages, and what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { participantsSchema } from "../participant_routes.ts";
import { type BankFacts, type BankRow, BankState, OrderCount, readBankFacts } from "./bank_state.tsx";
import { Instant, More, Read } from "../../../console/parts.tsx";
import { Actor, Changes, Done, Named, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

export async function banksPage(visit: Visit, after: string | undefined, now: number): Promise<JSX.Element> {
  const { language } = visit;
  const query = new URLSearchParams({ role: "ASPSP", ...(after === undefined ? {} : { after }) });
  const [banks, facts] = await Promise.all([
    visit.read(`/operations/participants?${query}`, participantsSchema),
    readBankFacts(visit, now),
  ]);
  return (
    <>
      <h1>{phrase(language, "banks.title")}</h1>
      <Done visit={visit} />
      <Read visit={visit} answer={facts}>
        {(known) => (
          <>
            {known.restored.length === 0 ? null : <Restored visit={visit} />}
            <Read visit={visit} answer={banks}>
              {({ Data: { Participant: found, After } }) => (
                <section class="card">
                  <Banks
                    visit={visit}
                    found={found}
                    rowOf={(code) => known.rows.find(({ bank }) => bank === code)}
                  />
                  <More visit={visit} path="/console/banks" query={{ after: After }} />
                </section>
              )}
            </Read>
            <Outages visit={visit} facts={known} />
          </>
        )}
      </Read>
    </>
  );
}

function Banks({ visit, found, rowOf }: {
  readonly visit: Visit;
  readonly found: z.infer<typeof participantsSchema>["Data"]["Participant"];
  readonly rowOf: (code: string) => BankRow | undefined;
}): JSX.Element {
  const { language } = visit;
  if (found.length === 0) return <p>{phrase(language, "banks.none")}</p>;
  const rows = found.map(({ OrganisationId: code, OrganisationName: name, ClientId: client }) => {
    const row = rowOf(code); // undefined if it was registered meanwhile
    return [
      <a href={`/console/participants/${encodeURIComponent(client)}`}>
        <Named id={code} name={name} />
      </a>,
      row === undefined ? "–" : <BankState language={language} row={row} />,
      row === undefined ? "–" : <OrderCount language={language} row={row} state="waiting" />,
      row === undefined ? "–" : <OrderCount language={language} row={row} state="dead" />,
      <BankChanges visit={visit} code={code} isHeld={row?.isHeld === true} />,
    ];
  });
  return (
    <Table
      language={language}
      name="banks.title"
      heads={["column.bank", "column.state", "column.waiting", "column.dead", "column.changes"]}
      rows={rows}
    />
  );
}

function Restored({ visit: { language } }: { readonly visit: Visit }): JSX.Element {
  const command = <code dir="ltr">deno task reconcile</code>;
  return <p class="notice">{phrase(language, "banks.restored", { command })}</p>;
}

function BankChanges(
  { visit, code, isHeld }: { readonly visit: Visit; readonly code: string; readonly isHeld: boolean },
): JSX.Element | null {
  const bank = `/banks/${encodeURIComponent(code)}`;
  return (
    <Changes
      visit={visit}
      links={[
        isHeld ? [`${bank}/release`, "link.release"] : [`${bank}/hold`, "link.hold"],
        [`${bank}/outages`, "link.outage"],
      ]}
    />
  );
}

function Outages(
  { visit, facts: { controls, rows } }: { readonly visit: Visit; readonly facts: BankFacts },
): JSX.Element {
  const { language } = visit;
  return (
    <section class="card">
      <h2>{phrase(language, "outages.title")}</h2>
      {controls.PlannedOutage.length === 0 ? <p>{phrase(language, "outages.none")}</p> : (
        <Table
          language={language}
          name="outages.title"
          heads={["column.bank", "column.from", "column.until", "column.text", "column.by", "column.changes"]}
          rows={controls.PlannedOutage.map(({ OutageId, BankId, FromDateTime, UntilDateTime, Text, By }) => [
            <Named id={BankId} name={rows.find(({ bank }) => bank === BankId)?.name} />,
            <Instant visit={visit} at={FromDateTime} />,
            <Instant visit={visit} at={UntilDateTime} />,
            <span dir="auto">{Text}</span>,
            <Actor language={language} actor={By} />,
            <Changes
              visit={visit}
              links={[
                [`/banks/${encodeURIComponent(BankId)}/outages/${OutageId}/change`, "link.change"],
                [`/banks/${encodeURIComponent(BankId)}/outages/${OutageId}/cancel`, "link.cancel"],
              ]}
            />,
          ])}
        />
      )}
    </section>
  );
}
