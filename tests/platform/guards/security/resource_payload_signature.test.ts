/** `x-jws-signature` of requests at the two POST endpoints (contract JWS-01 to JWS-16). */
import { assertEquals } from "@std/assert";
import { reverseMembers } from "testing/resource_bodies.ts";
import { call, clientToken, consentBody, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { payloadSignature } from "testing/jwts.ts";
import { adminCall } from "testing/participants.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { CONSENTS, resourceCalls } from "support/resource_calls.ts";
import {
  ACCEPTED_SIGNATURES,
  goodHeader,
  REJECTED_SIGNATURES,
  signDetachedBy,
} from "support/signature_cases.ts";
import { openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const INVALID = [["Signature.Invalid", "x-jws-signature"]] as const;

test("POST endpoints want x-jws-signature [JWS-01] [RP-N2] [RP3] [RP6]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "POST")) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(env, () => endpoint.send({ signature: null }));
      await assertFaults(response, 400, [["Signature.Missing", "x-jws-signature"]]);
    });
  }
});

test("POST endpoints reject a bad x-jws-signature [JWS-02..12] [JWS-16] [RP-N2] [RP-N4..N7] [RP-N9] [RP4] [RP6]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "POST")) {
    for (const { name, fault, make } of REJECTED_SIGNATURES) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const signature = await make({ env, body: endpoint.body ?? "" });
        const response = await unchanged(env, () => endpoint.send({ signature }));
        await assertFaults(response, 400, fault === undefined ? [] : [fault]);
      });
    }
  }
});

test("POST domestic-payment-consents takes a good x-jws-signature in either profile [JWS-13] [RP-N8]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  await stepsOf(t, ACCEPTED_SIGNATURES, ({ name }) => name, async ({ make }) => {
    const signature = await make({ env, body });
    const response = await call(env, env.tpp, bound, CONSENTS, { body, signature });
    assertEquals(response.status, 201, await response.text());
  });
});

Deno.test("POST endpoints want the claims of PLATFORM_SIGNATURE_CLAIMS in each x-jws-signature [SG4]", async (t) => {
  await using env = await openEnvironment({ environment: { PLATFORM_SIGNATURE_CLAIMS: "iat, iss,tan" } });
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  for (const name of ["iat", "iss", "tan"]) {
    const claim = `http://openbanking.org.uk/${name}`;
    await t.step(name, async () => {
      const { [claim]: _, ...header } = goodHeader(env, "B");
      const crit = (header["crit"] as readonly string[]).filter((one) => one !== claim);
      const signature = await signDetachedBy(env.tpp.signing.key, { ...header, crit }, body, false);
      const response = await unchanged(env, () => call(env, env.tpp, bound, CONSENTS, { body, signature }));
      await assertFaults(response, 400, [["Signature.MissingClaim", claim]]);
    });
  }
  const response = await call(env, env.tpp, bound, CONSENTS, { body });
  assertEquals(response.status, 201, await response.text());
});

test("POST domestic-payments takes a good x-jws-signature in either profile [JWS-13] [RP-N8] [RP5]", async ({ env, t }) => {
  await stepsOf(t, ["A", "B"] as const, (profile) => `profile ${profile}`, async (profile) => {
    const response = await pay(env, await authorised(env), { profile });
    assertEquals(response.status, 201, await response.text());
  });
});

test("POST endpoints reject a body changed after signing, be it in white space [JWS-14] [RP-N3] [RP-N11]", async ({ env, t }) => {
  const other = JSON.stringify(consentBody({ initiation: { InstructionIdentification: "OTHER" } }));
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "POST")) {
    const body = endpoint.body ?? "";
    const changes: Record<string, string> = {
      "one character": body.replace("165.88", "165.89"),
      "a space more": `${body} `,
      "a line break more": `${body}\n`,
      "written anew with indentation": JSON.stringify(JSON.parse(body), null, 2),
      "members in another order": JSON.stringify(reverseMembers(JSON.parse(body))),
      "another request of the same client [RP-N11]": other,
      empty: "",
    };
    for (const profile of ["A", "B"] as const) {
      const signature = await payloadSignature(env, env.tpp, body, { profile });
      for (const [name, sent] of Object.entries(changes)) {
        await t.step(`${endpoint.name}: ${name} (profile ${profile})`, async () => {
          const response = await unchanged(env, () => endpoint.send({ body: sent, signature }));
          await assertFaults(response, 400, INVALID);
        });
      }
    }
  }
});

test("POST domestic-payment-consents rejects the signature of a payment's body [RP-N11]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const consent = JSON.stringify(consentBody());
  const signature = await payloadSignature(env, env.tpp, JSON.stringify(paymentBody(crypto.randomUUID())));
  const response = await unchanged(
    env,
    () => call(env, env.tpp, bound, CONSENTS, { body: consent, signature }),
  );
  await assertFaults(response, 400, INVALID);
});

test("POST domestic-payment-consents rejects a key that the directory has revoked, 300 s later at most [JWS-12] [RP-N4]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { kid } = env.tpp.signing;
  const post = (): Promise<Response> =>
    call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) });
  assertEquals((await post()).status, 201);
  const path = `/participants/${env.tpp.orgId}/keys/${kid}/revoke`;
  const revoked = await adminCall(env, "POST", path, { reason: "keyCompromise" });
  assertEquals(revoked.status, 200, await revoked.text());
  env.now += 300_000;
  await assertFaults(await unchanged(env, post), 400, [["Signature.InvalidClaim", "kid"]]);
});

test("POST endpoints answer 503 once the directory's keys are over 900 s old, and nothing changes", async ({ env, t }) => {
  const endpoints = await resourceCalls(env);
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 900_000;
  await t.step("at 900 s the last good copy still serves", async () => {
    assertEquals((await endpoints[0]?.send())?.status, 201);
  });
  env.now += 1;
  await stepsOf(t, endpoints, (endpoint) => endpoint.name, async (endpoint) => {
    const response = await unchanged(env, () => endpoint.send());
    assertEquals(response.headers.get("retry-after"), "10");
    await assertFaults(response, 503, [["UnexpectedError"]]);
  });
});

test("GET endpoints ignore x-jws-signature, be it rubbish [JWS-01]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "GET")) {
    await t.step(endpoint.name, async () => {
      const response = await endpoint.send({ headers: { "x-jws-signature": "rubbish" } });
      assertEquals(response.status, 200, await response.text());
    });
  }
});

test("POST domestic-payment-consents takes a kid with the padding that some parties leave on [JWS-13]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  const header = { ...goodHeader(env, "A"), kid: `${env.tpp.signing.kid}=` };
  const signature = await signDetachedBy(env.tpp.signing.key, header, body, true);
  const response = await call(env, env.tpp, bound, CONSENTS, { body, signature });
  assertEquals(response.status, 201, await response.text());
});
