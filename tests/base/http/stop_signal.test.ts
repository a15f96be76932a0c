/** SIGHUP renews the keys of a process. */
import process from "node:process";
import { assertEquals } from "@std/assert";
import { onHangUp } from "../../../src/base/http/stop_signal.ts";
import { openStatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { jwkThumbprint } from "../../../src/base/jose/rsa_key.ts";
import { testKey } from "testing/keys.ts";

async function keySet(number: number): Promise<{ readonly kid: string; readonly json: string }> {
  const { privateJwk } = await testKey(number);
  const kid = await jwkThumbprint(privateJwk as Parameters<typeof jwkThumbprint>[0]);
  return { kid, json: JSON.stringify({ keys: [{ ...privateJwk, use: "sig", kid }] }) };
}

Deno.test("of several SIGHUPs at once the last one counts, though the first one reads longer [A11, E2]", async () => {
  const [start, former, next] = [await keySet(0), await keySet(1), await keySet(2)];
  const keys = await openStatementKeys(start.json, () => 0);
  const slow = Promise.withResolvers<string>();
  const files = [slow.promise, Promise.resolve(next.json)];
  const renewed: string[] = [];
  const done = Promise.withResolvers<void>();
  onHangUp(async () => {
    await keys.renew(await files.shift() ?? "");
    if (renewed.push(keys.signer.kid) === 2) done.resolve();
  });
  try {
    process.emit("SIGHUP", "SIGHUP");
    await Promise.resolve();
    process.emit("SIGHUP", "SIGHUP");
    process.emit("SIGHUP", "SIGHUP");
    slow.resolve(former.json);
    await done.promise;
  } finally {
    process.removeAllListeners("SIGHUP");
  }
  assertEquals([renewed, keys.signer.kid], [[former.kid, next.kid], next.kid]);
});
