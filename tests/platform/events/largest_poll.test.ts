/** The most that one poll may acknowledge and report: it is one commit (contract EVT4, EVT6). */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId, ConsentId } from "../../../src/base/kernel/identifiers.ts";
import { eventRecord } from "../../../src/platform/events/event.ts";
import { eventKey } from "../../../src/platform/config/store_keys.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { poll, waiting } from "./poll.ts";

/** Stores events of the TPP at BANKA, and returns their `jti` in order. */
async function storeEvents(env: Environment, count: number): Promise<readonly string[]> {
  const consentId = crypto.randomUUID() as ConsentId;
  const places = Array.from(
    { length: count },
    (_, n) => ({ position: env.now + n, id: crypto.randomUUID() }),
  );
  for (const { position, id } of places) {
    const tx = { writes: [] };
    const key = eventKey(env.tpp.clientId as ClientId, "BANKA" as BankCode, position, id);
    const times = { at: env.now, stagedAt: env.now };
    eventRecord.set(tx, key, { type: "consent-rejected", consentId, status: "Rejected", ...times });
    await env.store.commit({ checks: [], ...tx });
  }
  return places.map(({ position, id }) => `${position}-${id}`);
}

Deno.test("a poll with 500 acknowledgements and 90 errors of stored events is one commit [EVT4, EVT6]", async () => {
  await using env = await openEnvironment();
  const jtis = await storeEvents(env, 590);
  const failed = jtis.slice(500);
  const setErrs = Object.fromEntries(failed.map((jti) => [jti, { err: "invalid_key", description: "x" }]));
  await good(poll(env, { ack: jtis.slice(0, 500), setErrs, maxEvents: 0 }), 200);
  assertEquals(await waiting(env), []);
  env.now += 1000;
  assertEquals((await waiting(env)).map(({ jti }) => jti), failed.slice(0, 50));
});
