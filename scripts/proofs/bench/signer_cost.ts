/**
 * What a signature and a decryption cost with keys in a token of SoftHSM 2 behind the signer, beside the same keys in a
 * file: `deno run --allow-read --allow-write --allow-env --allow-run --allow-net scripts/proofs/bench/signer_cost.ts`.
 */
import { openSigner } from "../../../src/base/http/signer_client.ts";
import { type KeyRing, openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { openSealed, seal } from "../../../src/base/jose/sealed_jwt.ts";
import { signClaims } from "../../../src/base/jose/sign_claims.ts";
import { printLine } from "../../command_line/print.ts";
import { testKey } from "../../testing/keys.ts";
import { platformKeySet } from "../../testing/platform_keys.ts";
import { SoftHsm } from "../../testing/soft_hsm.ts";

const CALLS = 400;
const AT_ONCE = 8;

/** Median milliseconds of calls one after the other, and calls a second with several at once. */
async function measure(call: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let count = 0; count < CALLS; count++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let count = 0; count < CALLS / AT_ONCE; count++) await call();
  }));
  const perSecond = CALLS / ((performance.now() - began) / 1000);
  const median = times.toSorted((left, right) => left - right)[CALLS / 2] ?? 0;
  return `${median.toFixed(1)} ms, ${Math.round(perSecond)} a second with ${AT_ONCE} at once`;
}

if (import.meta.main) {
  await using hsm = await SoftHsm.open();
  await hsm.importKeys();
  await (await hsm.serve()).ready;
  const signer = openSigner(hsm.socket);
  const rings: Readonly<Record<string, KeyRing>> = {
    file: await openKeyRing(await platformKeySet()),
    token: await openKeyRing(await signer.keySet(), undefined, signer),
  };
  const recipient = { kid: "platform-enc", key: await (await testKey(13)).publicKey("encrypt") };
  const sealed = await seal("a.b.c", recipient);
  for (const [name, ring] of Object.entries(rings)) {
    printLine(`${name} sign: ${await measure(() => signClaims({ iss: "platform" }, ring.signer))}`);
    printLine(`${name} decrypt: ${await measure(() => openSealed(sealed, ring.decrypters))}`);
  }
}
