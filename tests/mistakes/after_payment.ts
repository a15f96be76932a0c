/** Mistakes of a TPP after a payment: events, subscriptions, receipts, traces, lists, and its own registration. */
import { call, type CallOptions } from "testing/flows.ts";
import { type Area, type Mistake, mistake } from "./mistake.ts";
import { CONSENTS, PAYMENTS, type Workbench } from "./workbench.ts";

const EVENTS = "/BANKA/events/v1";
const SUBSCRIPTIONS = "/BANKA/event-subscriptions/v1";

/** A request of the TPP with its client credentials token. */
async function asking({ env, token }: Workbench, path: string, options: CallOptions = {}): Promise<Response> {
  return await call(env, env.tpp, await token(), path, options);
}

/** A POST without a signature, as events are polled. */
function polling(bench: Workbench, body: unknown, path = EVENTS): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return asking(bench, path, { body: text, signature: null, idempotencyKey: null });
}

function poll(name: string, body: unknown, part: string, expected: string): Mistake {
  return { name, part, expected, make: (bench) => polling(bench, body) };
}

function replay(name: string, body: unknown, part: string, expected: string): Mistake {
  return { name, part, expected, make: (bench) => polling(bench, body, `${EVENTS}/replay`) };
}

export const EVENT_POLLS: Area = {
  name: "polls of events",
  role: "TPP",
  mistakes: [
    poll("maxEvents as a text", { maxEvents: "10" }, "maxEvents", "a whole number, 0 or more"),
    poll("maxEvents below zero", { maxEvents: -1 }, "maxEvents", "a whole number, 0 or more"),
    poll("returnImmediately as a text", { returnImmediately: "true" }, "returnImmediately", "true or false"),
    poll("one jti in place of a list", { ack: "1-a" }, "ack", "a JSON array"),
    poll(
      "an error without its code",
      { setErrs: { "1-a": { description: "x" } } },
      "setErrs.1-a.err",
      "required",
    ),
    poll("a misspelt member", { acks: [] }, "acks", "not known"),
    poll("a body that is not JSON", "ack=1", "body", "one JSON value"),
    replay("a replay without its end", { from: "2026-01-31T12:00:00Z" }, "to", "required"),
    replay(
      "a replay in local time",
      { from: "2026-01-31T12:00:00", to: "2026-01-31T13:00:00Z" },
      "from",
      "with an offset",
    ),
    replay(
      "a replay that ends before it begins",
      { from: "2026-01-31T13:00:00Z", to: "2026-01-31T12:00:00Z" },
      "to",
      "not be before from",
    ),
  ],
};

function subscribe(name: string, data: object, part: string, expected: string): Mistake {
  const body = JSON.stringify({ Data: { Version: "4.0", ...data } });
  return {
    name,
    part,
    expected,
    make: (bench) => asking(bench, SUBSCRIPTIONS, { body, idempotencyKey: null }),
  };
}

const TYPE = "urn:uk:org:openbanking:events:resource-update";

export const EVENT_SUBSCRIPTIONS: Area = {
  name: "event subscriptions",
  role: "TPP",
  mistakes: [
    subscribe("Version 3.1", { Version: "3.1" }, "Data.Version", "4.0"),
    subscribe("EventTypes as a text", { EventTypes: TYPE }, "Data.EventTypes", TYPE),
    subscribe("another event type", { EventTypes: ["payment"] }, "Data.EventTypes[0]", TYPE),
    subscribe(
      "an address that is not in the statement",
      { CallbackUrl: "https://other.example/events" },
      "Data.CallbackUrl",
      "event_notification_uri",
    ),
    mistake(
      ["a change of an unknown subscription", "the id", "an endpoint of this bank returned"],
      (bench) =>
        asking(bench, `${SUBSCRIPTIONS}/${crypto.randomUUID()}`, {
          method: "PUT",
          body: JSON.stringify({ Data: { Version: "4.0" } }),
          idempotencyKey: null,
        }),
    ),
  ],
};

function list(name: string, query: string, part: string, expected: string, path = PAYMENTS): Mistake {
  return { name, part, expected, make: (bench) => asking(bench, `${path}?${query}`) };
}

export const LISTS: Area = {
  name: "lists, receipts and traces",
  role: "TPP",
  mistakes: [
    list("a time without offset", "from=2040-01-15T00:00:00", "from", "with an offset"),
    list("an unencoded plus", "from=2040-01-15T00:00:00+01:00", "from", "%2B"),
    list("a misspelt status", "status=Accepted", "status", "AcceptedSettlementCompleted"),
    list("a misspelt parameter", "fromDate=2040-01-15T00:00:00Z", "fromDate", "from, until, status"),
    list("a page by number", "page=2", "page", "after"),
    list("another cursor", "after=2", "after", "the After of an earlier page"),
    list(
      "a span that ends before it begins",
      "from=2040-01-16T00:00:00Z&until=2040-01-15T00:00:00Z",
      "until",
      "later than from",
      CONSENTS,
    ),
    list(
      "a filter beside an idempotency key",
      "idempotency-key=a&from=2040-01-15T00:00:00Z",
      "from",
      "omitted",
    ),
    mistake(
      ["a receipt of an unknown payment", "the id", "an endpoint of this bank returned"],
      (bench) => asking(bench, `${PAYMENTS}/${crypto.randomUUID()}/receipt`),
    ),
    mistake(["traces of two subjects", "query", "exactly one of consent_id"], async (bench) => {
      return await asking(bench, `/traces/v1?consent_id=${await bench.consent()}&rejected=true`);
    }),
    mistake(
      ["traces of a consent by a wrong id", "consent_id", "a UUID"],
      (bench) => asking(bench, "/traces/v1?consent_id=7"),
    ),
    mistake(
      ["a trace by an id of one's own", "trace", "x-fapi-interaction-id of a response"],
      (bench) => asking(bench, `/traces/v1/${crypto.randomUUID()}`),
    ),
  ],
};

export const OWN_REGISTRATION: Area = {
  name: "the own registration",
  role: "TPP",
  mistakes: [
    mistake(
      ["another client's registration", "access token", "another client"],
      (bench) => asking(bench, `/register/v1/${bench.env.bankA.clientId}`),
    ),
    mistake(
      ["an update by PUT", "method", "GET"],
      (bench) =>
        asking(bench, `/register/v1/${bench.env.tpp.clientId}`, {
          method: "PUT",
          body: "{}",
          idempotencyKey: null,
        }),
    ),
    mistake(["a bank that deletes its own", "scope", "payments"], async ({ env, bankToken }) => {
      return await call(env, env.bankA, await bankToken(), `/register/v1/${env.bankA.clientId}`, {
        method: "DELETE",
      });
    }),
  ],
};
