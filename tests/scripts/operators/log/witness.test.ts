import { operationsTools } from "support/operations_tools.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeJwt } from "jose";
import { type Hash, hashText, treeHead } from "../../../../src/base/merkle/tree.ts";
import { provesInclusion } from "../../../../src/base/merkle/verify.ts";
import { historyOf } from "../../../../src/platform/evidence/audit_trail.ts";
import { leafHash } from "../../../../src/platform/evidence/evidence.ts";
import { bodyOf } from "testing/answers.ts";
import type { Checkpoint } from "../../../../scripts/operators/log/checkpoint.ts";
import { compareCheckpoints } from "../../../../scripts/operators/log/witness.ts";
import { logCommand, type LogTools } from "../../../../scripts/operators/log/main.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { copyOf, endHolds, goBackTo, restore } from "support/restored_store.ts";
import { forgetSharedTokens } from "testing/shared_token.ts";

interface Witness {
  /** Every checkpoint it has seen. */
  readonly file: { text: string };
  /** Runs the witness. Returns what it prints and whether the log holds. */
  look(): Promise<readonly [boolean | number, string]>;
  /** Acknowledges a restore. Returns what it prints. */
  acknowledge(epoch: string): Promise<string>;
}

function openWitness(env: Environment): Witness {
  const file = { text: "" };
  const printed: string[] = [];
  const tools: LogTools = {
    ...operationsTools(env),
    readText: () => Promise.resolve(file.text),
    appendText: (_, text) => Promise.resolve(void (file.text += text)),
    writeBytes: () => Promise.reject(new Error("a witness writes no other file")),
    print: (line) => void printed.push(line),
  };
  return {
    file,
    async look() {
      const args = ["witness", "--file", "seen", "--issuer", AUTH_URL, "--url", OPERATIONS_URL];
      return [await logCommand(args, tools), printed.splice(0).join("\n")];
    },
    async acknowledge(epoch) {
      await logCommand(["acknowledge", "--file", "seen", "--epoch", epoch], tools);
      return printed.splice(0).join("\n");
    },
  };
}

async function grow(env: Environment): Promise<number> {
  env.now += 1000;
  await env.platform.growLog();
  const answer = await env.asOperator("/operations/log/checkpoint", {}, "auditor");
  return (await bodyOf<{ readonly Data: { readonly Size: number } }>(answer)).Data.Size;
}

Deno.test("a witness accepts a log that grows, and a restore that is declared, and sees one that was rewritten [EV6, EV7, EV8]", async () => {
  await using env = await openEnvironment();
  const witness = openWitness(env);
  const flow = await authorised(env);
  const first = await grow(env);
  assertEquals(await witness.look(), [true, `ok: first checkpoint: ${first} leaves`]);
  const copy = await copyOf(env);
  await good(pay(env, flow), 201);
  const second = await grow(env);
  const grew = `ok: the log grew from ${first} to ${second} leaves and contains all ${first}`;
  assertEquals(await witness.look(), [true, grew]);
  const since = new Date(Math.floor(env.now / 1000) * 1000).toISOString();
  env.now += 60_000;
  assertEquals(await witness.look(), [true, `ok: the log is unchanged since ${since}: ${second} leaves`]);
  assertEquals(witness.file.text.split("\n").length, 3);

  await goBackTo(env, copy); // as if the payment had never been
  await authorised(env);
  await authorised(env);
  const forged = await grow(env);
  const contradiction =
    `CONTRADICTION: the log of ${forged} leaves does not contain the ${second} leaves that were signed before`;
  assertEquals([forged > second, await witness.look()], [true, [false, contradiction]]);
  assertEquals(witness.file.text.split("\n").length, 3);

  await restore(env, copy);
  await grow(env);
  const lost = `it goes on from ${first} leaves, and ${
    second - first
  } leaves that were signed before are not in it`;
  const [status, words] = await witness.look();
  const epoch = /^epoch (\S+): compare it/m.exec(words)?.[1] ?? "";
  assertEquals([status, words.startsWith("RESTORED: the log declares a restore"), words.includes(lost)], [
    3,
    true,
    true,
  ], words);
  await grow(env);
  assertEquals((await witness.look())[0], 3); // until the auditor says that the restore is known
  await assertRejects(() => witness.acknowledge("another"), Error, "declares the epoch another");
  assertEquals((await witness.look())[0], 3);
  assertEquals(await witness.acknowledge(epoch), `ok: the restore ${epoch} is acknowledged`);
  assertEquals((await witness.look())[0], true);
});

Deno.test("a declared restore does not hide that the log was rewritten from before the copy [EV6, EV8]", async () => {
  await using env = await openEnvironment();
  const witness = openWitness(env);
  const empty = await copyOf(env);
  await authorised(env);
  const first = await grow(env);
  await witness.look();
  await authorised(env);
  await authorised(env);
  const second = await grow(env);
  await witness.look();
  await goBackTo(env, empty); // everything that the witness has seen is replaced
  forgetSharedTokens(env);
  await authorised(env);
  await authorised(env);
  const forged = await grow(env);
  assert(first <= forged && forged <= second);
  await restore(env, await copyOf(env));
  await grow(env);
  const words = `the log declares a restore from a copy with ${forged} leaves, and does not contain the ` +
    `${first} leaves that were signed before the copy was taken`;
  assertEquals(await witness.look(), [false, `CONTRADICTION: ${words}`]);
});

