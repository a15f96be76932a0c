/** Mistakes of a bank with payment orders: its answers to pushes, its lists of orders, and its reports of their status. */
import { bodyOf, type Payment } from "testing/answers.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type CallOptions, pay } from "testing/flows.ts";
import { accepts, answers, type BankAnswer, down } from "support/orders.ts";
import { type Area, type Mistake, mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";

/** The bank answers the push of an order wrongly, and reads its trace. */
function answer(name: string, bankAnswer: BankAnswer, part: string, expected: string): Mistake {
  return {
    name,
    part: `${part} must be`,
    expected,
    make: async ({ env }) => {
      const flow = await authorised(env);
      env.answer = bankAnswer;
      const made = await pay(env, flow);
      env.answer = accepts;
      return made;
    },
    told: async ({ tracesOfBank }, made) => {
      const { Data } = await bodyOf<Payment>(made);
      return await tracesOfBank(`?payment_id=${Data.DomesticPaymentId}`);
    },
  };
}

function reset(): Promise<Response> {
  return Promise.reject(new TypeError("connection reset"));
}

const STATUSES = "AcceptedSettlementInProcess or Rejected";

export const ORDER_ANSWERS: Area = {
  name: "answers to orders",
  role: "bank",
  mistakes: [
    answer("a Status that does not exist", answers("Accepted"), "Status", STATUSES),
    answer("an answer that is not JSON", () => new Response("OK"), "body", "a JSON object with Status"),
    answer(
      "404 for an order",
      () => new Response(null, { status: 404 }),
      "status",
      "200, also for a rejected order",
    ),
    answer("503 for an order", down, "status", "200"),
    answer("no answer to an order", reset, "the response", "complete within 5 s"),
  ],
};

function listing(name: string, query: string, part: string, expected: string): Mistake {
  const make = ({ env, bankToken }: Workbench): Promise<Response> =>
    bankToken().then((bound) => bankCall(env, env.bankA, `${orderPath()}?${query}`, { bound }));
  return { name, part, expected, make };
}

export const ORDER_LISTS: Area = {
  name: "lists of orders",
  role: "bank",
  mistakes: [
    listing("a status that does not exist", "status=Accepted", "status", "Pending, Rejected"),
    listing("two statuses", "status=Pending&status=Rejected", "status", "once"),
    listing("a page number", "after=2", "after", "the After of an earlier page"),
    mistake(
      ["an order that does not exist", "the id", "an endpoint of this bank returned"],
      async ({ env, bankToken }) =>
        await bankCall(env, env.bankA, orderPath(crypto.randomUUID()), { bound: await bankToken() }),
    ),
  ],
};

const GOOD = { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2026-01-31T12:00:00+00:00" };

async function reporting(
  { env, bankToken, payment }: Workbench,
  changed: Readonly<Record<string, unknown>>,
  { id, ...options }: CallOptions & { readonly id?: string } = {},
): Promise<Response> {
  const body = JSON.stringify({ Data: { ...GOOD, ...changed } });
  const path = orderPath(id ?? await payment());
  return await bankCall(env, env.bankA, path, { method: "PUT", body, bound: await bankToken(), ...options });
}

function field(name: string, value: unknown, part: string, expected: string, how: string): Mistake {
  return {
    name: `${name} ${how}`,
    part: `Data.${part}`,
    expected,
    make: (bench) => reporting(bench, { [name]: value }),
  };
}

const CHARGE = { ChargeBearer: "Shared", Amount: { Amount: "0.25", Currency: "EUR" } };

export const STATUS_REPORTS: Area = {
  name: "status reports",
  role: "bank",
  mistakes: [
    field("Status", "ACSC", "Status", "AcceptedSettlementCompleted", "is an ISO 20022 code"),
    field("Status", undefined, "Status", "required", "is missing"),
    field("Status", "Pending", "Status", "a status that follows", "goes back"),
    field(
      "StatusUpdateDateTime",
      "2026-01-31T12:00:00",
      "StatusUpdateDateTime",
      "an offset",
      "has no offset",
    ),
    field("StatusUpdateDateTime", 1_770_000_000, "StatusUpdateDateTime", "string", "is a number"),
    field("StatusReason", "x".repeat(501), "StatusReason", "1 to", "is too long"),
    field("StatusReason", null, "StatusReason", "Omit", "is null"),
    field("Reason", "AM04", "Reason", "not known", "is not a field"),
    field("Charges", CHARGE, "Charges", "array", "is one object"),
    field(
      "Charges",
      [{ ...CHARGE, Amount: { Amount: 0.25, Currency: "EUR" } }],
      "Charges[0].Amount.Amount",
      "a decimal such as 0.25",
      "has a number",
    ),
    field(
      "Charges",
      [{ ...CHARGE, ChargeBearer: "SHAR" }],
      "Charges[0].ChargeBearer",
      "Shared",
      "has an ISO 20022 code",
    ),
    mistake(
      ["a payment that does not exist", "the id", "an endpoint of this bank returned"],
      (bench) => reporting(bench, {}, { id: crypto.randomUUID() }),
    ),
    mistake(["a report as POST", "method", "PUT"], (bench) => reporting(bench, {}, { method: "POST" })),
    mistake(
      ["a report without signature", "x-jws-signature", "a detached JWS over the body"],
      (bench) => reporting(bench, {}, { signature: null }),
    ),
    mistake(
      ["a report as plain text", "Content-Type", "'application/json'"],
      (bench) => reporting(bench, {}, { headers: { "content-type": "text/plain" } }),
    ),
  ],
};
