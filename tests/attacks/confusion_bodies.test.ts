/**
 * A payload signature and its body form a whole JWS by the participant's only signing key: no body may be accepted as
 * claims, and no claims as a body (contract J1 to J38).
 */
import { assertEquals } from "@std/assert";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  paymentBody,
  requestToken,
} from "testing/flows.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { assertionOf } from "support/jwt_places.ts";
import { type JsonObject, signJwt } from "testing/jwts.ts";
import { assertApiError } from "testing/oauth_requests.ts";
import { type Participant, registrationClaims } from "testing/participants.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { segment } from "testing/raw_jws.ts";
import { stepsOf } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

/** The target of a signed body, and the expected body. */
interface Target {
  readonly name: string;
  readonly who: Participant;
  readonly bound: BoundToken;
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly body: JsonObject;
}

async function targets(env: Environment): Promise<readonly Target[]> {
  const paying = await authorised(env);
  const { consentId } = await toBank(env);
  const account = { ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" };
  const report = { BankId: "BANKA", ConsentId: consentId, Sub: "customer-1", DebtorAccount: [account] };
  const tpp = { who: env.tpp, method: "POST" } as const;
  return [{
    ...tpp,
    name: "POST domestic-payment-consents",
    bound: await clientToken(env, env.tpp),
    path: "/BANKA/domestic-payment-consents/v1",
    body: { ...consentBody() },
  }, {
    ...tpp,
    name: "POST domestic-payments",
    bound: paying.payment,
    path: "/BANKA/domestic-payments/v1",
    body: { ...paymentBody(paying.consentId) },
  }, {
    name: "PUT back-channel-auth/{id}",
    who: env.bankA,
    bound: await clientToken(env, env.bankA),
    method: "PUT",
    path: `/BANKA/back-channel-auth/v1/${consentId}`,
    body: { Data: report },
  }];
}

/** The JWS over the body, with a header that is valid for a payload signature and a client assertion. */
function jwsOver({ who }: Target, body: JsonObject): Promise<string> {
  return signJwt(who.signing, body, { typ: undefined });
}

function send(env: Environment, target: Target, jws: string, body: JsonObject): Promise<Response> {
  const [head, , signature] = jws.split(".");
  const { who, bound, method, path } = target;
  const options = { method, body: JSON.stringify(body), signature: `${head}..${signature}` };
  return unchanged(env, () => call(env, who, bound, path, options));
}

Deno.test("claims are no body: an assertion's payload, with its signature, is rejected for its members [J26]", async (t) => {
  await using env = await openEnvironment();
  await stepsOf(t, await targets(env), (target) => target.name, async (target) => {
    const claims = assertionOf(env, target.who);
    const answer = await send(env, target, await jwsOver(target, claims), claims);
    const missing = ["Data", ...(target.method === "PUT" ? [] : ["Risk"])];
    await assertFaults(answer, 400, [
      ...missing.map((path) => ["Field.Missing", path] as const),
      ...["aud", "exp", "iat", "iss", "jti", "nbf", "sub"].map((path) => ["Field.Unexpected", path] as const),
    ]);
  });
});

Deno.test("a body with the claims of another kind beside its own members is rejected for each of them [J26]", async (t) => {
  await using env = await openEnvironment();
  for (const target of await targets(env)) {
    const kinds: Readonly<Record<string, JsonObject>> = {
      "a client assertion": assertionOf(env, target.who),
      "a registration JWT": registrationClaims(env, target.who),
      "a bank's answer": {
        iss: "BANKA",
        aud: "x",
        exp: 1,
        bank_id: "BANKA",
        correlation_id: "x",
        status_code: "x",
      },
      "a DPoP proof": { htm: "POST", htu: "x", iat: 1, jti: "x" },
    };
    await stepsOf(t, Object.entries(kinds), ([name]) => `${target.name}: ${name}`, async ([, claims]) => {
      const body = { ...target.body, ...claims };
      const answer = await send(env, target, await jwsOver(target, body), body);
      const members = Object.keys(claims).sort().slice(0, 20);
      await assertFaults(answer, 400, members.map((path) => ["Field.Unexpected", path]));
    });
  }
});

Deno.test("a body that was accepted authenticates no caller, registers no client and proves no key [J26] [BR-N18]", async (t) => {
  await using env = await openEnvironment();
  for (const target of await targets(env)) {
    const jws = await jwsOver(target, target.body);
    await t.step(`${target.name}: accepted with its signature`, async () => {
      const [head, payload = "", signature] = jws.split(".");
      const body = JSON.stringify(target.body);
      assertEquals(payload, segment(body));
      const { who, bound, method, path } = target;
      const options = { method, body, signature: `${head}..${signature}` };
      assertEquals((await call(env, who, bound, path, options)).status, method === "PUT" ? 200 : 201);
    });
    await t.step(`${target.name}: the whole JWS as an assertion`, async () => {
      const present = () => requestToken(env, target.who, "BANKA", { form: { client_assertion: jws } });
      await assertApiError(await unchanged(env, present), [401, "invalid_client"]);
    });
    await t.step(`${target.name}: the whole JWS as a proof`, async () => {
      const present = () => requestToken(env, target.who, "BANKA", { proof: jws });
      await assertApiError(await unchanged(env, present), [400, "invalid_dpop_proof"]);
    });
  }
});
