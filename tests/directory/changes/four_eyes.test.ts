/** Changes that need two administrators: proposed by one, approved by another in the commit of the change. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { firstOf } from "testing/answers.ts";
import {
  contacts,
  type DirectoryEnvironment,
  signingRequest,
  software,
  START,
  thirdParty,
} from "testing/directory_environment.ts";
import { everything } from "testing/store_contents.ts";
import { openTestStore } from "testing/test_store.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { stepsOf } from "support/steps.ts";
import { signIn } from "../console/visited.ts";
import { AGREED, approve, asLuis, HOUR, made, openTwo, proposed, stateOf } from "./two_administrators.ts";

const SHOP = "/participants/SHOP";
const SUSPEND = { status: "Suspended", reason: "It does not answer." };

/** A directory with SHOP, whose changes need two. */
async function openShop(): Promise<DirectoryEnvironment> {
  const env = await openTwo();
  await made(env, "POST", "/participants", await thirdParty([0, 1]));
  return env;
}

const statusOf = async (env: DirectoryEnvironment): Promise<string> =>
  (await env.admin("GET", SHOP)).body.org_status;

Deno.test("an onboarding is made when another administrator approves it, and the history names both [DRC8, DRC9, E8]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "POST", "/participants", await thirdParty([0, 1]));
  assertEquals((await env.admin("GET", SHOP)).status, 404);
  const own = await env.admin("POST", `/proposals/${id}/approve`, { reason: AGREED });
  assertEquals([own.status, own.body.error], [409, "conflict"], "never the same person");
  assertEquals((await env.admin("GET", SHOP)).status, 404);
  const { status, body } = await approve(env, id);
  assertEquals([status, body.state, body.decided_by, body.result["org_id"]], [
    200,
    "approved",
    "luis",
    "SHOP",
  ]);
  assertStringIncludes(JSON.stringify(body.result["certificates"]), "BEGIN CERTIFICATE");
  const [entry] = (await env.admin("GET", `${SHOP}/history`)).body.history;
  assertEquals([entry?.who, entry?.proposal_id, entry?.approval_reason], ["ana with luis", id, AGREED]);
  const again = await approve(env, id);
  assertEquals([again.status, again.body.error_description], [409, "It is approved."]);
});

Deno.test("each change that is configured is proposed, and every other one is made at once [DRC8]", async (t) => {
  const keys = { csrs: { signing: await signingRequest(4) } };
  const changes: readonly (readonly [name: string, method: string, path: string, body: object])[] = [
    ["statement", "POST", `${SHOP}/statement`, { version: "9" }],
    ["certificates", "POST", `${SHOP}/certificates`, keys],
    ["login", "POST", `${SHOP}/logins`, { name: "eva" }],
    ["activate", "PUT", `${SHOP}/software/status`, { status: "Active", reason: "ok" }],
    ["suspend", "PUT", `${SHOP}/software/status`, { status: "Inactive", reason: "ok" }],
    ["suspend", "PUT", `${SHOP}/status`, SUSPEND],
    ["revoke", "PUT", `${SHOP}/status`, { ...SUSPEND, status: "Withdrawn" }],
    ["revoke", "PUT", `${SHOP}/software/status`, { ...SUSPEND, status: "Revoked" }],
  ];
  await using all = await openShop();
  await stepsOf(t, changes, ([name, , path]) => `${name} ${path}`, async ([name, method, path, body]) => {
    await proposed(all, method, path, body);
    await using none = await openTwo({ fourEyes: ["onboard"] });
    await made(none, "POST", "/participants", await thirdParty([0, 1]));
    assert([200, 201].includes((await none.admin(method, path, body)).status), name);
  });
  const { kid } = firstOf((await all.admin("GET", SHOP)).body.keys);
  await proposed(all, "POST", `${SHOP}/keys/${kid}/revoke`, { reason: "lost" });
  assertEquals((await all.admin("POST", `${SHOP}/statement`, {})).status, 200, "the same details");
});

