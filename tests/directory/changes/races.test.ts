/** The directory under many requests at once: one organisation, one key, one history without gaps or lost changes. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import type { Store } from "../../../src/base/store/store.ts";
import type { DirectoryHistory } from "testing/directory_answers.ts";
import {
  type Answer,
  bank,
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  signingRequest,
  thirdParty,
} from "testing/directory_environment.ts";
import { type GatedStore, openGatedStore } from "support/gated_store.ts";
import { testTemplate } from "testing/test_store.ts";
import { approve, openTwo, proposed } from "./two_administrators.ts";

const MANY = 40;

/** Pairs of different pool keys, the directory's own left out. */
const PAIRS = Array.from({ length: 14 * 13 }, (_, index): [number, number] => {
  const first = index % 14;
  return [first, (first + 1 + Math.floor(index / 14)) % 14];
});

Deno.test("POST /participants: of 40 onboardings of one org_id one wins, and the others leave nothing behind [E1]", async () => {
  await using env = await openRace();
  const requests = await Promise.all(
    PAIRS.slice(0, MANY).map((keys, n) => bank(keys, { org_id: n % 2 === 0 ? "RACE" : "race" })),
  );
  const answers = await env.together(
    requests.map((request) => () => env.admin("POST", "/participants", request)),
  );
  const won = onlyWinner(answers);
  assertEquals(won.body.jwks, (await env.get(`/participants/${won.body.org_id}/jwks`)).body);
  assertEquals((await env.get("/participants")).body.length, 1);
  assertEquals((await env.kept.list({ prefix: ["directory", "known_key"], limit: 100 })).length, 2);
  assertEquals((await env.kept.list({ prefix: ["directory", "certified_key"], limit: 100 })).length, 2);
  assertEquals((await historyOf(env, won.body.org_id)).length, 1);
});

Deno.test("POST /participants: of 40 onboardings with one signing key one wins, and the others leave nothing behind [E1]", async () => {
  await using env = await openRace();
  const requests = await Promise.all(
    Array.from({ length: MANY }, (_, n) => thirdParty([0, 1 + n % 13], { org_id: `RACE-${n}` })),
  );
  const answers = await env.together(
    requests.map((request) => () => env.admin("POST", "/participants", request)),
  );
  const won = onlyWinner(answers);
  assertEquals((await env.get("/participants")).body.map(({ org_id }) => org_id), [won.body.org_id]);
  const loser = requests.find(({ csrs }) =>
    csrs.transport !== requests[answers.indexOf(won)]?.csrs.transport
  );
  const csrs = { signing: await signingRequest(15), transport: loser?.csrs.transport };
  const again = await env.admin("POST", "/participants", { ...loser, csrs });
  assertEquals(again.status, 201); // the key that a loser did not share is as good as new, its org_id too
});

Deno.test("POST certificates: of 40 additions of one key one wins, within one participant and between two [E3]", async () => {
  await using env = await openRace();
  await env.admin("POST", "/participants", await thirdParty([0, 1], { org_id: "ONE" }));
  await env.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "TWO" }));
  const csrs = { signing: await signingRequest(4) };
  const answers = await env.together(
    Array.from(
      { length: MANY },
      (_, n) => () =>
        env.admin("POST", `/participants/${n % 2 === 0 ? "ONE" : "TWO"}/certificates`, { csrs }),
    ),
  );
  onlyWinner(answers);
  const sets = await Promise.all(["ONE", "TWO"].map((id) => env.get(`/participants/${id}/jwks`)));
  assertEquals(sets.map(({ body }) => body.keys.length).toSorted(), [2, 3]);
});

