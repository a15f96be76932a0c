/** A participant's keys over time: overlap, expiry, revocation for ever; and the history of it all. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type DirectoryWorld,
  type Json,
  openDirectoryWorld,
  signingRequest,
  START,
  thirdParty,
} from "../../scripts/testing/directory_environment.ts";

const DAY = 86_400_000;

Deno.test("POST certificates adds keys beside the old ones [E3]", async () => {
  await using world = await onboarded();
  const old = await activeKids(world);
  world.now += 1000;
  const { status, headers, body } = await world.admin("POST", "/participants/SHOP/certificates", {
    csrs: { signing: await signingRequest(2), encryption: await signingRequest(3) },
  });
  assertEquals([status, headers.get("cache-control")], [201, "no-store"]);
  assertEquals(Object.keys(body).sort(), ["ca", "certificates", "jwks"]);
  assertEquals(Object.keys(body.certificates).sort(), ["encryption", "signing"]);
  assertEquals(body.jwks.keys.map((key: Json) => key.use), ["sig", "sig", "tls", "enc"]);
  assertEquals((await world.get("/participants/SHOP/jwks")).body, body.jwks);
  assertEquals([body.jwks.keys[0].kid, body.jwks.keys[2].kid], old); // a new key stands last of its use
  assert(old.every((kid) => body.jwks.keys.some((key: Json) => key.kid === kid)));
});

Deno.test("POST certificates refuses known keys, no keys and revoked software [E3]", async () => {
  await using world = await onboarded();
  const path = "/participants/SHOP/certificates";
  assertEquals((await world.admin("POST", path, { csrs: { signing: await signingRequest(0) } })).status, 409);
  const none = await world.admin("POST", path, { csrs: {} });
  assertStringIncludes(
    none.body.error_description,
    "csrs: must have a signing, transport or encryption request",
  );
  const broken = await world.admin("POST", path, {
    csrs: { signing: "x", transport: await signingRequest(2) },
  });
  assertEquals(broken.status, 400);
  await world.admin("PUT", "/participants/SHOP/software/status", { status: "Revoked", reason: "closed" });
  assertEquals((await world.admin("POST", path, { csrs: { signing: await signingRequest(2) } })).status, 409);
  assertEquals((await world.admin("GET", "/participants/SHOP")).body.keys.length, 2);
});

Deno.test("POST certificates keeps key sets small: 40 unexpired certificates a participant [E3]", async () => {
  await using world = await onboarded();
  const [one] = await world.store.list<object>({ prefix: ["directory", "certified_key", "shop"], limit: 1 });
  for (let count = 2; count < 39; count++) {
    const kid = `kid-${count}`;
    const value = { ...one?.value, kid };
    const write = { kind: "set", key: ["directory", "certified_key", "shop", kid], value } as const;
    await world.store.commit({ checks: [], writes: [write] });
  }
  const path = "/participants/SHOP/certificates";
  const two = { signing: await signingRequest(2), transport: await signingRequest(3) };
  const refused = await world.admin("POST", path, { csrs: two });
  assertEquals(refused.status, 409);
  assertEquals(refused.body.error_description, "A participant may have 40 unexpired certificates.");
  assertEquals((await world.admin("POST", path, { csrs: { signing: two.signing } })).status, 201);
});

Deno.test("GET jwks drops a key when its certificate expires [E4]", async () => {
  await using world = await onboarded();
  world.now = START + 396 * DAY;
  const { body } = await world.admin("POST", "/participants/SHOP/certificates", {
    csrs: { signing: await signingRequest(2), transport: await signingRequest(3) },
  });
  assertEquals(body.jwks.keys.length, 4);
  world.now = START + 397 * DAY;
  assertEquals((await activeKids(world)).length, 2);
  const statuses = (await world.admin("GET", "/participants/SHOP")).body.keys.map((key: Json) => key.status);
  assertEquals(statuses.sort(), ["Active", "Active", "Expired", "Expired"]);
});

Deno.test("POST revoke moves a key to the revoked set, with time and reason [E3]", async () => {
  await using world = await onboarded();
  const [signing, transport] = (await world.get("/participants/SHOP/jwks")).body.keys;
  world.now += 5000;
  const path = `/participants/SHOP/keys/${signing.kid}/revoke`;
  const { status, body } = await world.admin("POST", path, { reason: "laptop stolen" });
  assertEquals(status, 200);
  assertEquals(body, { kid: signing.kid, revoked_at: "2026-02-01T10:00:05.000Z", reason: "laptop stolen" });
  assertEquals((await world.get("/participants/SHOP/jwks")).body.keys, [transport]);
  const revoked = (await world.get("/participants/SHOP/jwks/revoked")).body.keys;
  assertEquals(revoked, [{ ...signing, revoked_at: body.revoked_at, reason: "laptop stolen" }]);
});

Deno.test("POST revoke stands: a second one changes nothing, and the key is never certified again [E3]", async () => {
  await using world = await onboarded();
  const [{ kid }] = (await world.get("/participants/SHOP/jwks")).body.keys;
  const path = `/participants/SHOP/keys/${kid}/revoke`;
  const first = await world.admin("POST", path, { reason: "first" });
  world.now += 5000;
  assertEquals((await world.admin("POST", path, { reason: "second" })).body, first.body);
  assertEquals((await world.admin("GET", "/participants/SHOP/history")).body.length, 2);
  const csrs = { signing: await signingRequest(0) };
  assertEquals((await world.admin("POST", "/participants/SHOP/certificates", { csrs })).status, 409);
  const elsewhere = await world.admin("POST", "/participants", await thirdParty([0, 2], { org_id: "OTHER" }));
  assertEquals(elsewhere.status, 409);
  await world.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "pause" });
  await world.admin("PUT", "/participants/SHOP/software/status", { status: "Active", reason: "back" });
  assert(!(await activeKids(world)).includes(kid));
});

Deno.test("POST revoke keeps a key revoked until its certificate has expired [E3]", async () => {
  await using world = await onboarded();
  const [{ kid }] = (await world.get("/participants/SHOP/jwks")).body.keys;
  await world.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "test" });
  world.now = START + 397 * DAY - 1;
  assertEquals((await world.get("/participants/SHOP/jwks/revoked")).body.keys.length, 1);
  world.now += 1;
  assertEquals((await world.get("/participants/SHOP/jwks/revoked")).body.keys, []);
  assertEquals((await activeKids(world)).length, 0);
});

Deno.test("POST revoke does not know others' keys [E3]", async () => {
  await using world = await onboarded();
  await world.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "OTHER" }));
  const [{ kid }] = (await world.get("/participants/OTHER/jwks")).body.keys;
  for (
    const path of [`SHOP/keys/${kid}`, `SHOP/keys/${"A".repeat(27)}`, "SHOP/keys/x", `NOBODY/keys/${kid}`]
  ) {
    const { status } = await world.admin("POST", `/participants/${path}/revoke`, { reason: "test" });
    assertEquals(status, 404, path);
  }
  assertEquals((await world.get("/participants/OTHER/jwks")).body.keys.length, 2);
});

Deno.test("GET history tells who did what, when and why, in order [E3]", async () => {
  await using world = await onboarded();
  const [{ kid }] = (await world.get("/participants/SHOP/jwks")).body.keys;
  world.now += 1000;
  await world.admin("POST", "/participants/SHOP/statement", { version: "2.0" });
  await world.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "lost" });
  await world.admin("POST", "/participants/SHOP/certificates", {
    csrs: { signing: await signingRequest(2) },
  });
  await world.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "audit" });
  const { headers, body } = await world.admin("GET", "/participants/SHOP/history");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(body.map(({ sequence, what, who }: Json) => [sequence, what, who]), [
    [0, "participant.onboarded", "ana"],
    [1, "statement.issued", "ana"],
    [2, "key.revoked", "ana"],
    [3, "certificates.issued", "ana"],
    [4, "organisation.status", "ana"],
    [5, "software.status", "ana"],
  ]);
  assertEquals(body[1], {
    sequence: 1,
    at: "2026-02-01T10:00:01.000Z",
    who: "ana",
    what: "statement.issued",
    details: { iat: START / 1000 + 1, changed: { version: { from: "1.2.3", to: "2.0" } } },
  });
  assertEquals(body[2].reason, "lost");
  assertEquals(body[2].details, { kid, use: "sig" });
  assertEquals(body[4].details, { from: "Active", to: "Suspended" });
  assertEquals(body[5].reason, "organisation Suspended: audit");
});

Deno.test("changes at the same time are all made, each with its own line in the history [E3]", async () => {
  await using world = await onboarded();
  const keys = (await world.get("/participants/SHOP/jwks")).body.keys;
  const answers = await Promise.all([
    ...keys.map(({ kid }: Json) =>
      world.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "test" })
    ),
    world.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "test" }),
  ]);
  assertEquals(answers.map(({ status }) => status), [200, 200, 200]);
  const history = (await world.admin("GET", "/participants/SHOP/history")).body;
  assertEquals(history.map(({ sequence }: Json) => sequence), [0, 1, 2, 3]);
  assertEquals((await world.get("/participants/SHOP/jwks/revoked")).body.keys.length, 2);
});

async function onboarded(): Promise<DirectoryWorld> {
  const world = await openDirectoryWorld();
  await world.admin("POST", "/participants", await thirdParty([0, 1]));
  return world;
}

async function activeKids(world: DirectoryWorld): Promise<string[]> {
  return (await world.get("/participants/SHOP/jwks")).body.keys.map((key: Json) => key.kid);
}
