/** Client assertions at the token endpoint and PAR: used once, by an active client, while they are fresh (checklist 2.2). */
import { assertEquals } from "@std/assert";
import { asAssertion, claiming, headed, type WithAssertion } from "../../support/assertions.ts";
import { dpopKey, requestToken } from "../../../scripts/testing/flows.ts";
import {
  clientAssertion,
  dpopProof,
  type JsonObject,
  seconds,
  signJwt,
} from "../../../scripts/testing/jwts.ts";
import {
  assertAccepted,
  assertRefusal,
  assertRefused,
  clientCredentials,
  oauthEndpoints,
  pushing,
} from "../../../scripts/testing/oauth_requests.ts";
import { adminCall } from "../../../scripts/testing/participants.ts";
import { AUTH_URL, BASE_URL, openWorld, START, type World } from "../../../scripts/testing/environment.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;

Deno.test("POST token, par take an assertion once, wherever it is used again [CA-N17, CA16]", async (t) => {
  await using world = await openWorld();
  const endpoints = await oauthEndpoints(world);
  for (const first of endpoints) {
    for (const second of endpoints) {
      await t.step(`${first.name}, then ${second.name}`, async () => {
        const assertion = await claiming(world, {});
        await assertAccepted(first, await first.send(assertion));
        await second.ready();
        await assertRefused(world, UNAUTHENTICATED, () => second.send(assertion));
      });
    }
  }
});

Deno.test("POST token refuses an assertion for bank A at bank B, used or not [CA-N17, J31]", async () => {
  await using world = await openWorld();
  const token = clientCredentials(world);
  const assertion = await claiming(world, {});
  const atB = (): Promise<Response> => requestToken(world, world.tpp, "BANKB", assertion);
  await assertRefused(world, UNAUTHENTICATED, atB);
  await assertAccepted(token, await token.send(assertion)); // the refusal did not spend it
  await assertRefused(world, UNAUTHENTICATED, atB);
});

Deno.test("POST token, par spend the assertion of a request that they refuse for something else [CA12]", async () => {
  await using world = await openWorld();
  for (const endpoint of [clientCredentials(world), await pushing(world)]) {
    const assertion = await claiming(world, {});
    const form = { ...assertion.form, scope: "admin" };
    await assertRefused(world, [400, "invalid_scope"], () => endpoint.send({ form }));
    await assertRefused(world, UNAUTHENTICATED, () => endpoint.send(assertion));
  }
});

Deno.test("POST token, par remember no jti of an assertion that did not hold [CA13]", async () => {
  await using world = await openWorld();
  const jti = crypto.randomUUID();
  const { key, kid } = world.tpp.signing;
  const bad: readonly (() => Promise<WithAssertion>)[] = [
    () => claiming(world, { jti, aud: "https://other.example" }),
    () => claiming(world, { jti, exp: seconds(world) - 300 }),
    async () =>
      asAssertion(await signJwt({ key: world.otherTpp.signing.key, kid }, { ...goodClaims(world), jti })),
    () => headed(world, key, { alg: "PS256", kid, typ: "dpop+jwt" }),
  ];
  for (const endpoint of await oauthEndpoints(world)) {
    await endpoint.ready();
    for (const make of bad) {
      const assertion = await make();
      await assertRefused(world, UNAUTHENTICATED, () => endpoint.send(assertion));
    }
    await assertRefused(
      world,
      UNAUTHENTICATED,
      async () => endpoint.send({ ...await claiming(world, { jti }), as: null }),
    );
    await assertRefused(
      world,
      UNAUTHENTICATED,
      async () => endpoint.send({ ...await claiming(world, { jti }), as: world.otherTpp }),
    );
  }
  const token = clientCredentials(world);
  await assertAccepted(token, await token.send(await claiming(world, { jti })));
});

Deno.test("POST token keeps the ids of each client apart [CA12]", async () => {
  await using world = await openWorld();
  const jti = crypto.randomUUID();
  const token = clientCredentials(world);
  await assertAccepted(token, await token.send(await claiming(world, { jti })));
  const theirs = await clientAssertion(world, world.otherTpp, "BANKA", { claims: { jti } });
  await assertAccepted(token, await token.send({ client: world.otherTpp, ...asAssertion(theirs) }));
});

Deno.test("POST token, par refuse a fresh assertion with a jti that was used [CA12]", async () => {
  await using world = await openWorld();
  for (const endpoint of await oauthEndpoints(world)) {
    const jti = crypto.randomUUID();
    await assertAccepted(endpoint, await endpoint.send(await claiming(world, { jti })));
    world.now += 1000;
    await endpoint.ready();
    await assertRefused(world, UNAUTHENTICATED, async () => endpoint.send(await claiming(world, { jti })));
  }
});

