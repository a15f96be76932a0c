/** `POST /{BANK}/par.oauth2/v1`: the consent that a pushed request is for, and the PKCE challenge that it may not reuse. */
import { assertEquals } from "@std/assert";
import {
  authorised,
  good,
  pay,
  push,
  returnPath,
  toBank,
  verifierOf,
} from "../../../scripts/testing/flows.ts";
import { sha256 } from "../../../scripts/testing/jwts.ts";
import {
  assertRefusal,
  assertRefused,
  awaitingConsent,
  issueCode,
} from "../../../scripts/testing/oauth_requests.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

const INVALID_REQUEST = [400, "invalid_request"] as const;

Deno.test("POST par wants a consent of this client at this bank that awaits authorisation [PA-N9, PA8]", async (t) => {
  await using world = await openWorld();
  const consentId = await awaitingConsent(world);
  const push = (consent_id: string | undefined): () => Promise<Response> => () =>
    pushFresh(world, { form: { consent_id } });
  const cases: Record<string, () => Promise<Response>> = {
    "missing": push(undefined),
    "empty": push(""),
    "no UUID": push("1"),
    "UUID and more": push(`${consentId}0`),
    "newline behind": push(`${consentId}\n`),
    "__proto__": push("__proto__"),
    "10 kB": push("a".repeat(10_000)),
    "unknown": push("5c1f2f0e-6d0c-4a51-9d8e-0a3a1f6e4b11"),
    "another client's": () => pushFresh(world, { client: world.otherTpp, form: { consent_id: consentId } }),
    "another bank's": () => pushFresh(world, { bank: "BANKB", form: { consent_id: consentId } }),
    "Authorized": push((await issueCode(world)).consentId),
    "Consumed": push(await consumed(world)),
    "Rejected by the customer": push(await rejected(world)),
  };
  for (const [name, send] of Object.entries(cases)) {
    await t.step(name, async () => {
      await assertRefused(world, INVALID_REQUEST, async () => {
        const response = await send();
        assertEquals(
          (await response.clone().json()).error_description, // one answer for all: nothing to probe with
          "consent_id is not a consent of this client that awaits authorisation.",
        );
        return response;
      });
    });
  }
  assertEquals((await pushFresh(world, { form: { consent_id: consentId } })).status, 201);
});

Deno.test("POST par refuses a consent whose time has run out [PA-N9, C1]", async () => {
  await using world = await openWorld();
  const consentId = await awaitingConsent(world);
  world.now += 86_399_999;
  assertEquals((await pushFresh(world, { form: { consent_id: consentId } })).status, 201);
  world.now += 1;
  await assertRefused(world, INVALID_REQUEST, () => pushFresh(world, { form: { consent_id: consentId } }));
});

Deno.test("POST par takes one consent as often as it is pushed, until it is authorised [PA14, FAPI-D7]", async () => {
  await using world = await openWorld();
  const consentId = await awaitingConsent(world);
  const first = await good(push(world, consentId), 201);
  const second = await good(push(world, consentId), 201); // the same challenge: no code was issued for it
  assertEquals(first.request_uri === second.request_uri, false);
});

Deno.test("POST par refuses a challenge that has led to a code, for 24 hours and this client [PA14]", async () => {
  await using world = await openWorld();
  const { consentId: spentBy } = await issueCode(world);
  const code_challenge = await sha256(await verifierOf(spentBy));
  const issuedAt = world.now;
  const again = async (): Promise<Response> =>
    push(world, await awaitingConsent(world), { form: { code_challenge } });
  await assertRefusal(await again(), INVALID_REQUEST);
  world.now = issuedAt + 86_399_999;
  await assertRefusal(await again(), INVALID_REQUEST);
  world.now = issuedAt + 86_400_000;
  assertEquals((await again()).status, 201);
});

/** A push with a challenge of its own, so that nothing but the consent can be wrong. */
async function pushFresh(world: World, options: NonNullable<Parameters<typeof push>[2]>): Promise<Response> {
  const code_challenge = await sha256(crypto.randomUUID());
  return await push(world, "", { ...options, form: { code_challenge, ...options.form } });
}

async function consumed(world: World): Promise<string> {
  const flow = await authorised(world);
  await good(pay(world, flow), 201);
  return flow.consentId;
}

async function rejected(world: World): Promise<string> {
  const { browser, bank, handover, consentId } = await toBank(world);
  await browser.open(await returnPath(world, bank, handover, { claims: { status_code: "failure" } }));
  return consentId;
}
