/** The directory's status list and newest statements: what relying parties ask for every few seconds. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { decodeJwt } from "jose";
import type { StatusList } from "testing/directory_answers.ts";
import { firstOf } from "testing/answers.ts";
import { type DirectoryEnvironment } from "testing/directory_environment.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { steps } from "support/steps.ts";
import { openTestStore } from "testing/test_store.ts";
import { onboarded } from "../changes/onboarded.ts";

const only = async (env: DirectoryEnvironment): Promise<StatusList["participants"][number]> =>
  firstOf((await env.get("/status")).body.participants);

Deno.test("GET /status says of every organisation and software whether it is active, to be asked about at each use", async () => {
  await using env = await onboarded();
  const { status, headers, body } = await env.get("/status");
  const record = (await env.admin("GET", "/participants/SHOP")).body;
  assertEquals([status, headers.get("content-type")], [200, "application/json"]);
  assertEquals(headers.get("cache-control"), "public, no-cache");
  assertEquals(body, {
    participants: [{
      org_id: "SHOP",
      org_status: "Active",
      software_client_id: record.software_client_id,
      software_client_status: "Active",
      version: 1,
      statement_issued_at: env.now / 1000,
    }],
  });
});

Deno.test("GET /status answers 304 until a participant has changed, and every change shows at once", async (t) => {
  await using env = await onboarded();
  const path = "/participants/SHOP";
  const decided = { reason: "decided" };
  const { kid } = firstOf((await env.get(`${path}/jwks`)).body.keys);
  const changes: Record<string, () => ReturnType<DirectoryEnvironment["admin"]>> = {
    "a statement": () => env.admin("POST", `${path}/statement`, { version: "2" }),
    "a revoked key": () => env.admin("POST", `${path}/keys/${kid}/revoke`, decided),
    "software Inactive": () =>
      env.admin("PUT", `${path}/software/status`, { status: "Inactive", ...decided }),
    "organisation Suspended": () => env.admin("PUT", `${path}/status`, { status: "Suspended", ...decided }),
    "organisation Withdrawn": () => env.admin("PUT", `${path}/status`, { status: "Withdrawn", ...decided }),
  };
  await steps(t, changes, async (change) => {
    const before = await env.get("/status");
    const known = { "if-none-match": before.headers.get("etag") ?? "" };
    assertEquals((await env.get("/status", known)).status, 304);
    assertEquals((await change()).status, 200);
    const after = await env.get("/status", known);
    assertEquals(after.status, 200);
    assertNotEquals(after.body.participants[0]?.version, before.body.participants[0]?.version);
  });
  const { org_status, software_client_status } = await only(env);
  assertEquals([org_status, software_client_status], ["Withdrawn", "Revoked"]);
});

Deno.test("GET /participants/{org_id}/statement gives the statement of the newest issue, and none of who is not Active", async () => {
  await using env = await onboarded();
  env.now += 60_000;
  const renewed = await env.admin("POST", "/participants/SHOP/statement", {
    redirect_uris: ["https://shop.example/new"],
  });
  const { status, headers, body } = await env.get("/participants/SHOP/statement");
  assertEquals([status, headers.get("cache-control")], [200, "public, no-cache"]);
  const { jti: _, ...claims } = decodeJwt(body.software_statement);
  const { jti: __, ...issued } = decodeJwt(renewed.body.software_statement);
  assertEquals(claims, issued);
  assertEquals(claims.iat, (await only(env)).statement_issued_at);
  assertEquals((await env.get("/participants/SHOP/statement")).body, body); // signed once
  await env.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "decided" });
  assertEquals((await env.get("/participants/SHOP/statement")).status, 404);
  assertEquals((await env.get("/participants/NOBODY/statement")).status, 404);
});

Deno.test("public lists are read from the database once a change, however often they are asked for [E2]", async () => {
  const store = await openTestStore();
  let lists = 0;
  const counting: Store = { ...store, list: (listing) => (lists += 1, store.list(listing)) };
  await using env = await onboarded({ store: counting });
  const read = async (): Promise<number> => {
    const before = lists;
    for (const accept of ["application/json", "text/html", "application/json"]) {
      assertEquals((await env.get("/participants", { accept })).status, 200);
      assertEquals((await env.get("/status")).status, 200);
    }
    return lists - before;
  };
  const first = await read();
  assertEquals(await read(), 0);
  await env.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "decided" });
  assertEquals(await read(), first);
  assertEquals(firstOf((await env.get("/participants")).body).org_status, "Suspended");
});
