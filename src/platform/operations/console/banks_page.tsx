/** Banks: state, orders, planned outages, and what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { participantsSchema } from "../participant_routes.ts";
import { type BankFacts, type BankRow, BankState, OrderCount, readBankFacts } from "./bank_state.tsx";
import { Instant, More, type PartProps, queryOf, Read } from "../../../console/parts.tsx";
import { Actor, Changes, Named, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

export async function banksPage(visit: Visit, after: string | undefined, now: number): Promise<JSX.Element> {
  const [banks, facts] = await Promise.all([
    visit.read(`/operations/participants${queryOf({ role: "ASPSP", after })}`, participantsSchema),
    readBankFacts(visit, now),
  ]);
  return (
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
                  rowOf={(code) => known.rows.find(({ BankId }) => BankId === code)}
                />
                <More visit={visit} path="/console/banks" query={{ after: After }} />
              </section>
            )}
          </Read>
          {drawOutages(visit, known)}
        </>
      )}
    </Read>
  );
}

function Banks({ visit, found, rowOf }: {
  readonly visit: Visit;
  readonly found: z.infer<typeof participantsSchema>["Data"]["Participant"];
  readonly rowOf: (code: string) => BankRow | undefined;
}): JSX.Element {
  const { language } = visit;
  // without a row if it was registered meanwhile
  const rows = found.map((bank) => ({ bank, row: rowOf(bank.OrganisationId) }));
  return (
    <Table
      language={language}
      name="banks.title"
      none="banks.none"
      rows={rows}
      columns={{
        "column.bank": ({ bank: { OrganisationId: code, OrganisationName: name, ClientId: client } }) => (
          <a href={`/console/participants/${encodeURIComponent(client)}`}>
            <Named id={code} name={name} />
          </a>
        ),
        "column.state": ({ row }) => row ? <BankState language={language} row={row} /> : "–",
        "column.waiting": ({ row }) =>
          row ? <OrderCount language={language} row={row} state="Waiting" /> : "–",
        "column.dead": ({ row }) => row ? <OrderCount language={language} row={row} state="Dead" /> : "–",
        "column.changes": ({ bank, row }) =>
          drawBankChanges(visit, bank.OrganisationId, row?.isHeld === true),
      }}
    />
  );
}

function Restored({ visit: { language } }: { readonly visit: Visit }): JSX.Element {
  const command = <code dir="ltr">deno task reconcile</code>;
  return <p class="notice">{phrase(language, "banks.restored", { command })}</p>;
}

function drawBankChanges(visit: Visit, code: string, isHeld: boolean): JSX.Element | null {
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

function drawOutages(visit: Visit, { controls, rows }: BankFacts): JSX.Element {
  const { language } = visit;
  return (
    <section class="card">
      <h2>{phrase(language, "outages.title")}</h2>
      <Table
        language={language}
        name="outages.title"
        none="outages.none"
        rows={controls.PlannedOutage}
        columns={{
          "column.bank": ({ BankId: id }) => (
            <Named
              id={id}
              name={rows.find(({ BankId }) => BankId === id)?.Name}
            />
          ),
          "column.from": (one) => <Instant visit={visit} at={one.FromDateTime} />,
          "column.until": (one) => <Instant visit={visit} at={one.UntilDateTime} />,
          "column.text": ({ Text }) => <span dir="auto">{Text}</span>,
          "column.by": ({ By }) => <Actor language={language} actor={By} />,
          "column.changes": (one) => <OutageChanges visit={visit} one={one} />,
        }}
      />
    </section>
  );
}

function OutageChanges(
  { visit, one: { BankId, OutageId } }: PartProps<BankFacts["controls"]["PlannedOutage"][number]>,
): JSX.Element | null {
  const outage = `/banks/${encodeURIComponent(BankId)}/outages/${OutageId}`;
  return (
    <Changes
      visit={visit}
      links={[[`${outage}/change`, "link.change"], [`${outage}/cancel`, "link.cancel"]]}
    />
  );
}
