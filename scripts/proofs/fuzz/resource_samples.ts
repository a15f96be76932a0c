/**
 * Valid calls of the resource endpoints: a TPP's consents and payments, a bank's back channel, the operator's routes.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ACCOUNTS, consentPath, orderPath, paidAt } from "../../testing/back_channel.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  consentBody,
  good,
  paymentBody,
} from "../../testing/flows.ts";
import { authorised, toBank } from "../../testing/authorization_flow.ts";
import type { Participant } from "../../testing/participants.ts";
import { FULL_CONSENT } from "../../testing/resource_bodies.ts";
import { type Environment } from "../../testing/environment.ts";
import { MARIA, OPERATIONS_URL, OPERATOR_TOKENS } from "../../testing/operators.ts";
import type { JudgeJson } from "./body_parts.ts";
import type { Sample } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { type Attempt, attemptOf, record } from "./sample_request.ts";
import { resourceSample, type SampleContext } from "./environment.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";
const PAYMENTS = "/BANKA/domestic-payments/v1";
const DISPUTES = "/BANKA/disputes/v1";

/** A call and its expected status. */
interface Planned {
  readonly name: string;
  readonly status: 200 | 201;
  readonly caller: Participant;
  readonly bound: BoundToken;
  readonly path: string;
  readonly options?: CallOptions;
  readonly judge?: JudgeJson;
}

export async function resourceSamples(context: SampleContext): Promise<readonly Sample[]> {
  const { env } = context;
  const planned = [
    ...await consents(env),
    ...await payments(env),
    ...await backChannel(env),
    ...await disputes(env),
  ];
  const made: Sample[] = [];
  for (const { caller, bound, path, options, judge, ...rest } of planned) {
    const attempt = await record(env, (w) => call(w, caller, bound, path, options));
    const isSigned = options?.body !== undefined && options.signature !== null;
    const signed = isSigned ? { signer: caller } : {};
    made.push(
      await resourceSample(context, {
        ...rest,
        attempt,
        ...signed,
        ...(judge === undefined ? {} : { judge }),
      }),
    );
  }
  return [...made, ...await operations(env)];
}

async function consents(env: Environment): Promise<readonly Planned[]> {
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const { consentId, bound: owner, payment } = await authorised(env);
  const one = `${CONSENTS}/${consentId}`;
  const post = { status: 201, caller: tpp, bound, path: CONSENTS } as const;
  const body = JSON.stringify(consentBody());
  const again = { body, idempotencyKey: "a key that was used" };
  await good(call(env, tpp, bound, CONSENTS, again), 201);
  return [
    { ...post, name: "POST consent", options: { body } },
    { ...post, name: "POST full consent", options: { body: JSON.stringify(FULL_CONSENT), profile: "A" } },
    { ...post, name: "POST consent again", options: again, judge: equal(consentBody()) },
    { name: "GET consents", status: 200, caller: tpp, bound: owner, path: `${CONSENTS}?status=Authorized` },
    { name: "GET consent", status: 200, caller: tpp, bound: owner, path: one },
    { name: "GET funds", status: 200, caller: tpp, bound: payment, path: `${one}/funds-confirmation` },
  ];
}

async function payments(env: Environment): Promise<readonly Planned[]> {
  const { tpp, bankA } = env;
  const { consentId, payment: bound } = await authorised(env);
  const wanted = paymentBody(consentId);
  const { data, flow } = await paidAt(env, bankA);
  const repeated = await authorised(env);
  const made = paymentBody(repeated.consentId);
  const again = { body: JSON.stringify(made), idempotencyKey: crypto.randomUUID() };
  await good(call(env, tpp, repeated.payment, PAYMENTS, again), 201);
  const post = { status: 201, caller: tpp, path: PAYMENTS } as const;
  const read = { status: 200, caller: tpp } as const;
  const options = { body: JSON.stringify(wanted), profile: "A" } as const;
  const byKey = `${PAYMENTS}?idempotency-key=${again.idempotencyKey}`;
  return [
    { ...post, name: "POST payment", bound, options, judge: equal(wanted) },
    {
      ...post,
      name: "POST payment again",
      bound: repeated.payment,
      options: again,
      judge: equal(made),
    },
    { ...read, name: "GET payment", bound: flow.payment, path: `${PAYMENTS}/${data.DomesticPaymentId}` },
    {
      ...read,
      name: "GET receipt",
      bound: flow.payment,
      path: `${PAYMENTS}/${data.DomesticPaymentId}/receipt`,
    },
    { ...read, name: "GET payments", bound: flow.bound, path: `${PAYMENTS}?until=2050-01-01T00:00:00Z` },
    { ...read, name: "GET payment by key", bound: repeated.payment, path: byKey },
    {
      ...read,
      name: "POST events",
      bound: flow.bound,
      path: "/BANKA/events/v1",
      options: {
        body: JSON.stringify({ ack: ["an unknown one"], maxEvents: 1, returnImmediately: true }),
        signature: null,
        idempotencyKey: null,
      },
    },
    {
      ...read,
      name: "POST replay",
      bound: flow.bound,
      path: "/BANKA/events/v1/replay",
      options: {
        body: JSON.stringify({ from: "2040-01-15T00:00:00Z", to: "2040-01-15T00:00:01Z" }),
        signature: null,
        idempotencyKey: null,
      },
    },
    { ...read, name: "GET subscriptions", bound: flow.bound, path: "/BANKA/event-subscriptions/v1" },
    { ...read, name: "GET registration", bound: flow.bound, path: `/register/v1/${tpp.clientId}` },
    { ...read, name: "GET traces", bound: flow.bound, path: "/traces/v1?rejected=true" },
  ];
}

