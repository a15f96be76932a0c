/** Reads what belongs to an organisation. Every list is bounded. */
import { asConsentId, asPaymentId, paymentIdOf } from "../../../base/kernel/identifiers.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { Store } from "../../../base/store/store.ts";
import { type DeliveryDeps, representDeliveries } from "../../events/operations_routes.ts";
import { listClientSubscriptions } from "../../events/subscription_store.ts";
import type { FiguresStore } from "../../observed/figures/figures_store.ts";
import type { FunnelStore } from "../../observed/funnel/funnel_store.ts";
import type { ParticipantKeySets } from "../../core/participants/participant_keys.ts";
import type { OrderOutboxStore, OrderPlace } from "../../core/payments/order_outbox_store.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import { readPage } from "../../../base/store/page.ts";
import type { BankClient, Client } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { asOf } from "../../core/consents/consent.ts";
import { representGlance } from "../cases/case_representation.ts";
import { readFunnel, representFunnelRow, type ShownFunnelRow } from "../funnel/funnel_representation.ts";
import { readDimensions } from "../funnel/funnel_routes.ts";
import { daysOf, reportsOf, type Subject } from "../reports/report.ts";
import { representReport, type ShownReport } from "../reports/report_representation.ts";
import { readAsked, tppSubject } from "../reports/routes.ts";
import { type Found, search, type SearchDeps } from "../search/search.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import type { ErrorUri } from "../traces/trace_representation.ts";
import type { Trace } from "../traces/trace.ts";
import { representOwnOrder, representRegistration } from "./own_representation.ts";

export interface OwnReadDeps extends SearchDeps, DeliveryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clients: Pick<ClientStore, "find" | "findBank" | "namesOf">;
  readonly payments: PaymentStore;
  readonly outbox: Pick<OrderOutboxStore, "dead" | "held">;
  readonly figuresStore: Pick<FiguresStore, "readDay">;
  readonly funnel: Pick<FunnelStore, "read">;
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly keys: Pick<ParticipantKeySets, "ages">;
  readonly standingOf: StandingOf;
  readonly errorUri: ErrorUri;
}

/** A trace, and the client of the organisation that may read it. */
export interface OwnTrace {
  readonly reader: string;
  readonly trace: Trace;
}

const MAX_TRACES = 50;
const ORDERS = 100;
/** Of all organisations. */
export const MAX_ORDERS_READ = 10_000;

export async function registrationsOf(
  { keys, standingOf, ...deps }: OwnReadDeps,
  organisation: Organisation,
): Promise<readonly Owned[]> {
  const copies = keys.ages();
  const shown = await Promise.all((await clientsOf(deps, organisation)).map(async (client) => {
    const status = await standingOf(client).catch(() => "unknown");
    const copy = copies.find(({ clientId }) => clientId === client.clientId);
    return organisation.recognise(representRegistration(client, status, copy), client);
  }));
  return shown.filter((one) => one !== undefined);
}

/** Searches. Requests are found only by a client of the organisation that may read them. */
export async function ownSearch(
  deps: OwnReadDeps,
  organisation: Organisation,
  text: string,
): Promise<Pick<Found, "cases" | "isComplete"> & { readonly traces: readonly OwnTrace[] }> {
  const readers = new Map<Trace, string>();
  const reading = async (read: (reader: string) => Promise<readonly Trace[]>): Promise<readonly Trace[]> => {
    const all = await Promise.all(organisation.clients.map(async ({ clientId }) => {
      const traces = await read(clientId);
      for (const trace of traces) readers.set(trace, clientId);
      return traces;
    }));
    return all.flat().toSorted((one, other) => other.at - one.at).slice(0, MAX_TRACES);
  };
  const traces = {
    ...deps.traces,
    async byInteraction(id: string) {
      let isComplete = true;
      const found = await reading(async (reader) => {
        const own = await deps.traces.byInteraction(id, reader);
        isComplete &&= own.isComplete;
        return own.traces;
      });
      return { traces: found, isComplete: isComplete && found.length < MAX_TRACES };
    },
    about: (_reader: string, subject: string) => reading((reader) => deps.traces.about(reader, subject)),
  };
  const found = await search({ ...deps, traces }, text, (one) => organisation.owns(one));
  return {
    cases: found.cases,
    isComplete: found.isComplete,
    traces: found.traces.map((trace) => ({ reader: readers.get(trace) ?? "", trace })),
  };
}

/** Returns what a case of the organisation is and where it stands, or nothing. `id` is the consent's or the payment's. */
export async function ownCase(
  { store, clock, consents, payments, clients }: OwnReadDeps,
  organisation: Organisation,
  id: string,
): Promise<readonly Owned[]> {
  const paymentId = asPaymentId(id);
  const named = paymentId === undefined ? null : await payments.find(store, paymentId);
  const consentId = named?.value.consentId ?? asConsentId(id);
  const consent = consentId === undefined ? null : await consents.find(store, consentId);
  if (consent === null || !organisation.owns(consent.value)) return [];
  const [payment, tpp, bank] = await Promise.all([
    payments.find(store, await paymentIdOf(consent.value.id)),
    clients.find(store, consent.value.clientId),
    clients.findBank(store, consent.value.bank),
  ]);
  const { Debtor: _, ...glance } = representGlance(asOf(consent.value, clock()), payment?.value, {
    tpp,
    bank,
  });
  return [organisation.recognise(glance, consent.value)].filter((one) => one !== undefined);
}

