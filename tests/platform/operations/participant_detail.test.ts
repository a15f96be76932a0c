/** One participant as operators see it: addresses, keys, certificates and last use. */
import { assert, assertEquals } from "@std/assert";
import type { ParticipantDetail } from "testing/operation_answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { clientToken, good } from "testing/flows.ts";
import { changeAs } from "testing/operators.ts";

const DAY_MS = 86_400_000;

async function detail(env: Environment, id: string): Promise<ParticipantDetail["Data"]> {
  return (await good<ParticipantDetail>(env.asOperator(`/operations/participants/${id}`, {}, "viewer"), 200))
    .Data;
}

async function pageOf(env: Environment, id: string): Promise<string> {
  const browser = await openConsole(env, "viewer");
  return (await browser.get(`/console/participants/${id}`)).html;
}

Deno.test("operators see a participant's addresses, keys, certificates and the end of its statement [OP19]", async () => {
  await using env = await openEnvironment();
  const found = await detail(env, env.tpp.clientId);
  assertEquals([found.ClientId, found.OrganisationId, found.DirectoryStatus], [
    env.tpp.clientId,
    env.tpp.orgId,
    "active",
  ]);
  assert(found.RedirectUri.length > 0 && found.JwksUri.startsWith("https://directory.example/"));
  assertEquals(found.Key?.map(({ Use }) => Use).toSorted(), ["sig", "tls"]);
  const ends = (found.Key ?? []).map(({ CertificateUntilDateTime: end }) => Date.parse(end ?? ""));
  assert(ends?.every((end: number) => end > env.now), JSON.stringify(found.Key));
  assert(Date.parse(found.StatementUntilDateTime ?? "") > env.now);
  const html = await pageOf(env, env.tpp.clientId);
  for (const { KeyId } of found.Key ?? []) assert(html.includes(KeyId));
  assert(html.includes(found.JwksUri) && !html.includes("Expires soon") && !html.includes("block"));
  env.now = Math.min(...ends, Date.parse(found.StatementUntilDateTime ?? "")) - 10 * DAY_MS;
  assert((await pageOf(env, env.tpp.clientId)).includes("Expires soon"));
});

Deno.test("operators see the day of a participant's last request, for 30 days [OP19]", async () => {
  await using env = await openEnvironment();
  await env.platform.writeFigures();
  const other = await detail(env, env.otherTpp.clientId);
  env.now += DAY_MS;
  await clientToken(env, env.tpp, "BANKA");
  await env.platform.writeFigures();
  const today = new Date(env.now).toISOString().slice(0, 10);
  assertEquals((await detail(env, env.tpp.clientId)).LastUseDate, today);
  assertEquals((await detail(env, env.otherTpp.clientId)).LastUseDate, other.LastUseDate);
  env.now += 30 * DAY_MS;
  assertEquals((await detail(env, env.tpp.clientId)).LastUseDate, today);
  env.now += DAY_MS;
  assertEquals((await detail(env, env.tpp.clientId)).LastUseDate, undefined);
  assert((await pageOf(env, env.tpp.clientId)).includes("None in the last 30 days"));
});

Deno.test("keys that cannot be read are left out, and no other id finds a participant [OP19]", async () => {
  await using env = await openEnvironment();
  env.network = () => Promise.reject(new TypeError("the directory is away"));
  for (const { key } of await env.store.list({ prefix: ["kept_copy"], limit: 100 })) {
    await env.store.commit({ checks: [], writes: [{ kind: "delete", key }] });
  }
  env.now += 3_600_000;
  const found = await detail(env, env.tpp.clientId);
  assertEquals([found.Key, found.ClientId], [undefined, env.tpp.clientId]);
  assert((await pageOf(env, env.tpp.clientId)).includes("cannot be read now"));
  for (const id of [`${env.tpp.clientId.slice(0, -1)}0`, "SHOP", "%00"]) {
    const { status, body } = await env.asOperator(`/operations/participants/${id}`);
    await body?.cancel();
    if (id !== env.tpp.clientId) assertEquals(status, 404, id);
  }
});

Deno.test("the page of a blocked participant has the reason of this block, however often it was blocked before [OP19]", async () => {
  await using env = await openEnvironment();
  const id = env.tpp.clientId;
  const writes = Array.from({ length: 200 }, (_, n) => ({
    kind: "set" as const,
    key: ["audit", `software ${id}`, String(n).padStart(15, "0")],
    value: {
      at: n,
      event: "participant.blocked",
      actor: "operator maria",
      reason: "An old suspicion.",
      sequence: n + 1,
      salt: "c2FsdA",
      v: 1,
    },
  }));
  await env.store.commit({ checks: [], writes });
  await good(changeAs(env, `/software/${id}/block`, { Reason: "Fraud is suspected, case 4711." }), 200);
  const browser = await openConsole(env);
  const { html } = await browser.get(`/console/participants/${id}`);
  assert(html.includes("Fraud is suspected, case 4711.") && !html.includes("An old suspicion."), html);
});
