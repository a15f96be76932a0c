/** Pushes of events by subscriber, with those that were given up. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Instant, More, type PartProps, queryOf, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { eventDeliveriesSchema } from "../../events/operations_routes.ts";
import { type Names, readNames } from "./names.ts";
import { Because, Changes, Named, Table } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";

type Delivery = z.infer<typeof eventDeliveriesSchema>["Data"]["EventDelivery"][number];

export async function eventsPage(visit: Visit, after: string | undefined): Promise<JSX.Element> {
  const { language } = visit;
  const path = `/operations/event-deliveries${queryOf({ after })}`;
  const answer = await visit.read(path, eventDeliveriesSchema);
  const found = answer.ok ? answer.value.Data.EventDelivery : [];
  const names = await readNames(visit, found.map(({ BankId }) => BankId));
  return (
    <>
      <p class="lead">{phrase(language, "events.lead")}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { EventDelivery: deliveries, After } }) => (
          <>
            <div class="card">
              <Deliveries visit={visit} deliveries={deliveries} names={names} changes />
            </div>
            <More visit={visit} path="/console/events" query={{ after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

/** The subscribers. Those who can change nothing have no column of changes. */
export function Deliveries(
  { visit, deliveries, names, changes }: {
    readonly visit: Visit;
    readonly deliveries: readonly Delivery[];
    readonly names?: Names;
    readonly changes: boolean;
  },
): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="events.title"
      none="events.none"
      rows={deliveries}
      columns={{
        "column.receiver": (one) => <Receiver one={one} />,
        "column.bank": ({ BankId }) => <Named id={BankId} name={names?.get(BankId)} />,
        "column.state": (one) => <Standing visit={visit} one={one} />,
        "column.eventsWaiting": ({ Waiting }) => <span class="number">{Waiting}</span>,
        "column.eventsDead": ({ Dead }) => <span class="number">{Dead}</span>,
        "column.oldest": ({ OldestDateTime: at }) => at && <Instant visit={visit} at={at} />,
        "column.why": ({ LastFailure: why }) => why && <Because language={language} text={why} />,
        "column.changes": changes ? (one) => <Redrive visit={visit} one={one} /> : undefined,
      }}
    />
  );
}

function Receiver({ one: { ClientId, Tpp, CallbackUrl } }: { readonly one: Delivery }): JSX.Element {
  return (
    <>
      <Named id={ClientId} name={Tpp} />
      <span class="detail" dir="ltr">{CallbackUrl}</span>
    </>
  );
}

function Standing({ visit: { language }, one }: PartProps<Delivery>): JSX.Element {
  const name = nameOf(one);
  return <State is={name === "state.works" ? "good" : "bad"} words={phrase(language, name)} />;
}

function nameOf({ IsReceiverAway, Dead, LastFailure }: Delivery): PlainKey {
  if (IsReceiverAway) return "state.away";
  if (Dead > 0) return "state.rejects";
  return LastFailure === undefined ? "state.works" : "state.fails";
}

/** Without a dead event there is no event to send again. */
function Redrive(
  { visit, one: { ClientId, BankId, Dead } }: PartProps<Delivery>,
): JSX.Element | null {
  if (Dead === 0) return null;
  const path = `/event-deliveries/${ClientId}/${BankId}/redrive`;
  return <Changes visit={visit} links={[[path, "link.redriveEvents"]]} />;
}
