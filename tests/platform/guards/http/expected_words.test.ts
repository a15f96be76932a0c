/** A value of another type or length is answered with what was expected, never with the name of a type alone. [G8] */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, type OpenApi, type OpenApiParameter, type Subscription } from "testing/answers.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { errorBody } from "testing/resource_answers.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { poll } from "../../events/poll.ts";
import { subscription } from "../../events/subscribing.ts";
import { edited } from "./edited.ts";

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
