/** `x-jws-signature` of requests at the two POST endpoints (reference 3.3, checklist 9.3). */
import { assertEquals } from "@std/assert";
import {
  authorised,
  call,
  clientToken,
  consentBody,
  type Json,
  pay,
  paymentBody,
} from "../../../scripts/testing/flows.ts";
import { payloadSignature } from "../../../scripts/testing/jwts.ts";
import { adminCall } from "../../../scripts/testing/participants.ts";
import { assertFaults, unchanged } from "../../../scripts/testing/resource_answers.ts";
import { CONSENTS, resourceCalls } from "../../support/resource_calls.ts";
import {
  ACCEPTED_SIGNATURES,
  goodHeader,
  REFUSED_SIGNATURES,
  signDetachedBy,
} from "../../support/signature_cases.ts";
import { openWorld } from "../../../scripts/testing/environment.ts";

const INVALID = [["Signature.Invalid", "x-jws-signature"]] as const;

Deno.test("POST endpoints want x-jws-signature [JWS-01] [RP-N2] [RP3] [RP6]", async (t) => {
  await using world = await openWorld();
  for (const endpoint of (await resourceCalls(world)).filter(({ method }) => method === "POST")) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(world, () => endpoint.send({ signature: null }));
      await assertFaults(response, 400, [["Signature.Missing", "x-jws-signature"]]);
    });
  }
});

Deno.test("POST endpoints refuse a bad x-jws-signature [JWS-02..12] [JWS-16] [RP-N2] [RP-N4..N7] [RP-N9] [RP4] [RP6]", async (t) => {
  await using world = await openWorld();
  for (const endpoint of (await resourceCalls(world)).filter(({ method }) => method === "POST")) {
    for (const { name, fault, make } of REFUSED_SIGNATURES) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const signature = await make({ world, body: endpoint.body ?? "" });
        const response = await unchanged(world, () => endpoint.send({ signature }));
        await assertFaults(response, 400, fault === undefined ? [] : [fault]);
      });
    }
  }
});

Deno.test("POST domestic-payment-consents takes a good x-jws-signature in either profile [JWS-13] [RP-N8]", async (t) => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const body = JSON.stringify(consentBody());
  for (const { name, make } of ACCEPTED_SIGNATURES) {
    await t.step(name, async () => {
      const signature = await make({ world, body });
      const response = await call(world, world.tpp, bound, CONSENTS, { body, signature });
      assertEquals(response.status, 201, await response.text());
    });
  }
});

Deno.test("POST domestic-payments takes a good x-jws-signature in either profile [JWS-13] [RP-N8] [RP5]", async (t) => {
  await using world = await openWorld();
  for (const profile of ["A", "B"] as const) {
    await t.step(`profile ${profile}`, async () => {
      const response = await pay(world, await authorised(world), { profile });
      assertEquals(response.status, 201, await response.text());
    });
  }
});

Deno.test("POST endpoints refuse a body changed after signing, be it in white space [JWS-14] [RP-N3] [RP-N11]", async (t) => {
  await using world = await openWorld();
  const other = JSON.stringify(consentBody({ initiation: { InstructionIdentification: "OTHER" } }));
  for (const endpoint of (await resourceCalls(world)).filter(({ method }) => method === "POST")) {
    const body = endpoint.body ?? "";
    const changes: Record<string, string> = {
      "one character": body.replace("165.88", "165.89"),
      "a space more": `${body} `,
      "a line break more": `${body}\n`,
      "written anew with indentation": JSON.stringify(JSON.parse(body), null, 2),
      "members in another order": JSON.stringify(reversed(JSON.parse(body))),
      "another request of the same client [RP-N11]": other,
      empty: "",
    };
    for (const profile of ["A", "B"] as const) {
      const signature = await payloadSignature(world, world.tpp, body, { profile });
      for (const [name, sent] of Object.entries(changes)) {
        await t.step(`${endpoint.name}: ${name} (profile ${profile})`, async () => {
          const response = await unchanged(world, () => endpoint.send({ body: sent, signature }));
          await assertFaults(response, 400, INVALID);
        });
      }
    }
  }
});

Deno.test("POST domestic-payment-consents refuses the signature of a payment's body [RP-N11]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const consent = JSON.stringify(consentBody());
  const signature = await payloadSignature(
    world,
    world.tpp,
    JSON.stringify(paymentBody(crypto.randomUUID())),
  );
  const response = await unchanged(
    world,
    () => call(world, world.tpp, bound, CONSENTS, { body: consent, signature }),
  );
  await assertFaults(response, 400, INVALID);
});

Deno.test("POST domestic-payment-consents refuses a key that the directory has revoked, 300 s later at most [JWS-12] [RP-N4]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const { kid } = world.tpp.signing;
  const post = (): Promise<Response> =>
    call(world, world.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) });
  assertEquals((await post()).status, 201);
  const path = `/participants/${world.tpp.orgId}/keys/${kid}/revoke`;
  const revoked = await adminCall(world, "POST", path, { reason: "keyCompromise" });
  assertEquals(revoked.status, 200, await revoked.text());
  world.now += 300_000;
  await assertFaults(await unchanged(world, post), 400, [["Signature.InvalidClaim", "kid"]]);
});

Deno.test("POST endpoints answer 503 once the directory's keys are over 900 s old, and nothing changes", async (t) => {
  await using world = await openWorld();
  const endpoints = await resourceCalls(world);
  world.network = () => Promise.reject(new TypeError("connection refused"));
  world.now += 900_000;
  await t.step("at 900 s the last good copy still serves", async () => {
    assertEquals((await endpoints[0]?.send())?.status, 201);
  });
  world.now += 1;
  for (const endpoint of endpoints) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(world, () => endpoint.send());
      assertEquals(response.headers.get("retry-after"), "10");
      await assertFaults(response, 503, [["UnexpectedError"]]);
    });
  }
});

Deno.test("GET endpoints ignore x-jws-signature, be it rubbish [JWS-01]", async (t) => {
  await using world = await openWorld();
  for (const endpoint of (await resourceCalls(world)).filter(({ method }) => method === "GET")) {
    await t.step(endpoint.name, async () => {
      const response = await endpoint.send({ headers: { "x-jws-signature": "rubbish" } });
      assertEquals(response.status, 200, await response.text());
    });
  }
});

Deno.test("POST domestic-payment-consents takes a kid with the padding that some parties leave on [JWS-13]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const body = JSON.stringify(consentBody());
  const header = { ...goodHeader(world, "A"), kid: `${world.tpp.signing.kid}=` };
  const signature = await signDetachedBy(world.tpp.signing.key, header, body, true);
  const response = await call(world, world.tpp, bound, CONSENTS, { body, signature });
  assertEquals(response.status, 201, await response.text());
});

/** The same JSON value with the members of every object in reverse order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([name, member]) => [name, reversed(member)]),
  );
}
