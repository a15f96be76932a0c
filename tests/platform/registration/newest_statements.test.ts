/** What the directory has restated takes effect here within 15 s, without a new registration, and never the other way. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { historyOf } from "../../../src/platform/audit_trail.ts";
import type { Client } from "../../../src/platform/registration/client.ts";
import { forUrls, serving } from "../../support/directory_network.ts";
import {
  authorise,
  authorize,
  Browser,
  clientToken,
  createConsent,
  good,
  type Json,
  push,
  requestToken,
  toBank,
} from "../../../scripts/testing/flows.ts";
import type { Participant } from "../../../scripts/testing/participants.ts";
import {
  MANY_REGISTRATIONS,
  postRegistration,
  renewedStatement,
  statementWith,
} from "../../../scripts/testing/registration.ts";
import { BOUND_MS } from "../../support/standing.ts";
import {
  DIRECTORY_URL,
  openWorld,
  SHOP_REDIRECTS,
  START,
  type World,
} from "../../../scripts/testing/environment.ts";

const [KEPT = "", REMOVED = ""] = SHOP_REDIRECTS;
const NEW = "https://shop.example/new";

async function stored(world: World, { clientId }: Participant): Promise<Client> {
  const entry = await world.store.get<Client>(["client", clientId]);
  if (entry === null) throw new Error("no client");
  return entry.value;
}

/** The status of a pushed request with this redirect URI. */
async function pushTo(world: World, redirectUri: string): Promise<number> {
  const bound = await clientToken(world, world.tpp);
  const { ConsentId } = (await createConsent(world, bound)).Data;
  const answer = await push(world, ConsentId, { form: { redirect_uri: redirectUri } });
  await answer.body?.cancel();
  return answer.status;
}

/** A renewed statement whose `iat` is another second's; gives it. */
async function restate(world: World, who: Participant, changes: Json): Promise<string> {
  world.now += 1000;
  return await renewedStatement(world, who, changes);
}

/** The directory's answer about the newest statement of the shop, replaced. */
function stating(world: World, statement: string): void {
  const path = `/participants/${world.tpp.orgId}/statement`;
  world.network = forUrls(
    world,
    ({ pathname }) => pathname === path,
    serving(JSON.stringify({ software_statement: statement })),
  );
}

Deno.test("PAR refuses a redirect URI 15 s after the directory has removed it; a new one needs a registration [G5]", async (t) => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  assertEquals(await pushTo(world, REMOVED), 201);
  const statement = await restate(world, world.tpp, { redirect_uris: [KEPT, NEW] });
  world.now += BOUND_MS;
  await t.step("removed, kept, new", async () => {
    assertEquals([await pushTo(world, REMOVED), await pushTo(world, KEPT), await pushTo(world, NEW)], [
      400,
      201,
      400,
    ]);
  });
  await t.step(
    "the record, its statement and its history are those of the directory's newest word",
    async () => {
      const client = await stored(world, world.tpp);
      assertEquals([client.redirectUris, client.statementIssuedAt], [[KEPT], START / 1000 + 1]);
      const kept = await world.store.get<string>(["software_statement", world.tpp.clientId]);
      assertMatch(kept?.value ?? "", /^ey/);
      const history = await historyOf(world.store, world.tpp.clientId);
      assertEquals(history.map(({ event, actor }) => `${event} by ${actor}`), [
        `client.registered by ${world.tpp.clientId}`,
        "client.updated by directory",
      ]);
    },
  );
  await t.step("the same statement registers the new one, once", async () => {
    const changes = { statement, claims: { redirect_uris: [KEPT, NEW] } };
    assertEquals((await postRegistration(world, world.tpp, changes)).status, 201);
    assertEquals(await pushTo(world, NEW), 201);
    assertEquals((await postRegistration(world, world.tpp, changes)).status, 400);
  });
});

Deno.test("a link of before does not lead to a redirect URI that the directory has removed [G5]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const { ConsentId } = (await createConsent(world, bound)).Data;
  const pushed = await good(push(world, ConsentId, { form: { redirect_uri: REMOVED } }), 201);
  await restate(world, world.tpp, { redirect_uris: [KEPT] });
  world.now += BOUND_MS;
  const answer = await authorize(new Browser(world), world.tpp, pushed.request_uri);
  assertEquals([answer.status, answer.headers.get("location")], [400, null]);
});

Deno.test("customers go to the bank's new SCA URL, and decide where its newest statement says [G5] [A5]", async () => {
  await using world = await openWorld();
  const sca = "https://new.bank-a.example/login";
  await restate(world, world.bankA, { redirect_uris: [sca], consent_managedby_bank: true });
  world.now += BOUND_MS;
  const bound = await clientToken(world, world.tpp);
  const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
  const departure = await authorize(new Browser(world), world.tpp, pushed.request_uri);
  assertStringIncludes(departure.headers.get("location") ?? "", `${sca}?oAuthUrl=`);
  const answer = await authorise(world, await toBank(world)); // by the bank's own screen now
  assertMatch(answer.headers.get("location") ?? "", /^https:\/\/shop\.example\/.*[?&]code=/);
});

