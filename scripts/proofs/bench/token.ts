/** What signatures and decryptions cost with keys in a token of SoftHSM 2 behind the signer, beside the same keys in a file. */
import { openSigner } from "../../../src/base/http/signer_client.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { signClaims } from "../../../src/base/jose/own_key.ts";
import { openSealed, seal } from "../../../src/base/jose/sealed_jwt.ts";
import { testKey } from "../../testing/keys.ts";
import { platformKeySet } from "../../testing/platform_keys.ts";
import { SoftHsm } from "../../testing/soft_hsm.ts";
import type { BenchOptions } from "./options.ts";
import { median } from "./rounds.ts";

const AT_ONCE = 8;

/** Medians of the rounds, of milliseconds of one call after the other, and calls a second with several at once. */
export interface KeyUse {
  readonly name: string;
  readonly ms: number;
  readonly perSecond: number;
}

/** @param requests calls of each kind a round, in which token and file take turns */
export async function measureToken(
  { requests, rounds }: Pick<BenchOptions, "requests" | "rounds">,
): Promise<KeyUse[]> {
  await using hsm = await SoftHsm.open();
  await hsm.importKeys();
  await (await hsm.serve()).ready;
  const signer = openSigner(hsm.socket);
  const rings = {
    file: await openKeyRing(await platformKeySet()),
    token: await openKeyRing(await signer.keySet(), undefined, signer),
  };
  const sealed = await seal("a.b.c", {
    kid: "platform-enc",
    key: await (await testKey(13)).publicKey("encrypt"),
  });
  const uses = Object.entries(rings).flatMap(([place, ring]) => [
    { name: `sign, ${place}`, call: () => signClaims({ iss: "platform" }, ring.signer) },
    { name: `decrypt, ${place}`, call: () => openSealed(sealed, ring.decrypters) },
  ]);
  const found = uses.map(({ name }) => ({ name, ms: [] as number[], perSecond: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, { call }] of uses.entries()) {
      found[index]?.ms.push(await millisecondsOf(call, requests));
      found[index]?.perSecond.push(1000 / await millisecondsOf(call, requests, AT_ONCE));
    }
  }
  return found.map(({ name, ms, perSecond }) => ({ name, ms: median(ms), perSecond: median(perSecond) }));
}

/** Of a call, with so many at once. */
async function millisecondsOf(call: () => Promise<unknown>, calls: number, atOnce = 1): Promise<number> {
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let count = 0; count < calls / atOnce; count++) await call();
  }));
  return (performance.now() - began) / calls;
}

/** The table as Markdown. */
export function tokenReport(found: readonly KeyUse[]): string {
  const lines = found.map(({ name, ms, perSecond }) =>
    `| ${name} | ${ms.toFixed(2)} | ${perSecond.toFixed(0)} |`
  );
  return [`| Use of a key | ms | A second, ${AT_ONCE} at once |`, "| --- | --- | --- |", ...lines, ""].join(
    "\n",
  );
}
