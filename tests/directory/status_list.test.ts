/** The directory's status list and newest statements: what relying parties ask for every few seconds. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { decodeJwt } from "jose";
import {
  type DirectoryWorld,
  type Json,
  openDirectoryWorld,
  thirdParty,
} from "../../scripts/testing/directory_environment.ts";

async function onboarded(): Promise<DirectoryWorld> {
  const world = await openDirectoryWorld();
  assertEquals((await world.admin("POST", "/participants", await thirdParty([0, 1]))).status, 201);
  return world;
}

const only = async (world: DirectoryWorld): Promise<Json> =>
  (await world.get("/status")).body.participants[0];

Deno.test("GET /status says of every organisation and software whether it is active, to be asked about at each use", async () => {
  await using world = await onboarded();
  const { status, headers, body } = await world.get("/status");
  const record = (await world.admin("GET", "/participants/SHOP")).body;
  assertEquals([status, headers.get("content-type")], [200, "application/json"]);
  assertEquals(headers.get("cache-control"), "public, no-cache");
  assertEquals(body, {
    participants: [{
      org_id: "SHOP",
      org_status: "Active",
      software_client_id: record.software_client_id,
      software_client_status: "Active",
      version: 1,
      statement_issued_at: world.now / 1000,
    }],
  });
});

Deno.test("GET /status answers 304 until a participant has changed, and every change shows at once", async (t) => {
  await using world = await onboarded();
  const path = "/participants/SHOP";
  const decided = { reason: "decided" };
  const [{ kid }] = (await world.get(`${path}/jwks`)).body.keys;
  const changes: Record<string, () => ReturnType<DirectoryWorld["admin"]>> = {
    "a statement": () => world.admin("POST", `${path}/statement`, { version: "2" }),
    "a revoked key": () => world.admin("POST", `${path}/keys/${kid}/revoke`, decided),
    "software Inactive": () =>
      world.admin("PUT", `${path}/software/status`, { status: "Inactive", ...decided }),
    "organisation Suspended": () => world.admin("PUT", `${path}/status`, { status: "Suspended", ...decided }),
    "organisation Withdrawn": () => world.admin("PUT", `${path}/status`, { status: "Withdrawn", ...decided }),
  };
  for (const [name, change] of Object.entries(changes)) {
    await t.step(name, async () => {
      const before = await world.get("/status");
      const known = { "if-none-match": before.headers.get("etag") ?? "" };
      assertEquals((await world.get("/status", known)).status, 304);
      assertEquals((await change()).status, 200);
      const after = await world.get("/status", known);
      assertEquals(after.status, 200);
      assertNotEquals(after.body.participants[0].version, before.body.participants[0].version);
    });
  }
  const { org_status, software_client_status } = await only(world);
  assertEquals([org_status, software_client_status], ["Withdrawn", "Revoked"]);
});

Deno.test("GET /participants/{org_id}/statement gives the statement of the newest issue, and none of who is not Active", async () => {
  await using world = await onboarded();
  world.now += 60_000;
  const renewed = await world.admin("POST", "/participants/SHOP/statement", {
    redirect_uris: ["https://shop.example/new"],
  });
  const { status, headers, body } = await world.get("/participants/SHOP/statement");
  assertEquals([status, headers.get("cache-control")], [200, "public, no-cache"]);
  const { jti: _, ...claims } = decodeJwt(body.software_statement);
  const { jti: __, ...issued } = decodeJwt(renewed.body.software_statement);
  assertEquals(claims, issued);
  assertEquals(claims.iat, (await only(world)).statement_issued_at);
  assertEquals((await world.get("/participants/SHOP/statement")).body, body); // signed once
  await world.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "decided" });
  assertEquals((await world.get("/participants/SHOP/statement")).status, 404);
  assertEquals((await world.get("/participants/NOBODY/statement")).status, 404);
});