/** Returns the newest traces about a subject that the organisation's clients may read. */
export async function ownTraces(
  { traces }: OwnReadDeps,
  { clients }: Organisation,
  subject: string,
): Promise<readonly OwnTrace[]> {
  const all = await Promise.all(clients.map(async ({ clientId }) => {
    const found = await traces.about(clientId, subject);
    return found.map((trace) => ({ reader: clientId, trace }));
  }));
  return all.flat().toSorted((one, other) => other.trace.at - one.trace.at).slice(0, MAX_TRACES);
}

/** Returns the first orders, and whether there are no others. A bank's are told by the order itself. */
export async function ownStoppedOrders(
  { outbox, payments, store }: OwnReadDeps,
  organisation: Organisation,
  state: "dead" | "held",
): Promise<{ readonly found: readonly Owned[]; readonly isComplete: boolean }> {
  const found: Owned[] = [];
  const isTpp = organisation.clients.some(({ bank }) => bank === undefined);
  let after: OrderPlace | undefined;
  for (let read = 0; read < MAX_ORDERS_READ && found.length < ORDERS; read += ORDERS) {
    const page = await readPage<Owned, OrderPlace>(
      { after, limit: ORDERS },
      async (place, limit) =>
        await Promise.all((await outbox[state](place, limit)).map(async ({ place, shown: order }) => {
          const mayBeOwn = order !== undefined && (isTpp || organisation.owns({ bank: order.bank }));
          const payment = mayBeOwn ? (await payments.find(store, order.paymentId))?.value : undefined;
          return {
            place,
            shown: order && payment && organisation.recognise(representOwnOrder(order, payment), payment),
          };
        })),
    );
    found.push(...page.found);
    after = page.next;
    if (after === undefined) break;
  }
  return { found: found.slice(0, ORDERS), isComplete: after === undefined && found.length <= ORDERS };
}

/** Returns how the pushes to the organisation's software stand. A bank does not see those of TPPs. */
export async function ownEventDeliveries(
  deps: OwnReadDeps,
  organisation: Organisation,
): Promise<readonly Owned[]> {
  const subscriptions = await Promise.all(
    organisation.clients.map(({ clientId }) => listClientSubscriptions(deps.store, clientId)),
  );
  const shown = await representDeliveries(deps, subscriptions.flat());
  return shown.flatMap((one) => organisation.recognise(one, { clientId: one.ClientId }) ?? []);
}

export async function ownReports(
  { figuresStore, clock, ...deps }: OwnReadDeps,
  organisation: Organisation,
  query: Readonly<Record<string, string>>,
): Promise<readonly Owned<ShownReport>[]> {
  const { from, until } = readAsked(query, clock());
  const days = daysOf(from, until);
  const clients = await clientsOf(deps, organisation);
  const banks = clients.filter(({ role }) => role === "ASPSP").map(bankSubject);
  const tpps = clients.filter(({ role }) => role === "PISP").map(tppSubject);
  const ofBanks = await reportsOf(figuresStore, "bank", banks, days);
  const ofTpps = await reportsOf(figuresStore, "client", tpps, days);
  return [
    ...ofBanks.flatMap((one) =>
      organisation.recognise(representReport("banks", one), { bank: one.subject.id }) ?? []
    ),
    ...ofTpps.flatMap((one) =>
      organisation.recognise(representReport("tpps", one), { clientId: one.subject.id }) ?? []
    ),
  ];
}

/** Of the organisation's bank, or of its software at every bank. */
export async function ownFunnel(
  { funnel, listBanks, clock }: OwnReadDeps,
  organisation: Organisation,
  { by = "day", ...span }: Readonly<Record<string, string>>,
): Promise<readonly Owned<ShownFunnelRow>[]> {
  const { from, until } = readAsked(span, clock());
  const banks = organisation.clients.flatMap(({ bank }) => bank ?? []);
  const tpps = organisation.clients.filter(({ bank }) => bank === undefined);
  const dimensions = readDimensions(by);
  const at = dimensions.includes("bank") && tpps.length > 0 ? await listBanks() : [{ code: undefined }];
  const of = [
    ...banks.map((bank) => ({ bank })),
    ...at.flatMap(({ code: bank }) => tpps.map(({ clientId }) => ({ bank, clientId }))),
  ];
  const [bank, clientId] = [banks[0], tpps[0]?.clientId];
  const rows = await readFunnel({ funnel }, { days: daysOf(from, until), by: dimensions, of });
  return rows.flatMap((row) => organisation.recognise(representFunnelRow(row), { bank, clientId }) ?? []);
}

/** A bank's code is its org_id (Decision A4). */
function bankSubject({ orgId, orgName, registeredAt }: Client): Subject {
  return { id: orgId, name: orgName, registeredAt };
}

async function clientsOf(
  { clients, store }: Pick<OwnReadDeps, "clients" | "store">,
  organisation: Organisation,
): Promise<readonly Client[]> {
  const found = await Promise.all(organisation.clients.map(({ clientId }) => clients.find(store, clientId)));
  return found.filter((client) => client !== null);
}