Deno.test("POST token, par judge exp, iat and nbf against the clock [J32, 2.2]", async (t) => {
  await using world = await openWorld();
  const at = START + 1_000_000;
  const time = at / 1000;
  const far = { exp: time + 200 };
  const tables: Record<string, { claims: JsonObject; good: readonly number[]; bad: readonly number[] }> = {
    // The offset is the claim's time minus the clock's, in seconds.
    exp: {
      claims: { exp: time, iat: undefined, nbf: undefined },
      good: [-29, 0, 10, 30, 31, 60, 61, 330],
      bad: [-61, -60, -31, -30, 331],
    },
    iat: {
      claims: { ...far, iat: time, nbf: undefined },
      good: [-61, -60, -31, -30, 0, 10, 30],
      bad: [31, 60, 61],
    },
    nbf: {
      claims: { ...far, iat: undefined, nbf: time },
      good: [-61, -60, -31, -30, 0, 10, 30],
      bad: [31, 60, 61],
    },
    "iat long ago": { claims: { exp: time + 300, iat: time, nbf: undefined }, good: [-329, -300], bad: [] },
    "iat too long ago": { claims: { exp: time + 330, iat: time, nbf: undefined }, good: [-330], bad: [-331] },
  };
  for (const endpoint of [clientCredentials(world), await pushing(world)]) {
    for (const [name, { claims, good, bad }] of Object.entries(tables)) {
      for (const offset of [...good, ...bad]) {
        await t.step(`${endpoint.name}: ${name} at ${offset} s`, async () => {
          world.now = at - offset * 1000;
          const deviation = await claiming(world, claims);
          if (good.includes(offset)) await assertAccepted(endpoint, await endpoint.send(deviation));
          else await assertRefused(world, UNAUTHENTICATED, () => endpoint.send(deviation));
        });
      }
    }
  }
});

Deno.test("POST token remembers a jti until its assertion has died, and no longer [J32, 2.2]", async (t) => {
  await using world = await openWorld();
  const token = clientCredentials(world);
  for (const lifetime of [60, 330, 60.9, 0.5]) {
    await t.step(`exp in ${lifetime} s`, async () => {
      const jti = crypto.randomUUID();
      const used = await claiming(world, { jti, exp: seconds(world) + lifetime });
      const began = world.now;
      await assertAccepted(token, await token.send(used));
      for (
        const milliseconds of [1, 29_000, 29_999, 30_000, 30_400, 30_500, 30_899, 30_900, 30_999, 31_000]
      ) {
        world.now = began + Math.floor(lifetime) * 1000 + milliseconds;
        await assertRefused(world, UNAUTHENTICATED, () => token.send(used));
      }
      const again = await claiming(world, { jti });
      await assertAccepted(token, await token.send(again));
      await assertRefused(world, UNAUTHENTICATED, () => token.send(again));
    });
  }
});

Deno.test("POST token, par refuse a client that is not active, and take it back [CA-N23]", async (t) => {
  await using world = await openWorld();
  const { orgId } = world.tpp;
  const set = async (path: string, status: string): Promise<void> => {
    const response = await adminCall(world, "PUT", `/participants/${orgId}${path}`, {
      status,
      reason: "test",
    });
    assertEquals(response.status, 200);
    world.now += 300_000; // key sets are that old at most (Decision A9)
  };
  const endpoints = [clientCredentials(world), await pushing(world)];
  const judge = async (name: string, good: boolean): Promise<void> => {
    for (const endpoint of endpoints) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        if (good) await assertAccepted(endpoint, await endpoint.send());
        else await assertRefused(world, UNAUTHENTICATED, () => endpoint.send());
      });
    }
  };
  await set("/software/status", "Inactive");
  await judge("software inactive", false);
  await set("/software/status", "Active");
  await judge("software active again", true);
  await set("/status", "Suspended");
  await judge("organisation suspended", false);
  await set("/status", "Active");
  await set("/software/status", "Active");
  await judge("organisation active again", true);
  await set("/software/status", "Revoked");
  await judge("software revoked", false);
});

Deno.test("POST token, par answer 503 where the directory's word on keys is over 900 s old [J35, A9]", async () => {
  await using world = await openWorld();
  const endpoints = [clientCredentials(world), await pushing(world)];
  world.network = () => Promise.reject(new TypeError("connection refused"));
  world.now += 900_000;
  for (const endpoint of endpoints) await assertAccepted(endpoint, await endpoint.send());
  world.now += 1;
  for (const endpoint of endpoints) {
    const before = await world.snapshot();
    const response = await endpoint.send();
    assertEquals(response.headers.get("retry-after"), "10");
    await assertRefusal(response, [503, "temporarily_unavailable"]);
    assertEquals(await world.snapshot(), before);
  }
});

function goodClaims(world: World): JsonObject {
  const { clientId } = world.tpp;
  return { iss: clientId, sub: clientId, aud: `${AUTH_URL}/BANKA`, exp: seconds(world) + 60 };
}

Deno.test("A replayed assertion is logged once, and so is a request that is replayed as a whole", async (t) => {
  await using world = await openWorld();
  const assertion = await claiming(world, {});
  const headers = { dpop: await tokenProof(world) };
  const whole = { ...assertion, headers };
  assertEquals((await requestToken(world, world.tpp, "BANKA", whole)).status, 200);
  for (const [name, replay] of [["the assertion", assertion], ["assertion and proof", whole]] as const) {
    await t.step(name, async () => {
      const before = world.logged.length;
      assertEquals((await requestToken(world, world.tpp, "BANKA", replay)).status, 401);
      const events = world.logged.slice(before).map((line) => JSON.parse(line).event);
      assertEquals(events, ["request.refused", "request.answered"]);
    });
  }
});

Deno.test("The proof beside a replayed assertion is used up [RFC 9449 11.1]", async () => {
  await using world = await openWorld();
  const assertion = await claiming(world, {});
  assertEquals((await requestToken(world, world.tpp, "BANKA", assertion)).status, 200);
  const headers = { dpop: await tokenProof(world) };
  assertEquals((await requestToken(world, world.tpp, "BANKA", { ...assertion, headers })).status, 401);
  const again = await requestToken(world, world.tpp, "BANKA", { headers });
  assertEquals([again.status, (await again.json()).error], [400, "invalid_dpop_proof"]);
});

async function tokenProof(world: World): Promise<string> {
  const target = { method: "POST", url: `${BASE_URL}/BANKA/token.oauth2/v1` };
  return await dpopProof(world, await dpopKey(), target);
}
