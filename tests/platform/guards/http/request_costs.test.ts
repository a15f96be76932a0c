/**
 * The cost of each request of a payment: at most two round trips of reads, one commit, and the operations of its floor.
 */
import { assert, assertEquals } from "@std/assert";
import { STAGES } from "../../../../scripts/proofs/bench/stages.ts";
import { meet } from "../../../../scripts/proofs/bench/flows.ts";
import { newFlow, type Parties, requestOf, STEPS } from "../../../../scripts/proofs/bench/steps.ts";
import { openCountedStore, type StoreCost } from "support/counted_store.ts";
import { type Cost, costOf } from "support/crypto_meter.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";

interface Costs {
  readonly store: StoreCost;
  readonly crypto: Cost;
  readonly hashed: number;
}

Deno.test("each request of a payment reads in two round trips at most, commits once and does what its floor does", async (t) => {
  const store = await openCountedStore();
  await using env = await openEnvironment({ store });
  const parties = await meet(env);
  await payment(env, parties, async (_name, send) => void await send()); // keys are remembered from here on
  await payment(env, parties, async (name, send) => {
    await t.step(name, async () => {
      const { store: { reads, commits, checks, writes, bytes }, crypto, hashed } = await costsOf(store, send);
      const floor = STAGES.find((stage) => stage.name === name)?.floor;
      assert(reads <= 2, `${reads} round trips of reads`);
      assertEquals(commits, 1);
      // A symmetric key is wrapped inside jose: not counted here.
      const { encrypt: _, commitBytes, ...counted } = floor ?? { encrypt: 0, commitBytes: 0 };
      const { verified: verify, signed: sign, decrypted: decrypt } = crypto;
      assertEquals<unknown>({ verify, sign, decrypt, hash: hashed, writes, checks }, counted);
      assert(
        Math.abs(bytes - commitBytes) <= 150,
        `${bytes} bytes were written, the floor has ${commitBytes}`,
      );
    });
  });
});

/** Takes one payment through all steps; `around` decides what is looked at while a request is answered. */
async function payment(
  env: Environment,
  parties: Parties,
  around: (name: string, send: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const flow = newFlow(env);
  for (const step of STEPS) {
    const request = await requestOf(step, flow, parties);
    const host = new URL(request.url).origin === AUTH_URL ? "browser" : "api";
    let answer: Response | undefined;
    await around(step.name, async () => void (answer = await env.platform[host].fetch(request)));
    assertEquals(answer?.status, step.status, step.name);
    if (answer !== undefined) await step.take?.(flow, answer);
  }
}

async function costsOf(
  store: Awaited<ReturnType<typeof openCountedStore>>,
  send: () => Promise<void>,
): Promise<Costs> {
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  let hashed = 0;
  Reflect.set(subtle, "digest", (...given: Parameters<typeof digest>) => {
    hashed += 1;
    return digest(...given);
  });
  try {
    const { result, cost } = await store.costOf(() => costOf(send));
    return { store: cost, crypto: result.cost, hashed };
  } finally {
    Reflect.deleteProperty(subtle, "digest");
  }
}
