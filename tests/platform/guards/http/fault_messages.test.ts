/**
 * `Errors[].Message`: each kind of fault has words of its own that say what was expected. [G8] A value of another type
 * or length is answered with what was expected, never with the name of a type alone. [G8]
 */
import { assert, assertEquals } from "@std/assert";
import { call, clientToken, createConsent, good, pay } from "testing/flows.ts";
import { authorised, putAccounts } from "testing/authorization_flow.ts";
import { errorBody } from "testing/resource_answers.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { initiationFaults } from "../../../../src/platform/core/consents/initiation_schema.ts";
import { edited } from "./edited.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { bodyOf, type OpenApi, type OpenApiParameter, type Subscription } from "testing/answers.ts";
import { poll } from "../../events/poll.ts";
import { subscription } from "../../events/subscribing.ts";

const IDENTIFICATION = "Data.Initiation.DebtorAccount.Identification";
const CURRENCY = "Data.Initiation.InstructedAmount.Currency";

/** Faulty values of a field of the consent request, and the words of the answer. */
const MESSAGES: Readonly<Record<string, readonly [path: string, value: string, message: string]>> = {
  "an IBAN with spaces": [
    IDENTIFICATION,
    "GB29 NWBK 6016 1331 9268 19",
    "Must be an IBAN without spaces, hyphens or other separators.",
  ],
  "a currency that is not supported": [
    CURRENCY,
    "CHF",
    "Payments in this currency are not supported. Supported are: COP, EUR, GBP, USD.",
  ],
  "a currency that does not exist": [
    CURRENCY,
    "ZZZ",
    "Must be an active ISO 4217 currency code in capitals, such as EUR.",
  ],
  "a currency in small letters": [
    CURRENCY,
    "eur",
    "Must be an active ISO 4217 currency code in capitals, such as EUR.",
  ],
};

test("A faulty field is answered with words of its own for each fault [CON-17] [CON-18] [G8]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  await steps(t, MESSAGES, async ([path, value, message]) => {
    const body = JSON.stringify(edited(FULL_CONSENT, path, value));
    const response = await call(env, env.tpp, bound, CONSENTS, { body });
    assertEquals((await errorBody(response, 400)).Errors[0]?.Message, message);
  });
});

Deno.test("A currency that is not supported is answered with those that this platform takes [CON-17] [G8]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_CURRENCIES: "COP" } });
  const bound = await clientToken(env, env.tpp);
  const response = await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(FULL_CONSENT) });
  const { Errors: [fault] } = await errorBody(response, 400);
  assertEquals(fault?.Message, "Payments in this currency are not supported. Supported are: COP.");
});

Deno.test("At most 80 currencies are named [CON-17] [G8]", () => {
  const codes = Array.from(
    { length: 82 },
    (_, index) => `A${String.fromCharCode(65 + index / 26, 65 + index % 26)}`,
  );
  const body = { Data: { Initiation: { InstructedAmount: { Amount: "1.00", Currency: "USD" } } } };
  const [fault] = initiationFaults(body, { currencies: codes, accountSchemes: new Map() });
  const named = codes.slice(0, 80).join(", ");
  assertEquals(fault?.message, `Payments in this currency are not supported. Supported are: ${named}.`);
});

test("A 403 says which access token the request needs [C3] [G8]", async ({ env, t }) => {
  const flow = await authorised(env);
  const other = await authorised(env);
  const bank = await clientToken(env, env.bankA);
  const cases: Readonly<Record<string, readonly [string, () => Promise<Response>]>> = {
    "a client credentials token for a payment": [
      "This request needs an access token of scope payments from the grant authorization_code.",
      () => pay(env, { ...flow, payment: flow.bound }),
    ],
    "a bank's token at a TPP's endpoint": [
      "This request needs an access token of scope payments from the grant client_credentials.",
      () => call(env, env.bankA, bank, `${CONSENTS}/${flow.consentId}`),
    ],
    "the token of another consent": [
      "The access token was issued for another consent.",
      () => pay(env, { ...other, payment: flow.payment }),
    ],
  };
  await steps(t, cases, async ([message, send]) => {
    const response = await send();
    assertEquals((await errorBody(response, 403)).Errors[0]?.Message, message);
  });
});

test("PUT back-channel-auth without an authorization session says so, not that the status forbids it [C11] [G8]", async ({ env }) => {
  const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
  const response = await putAccounts(env, env.bankA, ConsentId);
  const { Errors: [fault] } = await errorBody(response, 400);
  assertEquals(fault?.ErrorCode, "UK.OBIE.Resource.InvalidConsentStatus");
  assertEquals(
    fault?.Message,
    "No authorization session is open for this consent. Send the payer's accounts after the platform has " +
      "redirected the customer to the bank and before the bank's return.",
  );
});