Deno.test("40 changes of one participant at once are all made, each once, each with its line [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  for (const n of [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
    await env.admin("POST", "/participants/SHOP/certificates", {
      csrs: { signing: await signingRequest(n) },
    });
  }
  const keys = (await env.get("/participants/SHOP/jwks")).body.keys;
  const before = (await historyOf(env, "SHOP")).length;
  const changes: (() => Promise<Answer>)[] = [
    ...keys.map(({ kid }) => () =>
      env.admin("POST", `/participants/SHOP/keys/${kid}/revoke`, { reason: "incident" })
    ),
    ...Array.from(
      { length: 12 },
      (_, n) => () => env.admin("POST", "/participants/SHOP/statement", { version: `2.${n}` }),
    ),
    ...Array.from({ length: 16 }, (_, n) => () =>
      env.admin("PUT", "/participants/SHOP/software/status", {
        status: n % 2 === 0 ? "Inactive" : "Active",
        reason: `turn ${n}`,
      })),
  ];
  assertEquals(changes.length, MANY);
  const answers = await Promise.all(changes.map((change) => change()));
  assertEquals(answers.map(({ status }) => status), Array(MANY).fill(200));

  const history = await historyOf(env, "SHOP");
  assertEquals(history.map(({ sequence }) => sequence), history.map((_, index) => index));
  const made = Map.groupBy(history.slice(before), ({ what }) => what);
  assertEquals(
    new Set(made.get("key.revoked")?.map(({ details }) => details.kid)),
    new Set(keys.map(({ kid }) => kid)),
  );
  const statements = made.get("statement.issued") ?? [];
  assertEquals(statements.length, 12);
  assertChained(statements.map(({ details }) => renewal.parse(details).changed.version));
  const issued = statements.map(({ details }) => Number(details["iat"]));
  assertEquals(issued, issued.toSorted((a, b) => a - b));
  assertEquals(new Set(issued).size, 12); // no two statements are as new as each other
  assertChained((made.get("software.status") ?? []).map(({ details }) => change.parse(details)));
});

Deno.test("PUT status: software is never Active under an organisation that is not, in either order of the requests [E3]", async () => {
  for (const organisation of ["Suspended", "Withdrawn"]) {
    await using env = await openDirectoryEnvironment();
    await env.admin("POST", "/participants", await thirdParty([0, 1]));
    await env.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "test" });
    const software = (): Promise<Answer> =>
      env.admin("PUT", "/participants/SHOP/software/status", { status: "Active", reason: "race" });
    await Promise.all([
      software(),
      software(),
      env.admin("PUT", "/participants/SHOP/status", { status: organisation, reason: "race" }),
      software(),
      software(),
    ]);
    const [line] = (await env.get("/participants")).body;
    const follows = organisation === "Suspended" ? "Inactive" : "Revoked";
    assertEquals([line?.org_status, line?.software_client_status], [organisation, follows]);
    assertEquals((await env.get("/participants/SHOP/jwks")).body.keys, []);
  }
});

Deno.test({
  name: "POST approve: two onboardings that are approved at once are both made [DRC9, E1]",
  ignore: testTemplate() !== undefined, // PostgreSQL's clock is months ahead of this environment's, and expires its proposals
  fn: bothAreMade,
});

async function bothAreMade(): Promise<void> {
  const store = await openGatedStore();
  await using _last = { [Symbol.asyncDispose]: () => store.close() }; // after the directory
  await using env = await openTwo({ store });
  const ids = [
    await proposed(env, "POST", "/participants", await thirdParty([0, 1], { org_id: "ONE" })),
    await proposed(env, "POST", "/participants", await thirdParty([2, 3], { org_id: "TWO" })),
  ];
  const answers = await store.together(ids.map((id) => () => approve(env, id)));
  assertEquals(answers.map(({ status, body }) => [status, body.state]), [[200, "approved"], [
    200,
    "approved",
  ]]);
  assertEquals((await env.get("/participants")).body.map(({ org_id }) => org_id).toSorted(), ["ONE", "TWO"]);
}

/** A directory whose commits can be made to wait for each other: everybody has looked before anybody writes. */
async function openRace(): Promise<
  DirectoryEnvironment & { readonly kept: Store } & Pick<GatedStore, "together">
> {
  const store = await openGatedStore();
  const env = await openDirectoryEnvironment({ store });
  return Object.assign(env, {
    kept: store,
    together: store.together,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await env.store.close();
      await store.close();
    },
  });
}

/** The one 201; everybody else lost with a 409. */
function onlyWinner<T>(answers: readonly Answer<T>[]): Answer<T> {
  const statuses = answers.map(({ status }) => status).toSorted();
  assertEquals(statuses, [201, ...Array(answers.length - 1).fill(409)]);
  const won = answers.find(({ status }) => status === 201);
  if (won === undefined) throw new Error("nobody won");
  return won;
}

async function historyOf(env: DirectoryEnvironment, orgId: string): Promise<DirectoryHistory["history"]> {
  return (await env.admin("GET", `/participants/${orgId}/history`)).body.history;
}

const change = z.looseObject({ from: z.string(), to: z.string() });
const renewal = z.object({ changed: z.object({ version: change }) });

/** Each change begins where the one before it ended: none was made over a state that had gone. */
function assertChained(changes: readonly { readonly from: string; readonly to: string }[]): void {
  assert(changes.length > 0);
  for (const [index, { from }] of changes.entries()) {
    if (index > 0) assertEquals(from, changes[index - 1]?.to);
  }
}