Deno.test("a change that would be rejected is not stored as a proposal [DRC8]", async () => {
  await using env = await openShop();
  const before = await everything(env.store);
  const faulty: readonly (readonly [method: string, path: string, body: unknown, status: number])[] = [
    ["PUT", `${SHOP}/status`, { status: "Suspended" }, 400],
    ["PUT", "/participants/NOBODY/status", SUSPEND, 404],
    ["PUT", "/participants/!/status", SUSPEND, 404],
    ["POST", `${SHOP}/keys/${"A".repeat(27)}/revoke`, { reason: "lost" }, 404],
    ["POST", `${SHOP}/certificates`, { csrs: { signing: "no request" } }, 400],
    ["POST", `${SHOP}/statement`, { payment_orders_uri: "https://shop.example" }, 400],
    ["POST", "/participants", { ...await thirdParty([2, 3]), contacts: [] }, 400],
  ];
  for (const [method, path, body, status] of faulty) {
    assertEquals((await env.admin(method, path, body)).status, status, path);
  }
  assertEquals((await env.fetch(new Request("https://directory.example/proposals"))).status, 401);
  assertEquals(await everything(env.store), before);
});

Deno.test("an approval and its change are one commit [DRC9]", async () => {
  await using env = await openShop();
  const id = await proposed(env, "PUT", `${SHOP}/status`, SUSPEND);
  const before = await everything(env.store);
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = () => Promise.reject(new StoreFailure("the process ended"));
  assertEquals((await approve(env, id)).status, 503);
  env.store.commit = (staged) => {
    commits++;
    return commit(staged);
  };
  assertEquals(await everything(env.store), before);
  assertEquals((await approve(env, id)).status, 200);
  assertEquals([commits, await statusOf(env), await stateOf(env, id)], [1, "Suspended", "approved"]);
  const [, entry] = (await env.admin("GET", `${SHOP}/history`)).body.history;
  assertEquals([entry?.who, entry?.proposal_id, entry?.approval_reason], ["ana with luis", id, AGREED]);
});

