/** A participant's keys over time: overlap, expiry, revocation for ever; and the history of it all. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { firstOf } from "testing/answers.ts";
import {
  type DirectoryEnvironment,
  signingRequest,
  START,
  thirdParty,
} from "testing/directory_environment.ts";
import { onboarded } from "../changes/onboarded.ts";

const DAY = 86_400_000;

Deno.test("POST certificates adds keys beside the old ones [E3]", async () => {
  await using env = await onboarded();
  const old = await activeKids(env);
  env.now += 1000;
  const { status, headers, body } = await env.admin("POST", "/participants/SHOP/certificates", {
    csrs: { signing: await signingRequest(2), encryption: await signingRequest(3) },
  });
  assertEquals([status, headers.get("cache-control")], [201, "no-store"]);
  assertEquals(Object.keys(body).sort(), ["ca", "certificates", "jwks"]);
  assertEquals(Object.keys(body.certificates).sort(), ["encryption", "signing"]);
  assertEquals(body.jwks.keys.map((key) => key.use), ["sig", "sig", "tls", "enc"]);
  assertEquals((await env.get("/participants/SHOP/jwks")).body, body.jwks);
  assertEquals([body.jwks.keys[0]?.kid, body.jwks.keys[2]?.kid], old); // a new key stands last of its use
  assert(old.every((kid) => body.jwks.keys.some((key) => key.kid === kid)));
});

Deno.test("POST certificates rejects known keys, no keys and revoked software [E3]", async () => {
  await using env = await onboarded();
  const path = "/participants/SHOP/certificates";
  assertEquals((await env.admin("POST", path, { csrs: { signing: await signingRequest(0) } })).status, 409);
  const none = await env.admin("POST", path, { csrs: {} });
  assertStringIncludes(
    none.body.error_description,
    "csrs: must have a signing, transport or encryption request",
  );
  const broken = await env.admin("POST", path, {
    csrs: { signing: "x", transport: await signingRequest(2) },
  });
  assertEquals(broken.status, 400);
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Revoked", reason: "closed" });
  assertEquals((await env.admin("POST", path, { csrs: { signing: await signingRequest(2) } })).status, 409);
  assertEquals((await env.admin("GET", "/participants/SHOP")).body.keys.length, 2);
});

const TOO_MANY =
  "A participant may have 40 certificates in force, and 60 with the revoked ones that have not expired.";

Deno.test("POST certificates keeps key sets small: 40 certificates in force, 60 with revoked ones [E3, DRC6]", async () => {
  await using env = await onboarded();
  const [one] = await env.store.list<object>({ prefix: ["directory", "certified_key", "shop"], limit: 1 });
  const add = async (kid: string, more: object): Promise<void> => {
    const value = { ...one?.value, kid, ...more };
    const write = { kind: "set", key: ["directory", "certified_key", "shop", kid], value } as const;
    await env.store.commit({ checks: [], writes: [write] });
  };
  const path = "/participants/SHOP/certificates";
  const two = { signing: await signingRequest(2), transport: await signingRequest(3) };
  const assertTooMany = async (csrs: unknown): Promise<void> => {
    const rejected = await env.admin("POST", path, { csrs });
    assertEquals([rejected.status, rejected.body.error_description], [409, TOO_MANY]);
  };
  for (let count = 0; count < 37; count++) await add(`kid-${count}`, {});
  await assertTooMany(two);
  assertEquals((await env.admin("POST", path, { csrs: { signing: two.signing } })).status, 201);
  const revoked = { revoked: { at: START, reason: "lost" } };
  await add("kid-0", revoked);
  assertEquals((await env.admin("POST", path, { csrs: { transport: two.transport } })).status, 201);
  for (let count = 1; count < 20; count++) await add(`revoked-${count}`, revoked);
  await add("kid-1", revoked);
  await assertTooMany({ signing: await signingRequest(4) });
});

Deno.test("GET jwks drops a key when its certificate expires [E4]", async () => {
  await using env = await onboarded();
  env.now = START + 396 * DAY;
  const { body } = await env.admin("POST", "/participants/SHOP/certificates", {
    csrs: { signing: await signingRequest(2), transport: await signingRequest(3) },
  });
  assertEquals(body.jwks.keys.length, 4);
  env.now = START + 397 * DAY;
  assertEquals((await activeKids(env)).length, 2);
  const statuses = (await env.admin("GET", "/participants/SHOP")).body.keys.map((key) => key.status);
  assertEquals(statuses.sort(), ["Active", "Active", "Expired", "Expired"]);
});

Deno.test("POST revoke moves a key to the revoked set, with time and reason [E3]", async () => {
  await using env = await onboarded();
  const [signing, transport] = (await env.get("/participants/SHOP/jwks")).body.keys;
  env.now += 5000;
  const path = `/participants/SHOP/keys/${signing?.kid}/revoke` as const;
  const { status, body } = await env.admin("POST", path, { reason: "laptop stolen" });
  assertEquals(status, 200);
  assertEquals(body, { kid: signing?.kid, revoked_at: "2026-02-01T10:00:05.000Z", reason: "laptop stolen" });
  assertEquals((await env.get("/participants/SHOP/jwks")).body.keys, [transport]);
  const revoked = (await env.get("/participants/SHOP/jwks/revoked")).body.keys;
  assertEquals(revoked, [{ ...signing, revoked_at: body.revoked_at, reason: "laptop stolen" }]);
});

Deno.test("POST revoke stands: a second one changes nothing, and the key is never certified again [E3]", async () => {
  await using env = await onboarded();
  const { kid } = firstOf((await env.get("/participants/SHOP/jwks")).body.keys);
  const path = `/participants/SHOP/keys/${kid}/revoke`;
  const first = await env.admin("POST", path, { reason: "first" });
  env.now += 5000;
  assertEquals((await env.admin("POST", path, { reason: "second" })).body, first.body);
  assertEquals((await env.admin("GET", "/participants/SHOP/history")).body.history.length, 2);
  const csrs = { signing: await signingRequest(0) };
  assertEquals((await env.admin("POST", "/participants/SHOP/certificates", { csrs })).status, 409);
  const elsewhere = await env.admin("POST", "/participants", await thirdParty([0, 2], { org_id: "OTHER" }));
  assertEquals(elsewhere.status, 409);
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "pause" });
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Active", reason: "back" });
  assert(!(await activeKids(env)).includes(kid));
});

Deno.test("POST revoke keeps a key revoked until its certificate has expired [E3]", async () => {
  await using env = await onboarded();
  const { kid } = firstOf((await env.get("/participants/SHOP/jwks")).body.keys);
  await env.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "test" });
  env.now = START + 397 * DAY - 1;
  assertEquals((await env.get("/participants/SHOP/jwks/revoked")).body.keys.length, 1);
  env.now += 1;
  assertEquals((await env.get("/participants/SHOP/jwks/revoked")).body.keys, []);
  assertEquals((await activeKids(env)).length, 0);
});

Deno.test("POST revoke does not know others' keys [E3]", async () => {
  await using env = await onboarded();
  await env.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "OTHER" }));
  const { kid } = firstOf((await env.get("/participants/OTHER/jwks")).body.keys);
  for (
    const path of [`SHOP/keys/${kid}`, `SHOP/keys/${"A".repeat(27)}`, "SHOP/keys/x", `NOBODY/keys/${kid}`]
  ) {
    const { status } = await env.admin("POST", `/participants/${path}/revoke`, { reason: "test" });
    assertEquals(status, 404, path);
  }
  assertEquals((await env.get("/participants/OTHER/jwks")).body.keys.length, 2);
});

Deno.test("GET history tells who did what, when and why, in order [E3]", async () => {
  await using env = await onboarded();
  const { kid } = firstOf((await env.get("/participants/SHOP/jwks")).body.keys);
  env.now += 1000;
  await env.admin("POST", "/participants/SHOP/statement", { version: "2.0" });
  await env.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "lost" });
  await env.admin("POST", "/participants/SHOP/certificates", { csrs: { signing: await signingRequest(2) } });
  await env.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "audit" });
  const { headers, body } = await env.admin("GET", "/participants/SHOP/history");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(body.history.map(({ sequence, what, who }) => [sequence, what, who]), [
    [0, "participant.onboarded", "ana"],
    [1, "statement.issued", "ana"],
    [2, "key.revoked", "ana"],
    [3, "certificates.issued", "ana"],
    [4, "organisation.status", "ana"],
    [5, "software.status", "ana"],
  ]);
  const { sha256: _own, previous_sha256: _previous, ...statement } = body.history[1] ?? {};
  assertEquals(statement, {
    sequence: 1,
    at: "2026-02-01T10:00:01.000Z",
    who: "ana",
    what: "statement.issued",
    details: { iat: START / 1000 + 1, changed: { version: { from: "1.2.3", to: "2.0" } } },
  });
  assertEquals(body.history[2]?.reason, "lost");
  assertEquals(body.history[2]?.details, { kid, use: "sig" });
  assertEquals(body.history[4]?.details, { from: "Active", to: "Suspended" });
  assertEquals(body.history[5]?.reason, "organisation Suspended: audit");
});

Deno.test("changes at the same time are all made, each with its own line in the history [E3]", async () => {
  await using env = await onboarded();
  const keys = (await env.get("/participants/SHOP/jwks")).body.keys;
  const answers = await Promise.all([
    ...keys.map(({ kid }) => env.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "test" })),
    env.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "test" }),
  ]);
  assertEquals(answers.map(({ status }) => status), [200, 200, 200]);
  const history = (await env.admin("GET", "/participants/SHOP/history")).body.history;
  assertEquals(history.map(({ sequence }) => sequence), [0, 1, 2, 3]);
  assertEquals((await env.get("/participants/SHOP/jwks/revoked")).body.keys.length, 2);
});

async function activeKids(env: DirectoryEnvironment): Promise<string[]> {
  return (await env.get("/participants/SHOP/jwks")).body.keys.map((key) => key.kid);
}
