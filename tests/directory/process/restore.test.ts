/**
 * A directory that is restored from a backup: it publishes no data until an administrator has repeated the missing
 * changes.
 */
import { assert, assertEquals } from "@std/assert";
import { storeCommand } from "../../../scripts/operators/store/main.ts";
import { type DirectoryFixture, openDirectoryFixture } from "support/directory_process.ts";
import { bodyOf } from "testing/answers.ts";
import type { DirectoryBody, KeySet } from "testing/directory_answers.ts";
import { software, thirdParty } from "testing/directory_environment.ts";
import type { ServedPlatform } from "testing/served_platform.ts";

async function stopped(process: ServedPlatform): Promise<void> {
  process.kill("SIGTERM");
  assertEquals((await process.ended).code, 0);
}

async function asked<const M extends string, const P extends string>(
  fixture: DirectoryFixture,
  method: M,
  path: P,
  body?: unknown,
): Promise<DirectoryBody<`${M} ${P}`>> {
  const headers = { authorization: `Bearer ${fixture.token}`, "content-type": "application/json" };
  const answer = await fetch(`${fixture.adminUrl}${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  assert(answer.ok, `${method} ${path} ${answer.status}`);
  return await bodyOf(answer);
}

async function revokedKids(fixture: DirectoryFixture): Promise<number | string[]> {
  const answer = await fetch(`${fixture.url}/participants/SHOP/jwks/revoked`);
  if (answer.ok) return (await bodyOf<KeySet>(answer)).keys.map(({ kid }) => kid);
  assert(answer.headers.get("retry-after") !== null);
  await answer.body?.cancel();
  return answer.status;
}

Deno.test("a restored directory publishes nothing until an administrator confirms, and what it lacks is in the log [E2] [E3]", async () => {
  await using fixture = await openDirectoryFixture();
  const database = `${fixture.own}/directory.kv`;
  const copy = `${fixture.folder}/copy.kv`;
  const first = await fixture.start();
  await first.ready;
  const redirects = { environment: "Production", redirect_uris: ["https://shop.example/callback"] };
  const details = await thirdParty([0, 1], { software: { ...software(), ...redirects } });
  const { jwks } = await asked(fixture, "POST", "/participants", details);
  const revocation = `/participants/SHOP/keys/${jwks.keys[0]?.kid}/revoke`;
  await storeCommand(["backup", "--to", copy], { storeUrl: database, now: Date.now() });
  await asked(fixture, "POST", revocation, { reason: "lost" });
  assertEquals(await revokedKids(fixture), [jwks.keys[0]?.kid]);
  assertEquals(await asked(fixture, "GET", "/restored"), { restored: false });
  await stopped(first);

  for (const suffix of ["-wal", "-shm"]) await Deno.remove(`${database}${suffix}`).catch(() => {});
  await Deno.rename(copy, database);
  const second = await fixture.start();
  await second.ready;
  assertEquals((await second.logged("directory.restored"))["level"], "error");
  for (const path of ["/jwks", "/status", "/participants", "/participants/SHOP/jwks", "/health"]) {
    const answer = await fetch(`${fixture.url}${path}`);
    await answer.body?.cancel();
    assertEquals(answer.status, 503, path);
  }
  assertEquals(await revokedKids(fixture), 503);
  assertEquals((await asked(fixture, "GET", "/restored")).restored, true);

  const lost = first.lines.filter(({ event, administrator, method }) =>
    event === "directory.answered" && administrator === "ana" && method !== "GET"
  );
  assertEquals(lost.map(({ path }) => path), ["/participants", revocation]);
  await asked(fixture, "POST", revocation, { reason: "lost" });
  assertEquals(await asked(fixture, "POST", "/restored/confirm"), { restored: false });
  assertEquals(await revokedKids(fixture), [jwks.keys[0]?.kid]);
  assertEquals((await second.logged("directory.restore_confirmed"))["administrator"], "ana");
  await stopped(second);

  const third = await fixture.start();
  await third.ready;
  assertEquals(await revokedKids(fixture), [jwks.keys[0]?.kid], "a confirmation lasts");
  await stopped(third);
});