async function backChannel(env: Environment): Promise<readonly Planned[]> {
  const { bankA } = env;
  const bound = await clientToken(env, bankA);
  const { consentId } = await toBank(env);
  const { data } = await paidAt(env, bankA);
  const order = orderPath(data.DomesticPaymentId);
  const report = { BankId: "BANKA", ConsentId: consentId, Sub: "customer-1", DebtorAccount: ACCOUNTS };
  const status = {
    Status: "AcceptedSettlementCompleted",
    StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
    StatusReason: "done",
    Charges: [{ Amount: { Amount: "1.00", Currency: "EUR" } }],
  };
  const put = (Data: unknown): CallOptions => ({ method: "PUT", body: JSON.stringify({ Data }) });
  const rest = { status: 200, caller: bankA, bound } as const;
  return [
    { ...rest, name: "GET back-channel-auth", path: consentPath(consentId) },
    { ...rest, name: "PUT back-channel-auth", path: consentPath(consentId), options: put(report) },
    {
      ...rest,
      name: "POST bank events",
      path: "/BANKA/back-channel-events/v1",
      options: {
        body: JSON.stringify({ ack: ["an unknown one"], maxEvents: 1, returnImmediately: true }),
        signature: null,
        idempotencyKey: null,
      },
    },
    { ...rest, name: "GET orders", path: `${orderPath()}?status=AcceptedSettlementInProcess` },
    { ...rest, name: "GET order", path: order },
    { ...rest, name: "PUT order", path: order, options: put(status) },
  ];
}

/** Steps of both parties, and what they read: their dispute and their evidence. */
async function disputes(env: Environment): Promise<readonly Planned[]> {
  const { tpp, bankA } = env;
  const [tppToken, bankToken] = [await clientToken(env, tpp), await clientToken(env, bankA)];
  const idOf = async (): Promise<string> => (await paidAt(env, bankA)).data.DomesticPaymentId;
  const [free, disputed] = [await idOf(), await idOf()];
  const step = (DomesticPaymentId: string, Action: string, more = {}): CallOptions => ({
    body: JSON.stringify({ Data: { DomesticPaymentId, Action, Statement: "It never came.", ...more } }),
  });
  await good(call(env, tpp, tppToken, DISPUTES, step(disputed, "Open")), 201);
  await env.platform.growLog();
  const [asTpp, asBank] = [{ caller: tpp, bound: tppToken }, { caller: bankA, bound: bankToken }];
  const [read, post] = [{ status: 200 }, { status: 201, path: DISPUTES }] as const;
  return [
    { ...asTpp, ...post, name: "POST dispute", options: step(free, "Open") },
    {
      ...asBank,
      ...post,
      name: "POST answer to a dispute",
      options: step(disputed, "Answer", { IsAgreed: false }),
    },
    { ...asTpp, ...read, name: "GET dispute", path: `${DISPUTES}/${disputed}` },
    { ...asBank, ...read, name: "GET own case", path: `/BANKA/cases/v1/${disputed}` },
  ];
}

/**
 * Requires the document that the customer accepted or that the idempotency key belongs to: equal member by member, ids
 * in any case.
 */
const withConsentId = z.looseObject({ Data: z.looseObject({ ConsentId: z.string() }) });

function equal(wanted: unknown): JudgeJson {
  return (document) => {
    const sent = withConsentId.safeParse(document).data;
    const same = sent === undefined
      ? document
      : { ...sent, Data: { ...sent.Data, ConsentId: sent.Data.ConsentId.toLowerCase() } };
    return isDeepStrictEqual(same, wanted) ? undefined : "took a document that differs";
  };
}

/** The operator's routes, with a payment order that is no longer pushed. */
async function operations(env: Environment): Promise<readonly Sample[]> {
  const { data } = await paidAt(env, env.bankA);
  const paymentId = data.DomesticPaymentId;
  const order = {
    paymentId,
    bank: "BANKA",
    failures: 11,
    state: "dead",
    mayBeAtBank: true,
    diedAt: env.now,
    lastFailure: "status 503",
  };
  const writes = [
    { kind: "set", key: ["outbox", paymentId], value: order },
    { kind: "set", key: ["outbox_dead", paymentId], value: paymentId },
  ] as const;
  await env.store.commit({ checks: [], writes });
  const make = (method: string, path: string): Promise<Attempt> =>
    attemptOf(
      "operations",
      new Request(`${OPERATIONS_URL}/operations/payment-orders${path}`, { method, headers: MARIA }),
    );
  const bearer = /^Bearer (\S+)$/i;
  const parts = [requestPart({
    also: ({ headers }) => {
      const sent = headers.find(([name]) => name === "authorization")?.[1] ?? "";
      return bearer.exec(sent)?.[1] === OPERATOR_TOKENS.maria ? undefined : "took another operator token";
    },
  })];
  return [
    {
      name: "GET dead orders",
      status: 200,
      attempt: await make("GET", "?state=dead"),
      surface: "oauth",
      parts,
    },
    {
      name: "POST redrive",
      status: 202,
      attempt: await make("POST", `/${paymentId}/redrive`),
      surface: "oauth",
      parts,
    },
  ];
}