Deno.test("a witness accepts two restores, one after the other [EV6, EV8]", async () => {
  await using env = await openEnvironment();
  const witness = openWitness(env);
  await authorised(env);
  await grow(env);
  const oldest = await copyOf(env);
  for (const copy of [undefined, oldest]) { // leaves that the next restore cuts off
    if (copy !== undefined) await restore(env, copy);
    await endHolds(env);
    for (let times = 0; times < 2; times++) {
      await authorised(env);
      await grow(env);
      assert((await witness.look())[0] !== false);
    }
  }
  await restore(env, oldest);
  await grow(env);
  const [holds, words] = await witness.look();
  assertEquals([holds, words.startsWith("RESTORED: the log declares a restore")], [3, true], words);
});

const ROOT = treeHead([]);

/** A checkpoint, and its restore from a copy of the time 200 with two leaves. */
const at = (iat: number, size: number, epoch?: string): Checkpoint => ({
  iss: AUTH_URL,
  cell: "home",
  iat,
  size,
  root: ROOT.with(0, size),
  ...(epoch === undefined ? {} : { restored: { epoch, at: iat, copy_taken_at: 200, size: 2 } }),
});

Deno.test("a log cannot declare a restore again that it declared before another one, acknowledged or not [EV8]", async () => {
  const kept = [at(200, 40), at(300, 30, "first"), at(400, 20, "second")];
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);
  for (const [epoch, holds] of [["third", true], ["second", false], ["first", false]] as const) {
    assertEquals((await compareCheckpoints(kept, at(500, 10, epoch), nothing)).holds, holds, epoch);
  }
});

Deno.test("a copy that was taken after a checkpoint, and has fewer leaves, is a contradiction [EV8]", async () => {
  const contains = (from: number): Promise<readonly Hash[] | undefined> =>
    Promise.resolve(from > 2 ? undefined : []);
  for (const [signed, holds] of [[100, false], [199, false], [200, true], [300, true]] as const) {
    const { holds: found, words } = await compareCheckpoints([at(signed, 40)], at(400, 3, "e"), contains);
    assertEquals(found, holds, words);
  }
});

Deno.test("the log proves an entry by its leaf hash and its time [EV3, EV7]", async () => {
  await using env = await openEnvironment();
  const { consentId } = await authorised(env);
  const size = await grow(env);
  const history = await historyOf(env.store, consentId);
  assert(history.length > 1);
  for (const entry of history) {
    const leaf = leafHash(consentId, entry);
    const path = `/operations/log/inclusion?leaf=${hashText(leaf)}&at=${entry.at}`;
    const { Data } = await bodyOf<{ readonly Data: Proven }>(await env.asOperator(path, {}, "viewer"));
    const { root } = decodeJwt<{ readonly root: string }>(Data.Checkpoint);
    assertEquals(Data.Size, size);
    assert(
      provesInclusion({ leaf, index: Data.Index, size, root: hashIn(root), proof: Data.Proof.map(hashIn) }),
    );
  }
});

const hashIn = (text: string): Hash => Uint8Array.fromBase64(text, { alphabet: "base64url" });

interface Proven {
  readonly Index: number;
  readonly Size: number;
  readonly Proof: readonly string[];
  readonly Checkpoint: string;
}

Deno.test("the log's proofs are refused for sizes, leaves and forms that it does not have [EV7]", async () => {
  await using env = await openEnvironment();
  const status = async (path: string): Promise<number> => {
    const answer = await env.asOperator(`/operations/log/${path}`, {}, "viewer");
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await status("checkpoint"), 404);
  await authorised(env);
  const size = await grow(env);
  assertEquals(await status(`consistency?from=1&to=${size}`), 200);
  assertEquals(await status(`consistency?from=${size}&to=1`), 404);
  assertEquals(await status(`consistency?from=1&to=${size + 1}`), 404);
  for (const query of ["", "?from=1", "?from=0&to=1", "?from=1&to=1e3", "?from=-1&to=2"]) {
    assertEquals(await status(`consistency${query}`), 400, query);
  }
  assertEquals(await status(`inclusion?leaf=${"A".repeat(43)}&at=1`), 404);
  for (const leaf of ["", "A".repeat(42), `${"A".repeat(42)}B`]) {
    assertEquals(await status(`inclusion?leaf=${leaf}&at=1`), 400, leaf);
  }
  for (const at of ["", "&at=", "&at=-1", "&at=1.5", "&at=1e3", `&at=${"1".repeat(16)}`]) {
    assertEquals(await status(`inclusion?leaf=${"A".repeat(43)}${at}`), 400, at);
  }
});

Deno.test("the log command needs a token and known arguments [EV8]", async () => {
  const tools: LogTools = {
    environment: () => undefined,
    fetch,
    readText: () => Promise.resolve(""),
    appendText: () => Promise.resolve(),
    writeBytes: () => Promise.reject(new Error("a witness writes no other file")),
    print: () => {},
  };
  await assertRejects(() => logCommand(["checkpoint"], tools), Error, "PLATFORM_OPS_TOKEN is not set");
  await assertRejects(() => logCommand(["witness", "--file", "x"], tools), Error, "--issuer");
  await assertRejects(() => logCommand([], tools), Error, "deno task log checkpoint");
});