test("What the status of a consent does not allow is answered with that status [C1] [G8]", async ({ env, t }) => {
  const flow = await authorised(env);
  const message = (status: string, needed: string): string =>
    `The consent's status must be ${needed}; it is ${status}.`;
  await t.step("payer accounts of an authorized consent", async () => {
    const response = await putAccounts(env, env.bankA, flow.consentId);
    const { Errors: [fault] } = await errorBody(response, 400);
    assertEquals(fault?.Message, message("Authorized", "AwaitingAuthorisation"));
  });
  await t.step("a second payment for a consent", async () => {
    await good(pay(env, flow), 201);
    const response = await pay(env, flow);
    const { Errors: [fault] } = await errorBody(response, 400);
    assertEquals(fault?.Message, message("Consumed", "Authorized"));
  });
});

const INSTRUCTED = "Data.Initiation.InstructedAmount";
const TYPE = "urn:uk:org:openbanking:events:resource-update";
const ONE_TYPE = `Must be an array of one element, ${TYPE}: every event of the platform has this type.`;

type Send = (env: Environment) => Promise<Response>;

function consentWith(path: string, value: unknown): Send {
  return async (env) =>
    await call(env, env.tpp, await clientToken(env, env.tpp), CONSENTS, {
      body: JSON.stringify(edited(FULL_CONSENT, path, value)),
    });
}

const subscribing = (EventTypes: unknown): Send => (env) => subscription(env, { Version: "4.0", EventTypes });

const CASES: Readonly<Record<string, readonly [Send, path: string, message: string]>> = {
  "maxEvents as a text": [
    (env) => poll(env, { maxEvents: "ten" }),
    "maxEvents",
    "Must be a whole number, 0 or more.",
  ],
  "returnImmediately as a text": [
    (env) => poll(env, { returnImmediately: "yes" }),
    "returnImmediately",
    "Must be true or false.",
  ],
  "EventTypes as a text": [subscribing(TYPE), "Data.EventTypes", ONE_TYPE],
  "EventTypes without an element": [subscribing([]), "Data.EventTypes", ONE_TYPE],
  "two EventTypes": [subscribing([TYPE, TYPE]), "Data.EventTypes", ONE_TYPE],
  "a Version as a number": [
    (env) => subscription(env, { Version: 4 }),
    "Data.Version",
    "Must be a JSON string: 4.0.",
  ],
  "an amount as a number": [
    consentWith(`${INSTRUCTED}.Amount`, 19.9),
    `${INSTRUCTED}.Amount`,
    "Must be a JSON string: digits, a dot and two digits, such as 1.00: more than zero, at most 13 digits before the dot, no leading zero.",
  ],
  "a currency as a number": [
    consentWith(`${INSTRUCTED}.Currency`, 978),
    `${INSTRUCTED}.Currency`,
    "Must be a JSON string: an active ISO 4217 currency code in capitals, such as EUR.",
  ],
  "an object as a text": [consentWith(INSTRUCTED, "EUR 19.90"), INSTRUCTED, "Must be a JSON object."],
};

test("a value of another type or length is answered with what was expected [G8]", async ({ env, t }) => {
  await steps(t, CASES, async ([send, path, message]) => {
    const { Errors } = await errorBody(await send(env), 400);
    assertEquals(Errors.map(({ Path, Message }) => [Path, Message]), [[path, message]]);
  });
});

test("a second subscription is answered with the id of the first [EVT9, G8]", async ({ env }) => {
  const made = await good<Subscription>(subscription(env, { Version: "4.0" }), 201);
  const { Errors: [fault] } = await errorBody(await subscription(env, { Version: "4.0" }), 409);
  assertEquals(
    fault?.Message,
    `It exists, with the EventSubscriptionId ${made.Data.EventSubscriptionId}. Use PUT.`,
  );
});

test("the OpenAPI document names the header of proofs as RFC 9449 does: DPoP [A7]", async ({ env }) => {
  const document = await bodyOf<OpenApi>(env.browser(new Request(`${AUTH_URL}/openapi.json`)));
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const headers = operations.flatMap(({ parameters = [] }): readonly OpenApiParameter[] => parameters)
    .filter((one) => one.in === "header" && /^dpop$/i.test(one.name ?? ""));
  assert(headers.length > 20);
  assertEquals([...new Set(headers.map(({ name }) => name))], ["DPoP"]);
});