Deno.test("of parallel approvals one makes the change, once [DRC9]", async () => {
  await using env = await openShop();
  const id = await proposed(env, "PUT", `${SHOP}/status`, SUSPEND);
  const answers = await Promise.all([1, 2, 3, 4].map(() => approve(env, id)));
  assertEquals(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
  const history = (await env.admin("GET", `${SHOP}/history`)).body.history;
  assertEquals(history.filter(({ what }: { what: string }) => what === "organisation.status").length, 1);
});

Deno.test("a proposal about a participant that an administrator has changed since is stale [DRC10]", async () => {
  await using env = await openShop();
  const [statement, status] = [
    await proposed(env, "POST", `${SHOP}/statement`, { version: "9" }),
    await proposed(env, "PUT", `${SHOP}/software/status`, { status: "Inactive", reason: "audit" }),
  ];
  assertEquals((await approve(env, statement)).status, 200);
  assertEquals(await stateOf(env, status), "stale");
  const { status: code, body } = await approve(env, status);
  assertEquals(code, 409);
  assertStringIncludes(body.error_description, "has changed since the proposal");
  assertEquals((await env.admin("GET", SHOP)).body.software_client_status, "Active");
});

Deno.test("what a participant's people may do does not end a proposal about it [DRC10]", async () => {
  await using env = await openShop();
  const { result } = await made(env, "POST", `${SHOP}/logins`, { name: "eva" });
  const token = String(result["token"]);
  assert(token.startsWith("part-SHOP-"));
  const id = await proposed(env, "PUT", `${SHOP}/status`, SUSPEND);
  env.now += 1000;
  const person = await signIn(env, token);
  const sent = { csr_signing: await signingRequest(4) };
  assertEquals((await person.submit("/console/own/certificates", sent)).status, 303);
  assertEquals((await person.submit("/console/own/statement")).status, 303);
  const { keys } = (await env.admin("GET", SHOP)).body;
  assertEquals(keys.length, 3, "made at once");
  assertEquals((await approve(env, id)).status, 200);
  assertEquals(await statusOf(env), "Suspended");
});

Deno.test("a proposal is rejected or withdrawn, and expires after 24 hours [DRC10]", async () => {
  await using env = await openShop();
  const ids: string[] = [];
  for (let index = 0; index < 3; index++) {
    env.now += 1;
    ids.push(await proposed(env, "PUT", `${SHOP}/status`, SUSPEND));
  }
  const [rejected = "", withdrawn = "", late = ""] = ids;
  assertEquals((await asLuis(env, "POST", `/proposals/${rejected}/reject`, {})).status, 400, "no reason");
  const no = { reason: "No mandate." };
  assertEquals((await asLuis(env, "POST", `/proposals/${rejected}/reject`, no)).body.state, "rejected");
  assertEquals((await env.admin("POST", `/proposals/${withdrawn}/reject`, no)).body.state, "withdrawn");
  for (const id of [rejected, withdrawn]) assertEquals((await approve(env, id)).status, 409);
  env.now += 24 * HOUR;
  const { status, body } = await approve(env, late);
  assertEquals([status, body.error_description], [409, "It has expired."]);
  assertEquals((await asLuis(env, "POST", `/proposals/${late}/reject`, no)).status, 409);
  const { proposals } = (await env.admin("GET", "/proposals")).body;
  const states = proposals.map(({ state }: { state: string }) => state);
  assertEquals(states, ["expired", "withdrawn", "rejected", "approved"], "newest first");
  assertEquals(await statusOf(env), "Active");
  assertEquals((await approve(env, "f".repeat(28))).status, 404);
});

Deno.test("open proposals are bounded, and a page has at most 20 [DRC11]", async () => {
  await using env = await openShop();
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) {
    env.now += 1;
    ids.push(await proposed(env, "PUT", `${SHOP}/status`, SUSPEND));
  }
  assertEquals((await env.admin("PUT", `${SHOP}/status`, SUSPEND)).status, 409);
  assertEquals((await asLuis(env, "PUT", `${SHOP}/status`, SUSPEND)).status, 202, "another person's");
  await env.admin("POST", `/proposals/${ids[0]}/reject`, { reason: "Not needed." });
  env.now += 1;
  await proposed(env, "PUT", `${SHOP}/status`, SUSPEND);
  const first = (await env.admin("GET", "/proposals")).body;
  const second = (await env.admin("GET", `/proposals?after=${first.after}`)).body;
  assertEquals([first.proposals.length, second.proposals.length, second.after], [20, 3, undefined]);
  const all = [...first.proposals, ...second.proposals];
  assertEquals(new Set(all.map(({ proposal_id }: { proposal_id: string }) => proposal_id)).size, 23);
  assertEquals((await env.admin("GET", "/proposals?after=x")).status, 400);
  const third = await thirdParty([4, 5], { org_id: "LARGE" });
  const { signing, transport } = third.csrs;
  const csrs = { signing: signing + "\n".repeat(6000), transport: transport + "\n".repeat(6000) };
  const redirect_uris = [1, 2, 3, 4].map((n) => `https://shop.example/${n}/${"x".repeat(2000)}`);
  const large = { ...third, csrs, software: { ...software(), redirect_uris } };
  const tooLarge = await env.admin("POST", "/participants", {
    ...large,
    contacts: Array(20).fill({ ...contacts()[0], name: '"'.repeat(127) + "x" }).with(1, contacts()[1]),
  });
  assertEquals(tooLarge.status, 400);
  assertStringIncludes(tooLarge.body.error_description, "at most 40000 characters");
});

Deno.test("a proposal of before a restore cannot be approved [DRC10]", async () => {
  const store = await openTestStore();
  await using first = await openTwo({ store });
  await made(first, "POST", "/participants", await thirdParty([0, 1]));
  const id = await proposed(first, "PUT", `${SHOP}/status`, SUSPEND);
  const mark = { kind: "set", key: ["store_copy"], value: { takenAt: START + 1 } } as const;
  await store.commit({ checks: [], writes: [mark] });
  await using restored = await openTwo({ store, clock: () => START + HOUR });
  assertEquals((await approve(restored, id)).status, 409);
  const later = await proposed(restored, "PUT", `${SHOP}/status`, SUSPEND);
  assertEquals(await stateOf(restored, later), "proposed", "a repeated suspension can be approved");
  await restored.admin("POST", "/restored/confirm");
  assertEquals(await stateOf(restored, id), "expired");
  assertEquals((await approve(restored, id)).status, 409);
});
