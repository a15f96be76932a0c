/** What the platform writes before a signature has proven who asks: counters of rate limits, and visits of pushed links. */
import { assert, assertEquals } from "@std/assert";
import { asAssertion } from "../../support/assertions.ts";
import { sealedReturn, signedReturn } from "../../../scripts/testing/bank_return.ts";
import {
  authorize,
  Browser,
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  push,
  requestToken,
  toBank,
} from "../../../scripts/testing/flows.ts";
import { reportAccounts } from "../../../scripts/testing/front_channel.ts";
import { clientAssertion, dpopProof, payloadSignature, signJwt } from "../../../scripts/testing/jwts.ts";
import { register, registrationClaims } from "../../../scripts/testing/participants.ts";
import { AUTH_URL, BASE_URL, openWorld, type World } from "../../../scripts/testing/environment.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";

/** The kinds of entries that `act` added, changed or removed. */
async function written(world: World, act: () => Promise<unknown>): Promise<readonly string[]> {
  const read = async (): Promise<Map<string, string>> =>
    new Map(
      (await world.store.list({ prefix: [], limit: 10_000 })).map((
        { key, version },
      ) => [JSON.stringify(key), version]),
    );
  const before = await read();
  await act();
  const after = await read();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) =>
    before.get(key) !== after.get(key)
  );
  return [...new Set(changed.map((key) => JSON.parse(key)[0]))].sort();
}

/** The same JWT with another signature. */
function forged(jwt: string): string {
  const [head, body, signature = ""] = jwt.split(".");
  return `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
}

type Attempt = (world: World) => Promise<Response>;

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "a token by a forged assertion": async (world) =>
    await requestToken(
      world,
      world.tpp,
      "BANKA",
      asAssertion(forged(await clientAssertion(world, world.tpp, "BANKA"))),
    ),
  "a pushed request by a forged assertion": async (world) => {
    const { form } = asAssertion(forged(await clientAssertion(world, world.tpp, "BANKA")));
    return await push(world, crypto.randomUUID(), { form });
  },
  "a registration that another key signed": async (world) =>
    await register(
      world,
      world.tpp,
      await signJwt(
        { ...world.tpp.signing, key: world.otherTpp.signing.key },
        registrationClaims(world, world.tpp),
      ),
    ),
  "a consent by a forged proof": async (world) => {
    const bound = { token: "A".repeat(43), key: world.tpp.signing.key };
    const proof = forged(
      await dpopProof(world, bound.key, { method: "POST", url: `${BASE_URL}${CONSENTS}` }),
    );
    return await call(world, world.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()), proof });
  },
  "a link that nobody pushed": async (world) =>
    await authorize(new Browser(world), world.tpp, `urn:ietf:params:oauth:request_uri:${"A".repeat(43)}`),
  "a bank's return that nobody signed": async (world) =>
    await new Browser(world).open(await sealedReturn(world, "BANKA", "not a JWS")),
  "an operation without the operator's token": async (world) =>
    await world.browser(
      new Request(`${AUTH_URL}/operations/payment-orders/${crypto.randomUUID()}/redrive`, { method: "POST" }),
    ),
};

Deno.test("Before a signature is proven, nothing is written but counters of rate limits", async (t) => {
  await using world = await openWorld();
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    await t.step(name, async () => {
      const kinds = await written(world, async () => {
        const answer = await attempt(world);
        await answer.body?.cancel();
        assert(answer.status >= 400, `${name}: ${answer.status}`);
      });
      assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), []);
    });
  }
});

Deno.test("A forged return in the right browser, and a forged payload of a proven caller, write no effect", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await reportAccounts(world, flow);
  const path = await sealedReturn(world, "BANKA", forged(await signedReturn(world, flow)));
  assertEquals(await written(world, () => flow.browser.open(path)), []);
  const bound = await clientToken(world, world.tpp);
  const body = JSON.stringify(consentBody());
  const signature = await payloadSignature(world, world.otherTpp, body);
  const kinds = await written(world, async () => {
    assertEquals((await call(world, world.tpp, bound, CONSENTS, { body, signature })).status, 400);
  });
  assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), ["spent_jwt"]); // the proof was good: it is used up
});

Deno.test("Who opens a pushed link, with no signature, begins one authorization session, which ends by itself", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const { Data } = await createConsent(world, bound);
  const pushed = await good(push(world, Data.ConsentId), 201);
  const kinds = await written(world, async () => {
    assertEquals((await authorize(new Browser(world), world.tpp, pushed.request_uri)).status, 303);
  });
  assert(kinds.includes("interaction"), kinds.join());
  assertEquals(
    kinds.filter((kind) => !["interaction", "open_flow", "pushed_request", "rate_bucket"].includes(kind)),
    [],
  );
  const consent = await world.store.get<{ status: string }>(["consent", Data.ConsentId]);
  assertEquals(consent?.value.status, "AwaitingAuthorisation");
});