Deno.test("background work applies a statement before anybody asks for its client [G5]", async () => {
  await using world = await openWorld();
  await requestToken(world, world.tpp); // the list is known
  await restate(world, world.tpp, { redirect_uris: [KEPT], client_name: "Better Shop" });
  assertEquals(await world.platform.followDirectory(), 0); // asked a moment ago
  world.now += 10_000;
  assertEquals(await world.platform.followDirectory(), 1);
  const { redirectUris, softwareName } = await stored(world, world.tpp);
  assertEquals([redirectUris, softwareName], [[KEPT], "Better Shop"]);
});

Deno.test("twenty parallel requests apply a statement once [G5]", async () => {
  await using world = await openWorld();
  await restate(world, world.tpp, { redirect_uris: [KEPT] });
  world.now += BOUND_MS;
  world.fetched.length = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => requestToken(world, world.tpp)));
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
  const url = `${DIRECTORY_URL}/participants/${world.tpp.orgId}/statement`;
  assertEquals(world.fetched.filter((fetched) => fetched === url).length, 1);
  assertEquals((await historyOf(world.store, world.tpp.clientId)).length, 2);
});

const UNUSABLE: Readonly<Record<string, (world: World) => Promise<string>>> = {
  "one that the directory did not sign": async (world) =>
    await statementWith(world.tpp, {
      claims: { iat: START / 1000 + 1, software_redirect_uris: ["https://evil.example/"] },
      signer: world.tpp.signing,
    }),
  "an older one": (world) => Promise.resolve(world.tpp.statement),
  "one about another client": (world) => Promise.resolve(world.otherTpp.statement),
  "one about another client of this second": (world) =>
    statementWith(world.otherTpp, { claims: { iat: START / 1000 + 1 } }),
  "one about another organisation": (world) =>
    statementWith(world.tpp, { claims: { iat: START / 1000 + 1, org_id: "OTHER" } }),
  "one with another role": (world) =>
    statementWith(world.tpp, { claims: { iat: START / 1000 + 1, software_roles: ["ASPSP"] } }),
  "one for another environment": (world) =>
    statementWith(world.tpp, { claims: { iat: START / 1000 + 1, software_environment: "Sandbox" } }),
  "an expired one": (world) =>
    statementWith(world.tpp, { claims: { iat: START / 1000 + 1, exp: START / 1000 - 3600 } }),
  "no JWT": () => Promise.resolve("no JWT"),
};

for (const [name, make] of Object.entries(UNUSABLE)) {
  Deno.test(`in place of the newest statement, ${name} changes nothing, and is tried again [G5]`, async () => {
    await using world = await openWorld();
    await restate(world, world.tpp, { redirect_uris: [KEPT] });
    const { network } = world;
    stating(world, await make(world));
    const before = await stored(world, world.tpp);
    world.now += BOUND_MS;
    assertEquals(await pushTo(world, REMOVED), 201); // by what is in force
    assertEquals(await stored(world, world.tpp), before);
    assert(world.logged.some((line) => line.includes("client.statement_not_applied")));
    world.network = network;
    world.now += 10_000;
    assertEquals(await pushTo(world, REMOVED), 400);
  });
}

Deno.test("what the directory has replaced is in force for 900 s at most while its newest statement cannot be had [G5] [A9]", async () => {
  await using world = await openWorld();
  await restate(world, world.tpp, { redirect_uris: [KEPT] });
  const { network } = world;
  world.network = forUrls(
    world,
    ({ pathname }) => pathname.endsWith("/statement"),
    () => Promise.resolve(new Response("{}", { status: 500 })),
  );
  world.now += BOUND_MS;
  assertEquals((await requestToken(world, world.tpp)).status, 200);
  world.now += 899_999;
  assertEquals((await requestToken(world, world.tpp)).status, 200);
  world.now += 1;
  const answer = await requestToken(world, world.tpp);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "10"]);
  assertEquals((await requestToken(world, world.otherTpp)).status, 200);
  world.network = network;
  world.now += 10_000;
  assertEquals((await requestToken(world, world.tpp)).status, 200);
});

Deno.test("POST register refuses a statement older than the directory's newest [DC-N23] [D17] [G5]", async () => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const second = await restate(world, world.tpp, { redirect_uris: [KEPT, REMOVED, NEW] });
  await restate(world, world.tpp, { redirect_uris: [KEPT] });
  world.now += BOUND_MS;
  const before = await world.snapshot();
  const claims = { redirect_uris: [NEW] };
  const answer = await postRegistration(world, world.tpp, { statement: second, claims });
  assertEquals([answer.status, (await answer.json()).error], [400, "invalid_software_statement"]);
  assertEquals(await world.snapshot(), before);
});
