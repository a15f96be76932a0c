/** The contract check finds each kind of deviation from the OpenAPI document, and none in a valid response. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, type OpenApi } from "testing/answers.ts";
import { type Contract, contractOf } from "testing/api_contract.ts";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { CONSENTS } from "./resource_calls.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";
import { test } from "support/environment_test.ts";
import { steps } from "./steps.ts";

interface Departure {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  readonly body?: (text: string) => string;
  /** Text of the fault that must be found. */
  readonly found: string;
}

const DEPARTURES: Readonly<Record<string, Departure>> = {
  "a status that is not documented": { status: 202, found: "status 202 is not documented" },
  "a required header is missing": {
    remove: ["x-fapi-interaction-id"],
    found: "x-fapi-interaction-id is missing",
  },
  "a header of the wrong form": { set: { "x-fapi-interaction-id": "1" }, found: 'must match format "uuid"' },
  "a header with another value": { set: { "cache-control": "public" }, found: "header cache-control" },
  "a header that is not documented": { set: { "dpop-nonce": "n" }, found: "dpop-nonce is not documented" },
  "no signature": { remove: ["x-jws-signature"], found: "x-jws-signature is missing" },
  "another content type": { set: { "content-type": "text/plain" }, found: "content type text/plain" },
  "a body where none is documented": {
    status: 401,
    set: { "www-authenticate": 'DPoP algs="PS256"' },
    remove: ["x-jws-signature"],
    found: "the document has none",
  },
  "an unknown member": {
    body: (text) => text.replace('"Data":{', '"Data":{"Extra":1,'),
    found: 'must NOT have additional properties {"additionalProperty":"Extra"}',
  },
  "a missing member": { body: (text) => text.replace(/"ConsentId":"[^"]*",/, ""), found: "ConsentId" },
  "a value outside the enumeration": {
    body: (text) => text.replace("AwaitingAuthorisation", "Waiting"),
    found: "body/Data/Status",
  },
  "a control character in a text": {
    body: (text) => text.replace(/"EndToEndIdentification":"/, "$&\\u0007"),
    found: "body/Data/Initiation/EndToEndIdentification must match pattern",
  },
  "a time that is none": {
    body: (text) => text.replace(/("CreationDateTime":)"[^"]*"/, '$1"today"'),
    found: 'must match format "date-time"',
  },
  "an address that the document does not have": { path: "/BANKA/secrets/v1", found: "does not have" },
  "a method that the document does not have": { method: "DELETE", found: "expected 405" },
};

test("Answers that depart from the OpenAPI document are found, each for its own reason", async ({ env, t }) => {
  const contract = await readContract(env);
  const bound = await clientToken(env, env.tpp);
  const answer = await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) });
  const text = await answer.text();
  const judge = (departure: Partial<Departure>): Promise<readonly string[]> => {
    const { method = "POST", path = CONSENTS, status = 201, body = (same) => same } = departure;
    const headers = new Headers(answer.headers);
    for (const [name, value] of Object.entries(departure.set ?? {})) headers.set(name, value);
    for (const name of departure.remove ?? []) headers.delete(name);
    const response = new Response(body(text), { status, headers });
    return contract.faults({ method, pathname: path, response });
  };
  await t.step("none in the answer itself", async () => assertEquals(await judge({}), []));
  await steps(t, DEPARTURES, async (departure) => {
    const faults = await judge(departure);
    assert(faults.some((fault) => fault.includes(departure.found)), JSON.stringify(faults));
    assertEquals(faults.length, 1, JSON.stringify(faults));
  });
});

test("A 405 must list the methods that the document has", async ({ env }) => {
  const contract = await readContract(env);
  const judge = (allow: string): Promise<readonly string[]> => {
    const response = new Response(null, { status: 405, headers: { allow } });
    return contract.faults({ method: "DELETE", pathname: "/BANKA/domestic-payments/v1", response });
  };
  assertEquals(await judge("GET, POST"), []);
  assertEquals((await judge("GET")).length, 1);
});

async function readContract(env: Awaited<ReturnType<typeof openEnvironment>>): Promise<Contract> {
  const document = await bodyOf<OpenApi>(env.browser(new Request(`${AUTH_URL}/openapi.json`)));
  return contractOf(document, BASE_URL, []);
}
