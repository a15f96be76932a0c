/** Bundles whose platform has made up evidence, or taken that of another case: they do not hold. */
import "reflect-metadata";
import { assert, assertMatch } from "@std/assert";
import canonicalize from "canonicalize";
import { decodeJwt } from "jose";
import { type BundleEntry, bundleSchema } from "../../../../scripts/operators/case/bundle_schema.ts";
import { bytesOf, digestOf, textOf } from "../../../../scripts/operators/case/signatures.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { inclusionPath } from "../../../../src/base/merkle/proofs.ts";
import { hashText, leafHash, treeHead } from "../../../../src/base/merkle/tree.ts";
import { openEnvironment } from "testing/environment.ts";
import { clientAssertion, signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { grownBundle, openJudge, printedThumbprints, settled, toolsFor } from "./bundles.ts";

type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };
type Forged = Mutable<ReturnType<typeof bundleSchema.parse>>;
type Entry = Forged["entries"][number];

/** The platform changes entries, and signs them anew with its own key, in a log of its own. */
async function forge(text: string, change: (bundle: Forged) => void | Promise<void>): Promise<string> {
  const bundle = bundleSchema.parse(JSON.parse(text)) as Forged;
  await change(bundle);
  for (const { record, bodies } of bundle.entries) {
    for (const [at, item] of (record.items ?? []).entries()) {
      const body = bodies[at];
      if (!body) continue;
      const [salt, bytes] = [bytesOf(body.salt ?? ""), bytesOf(body.bytes)];
      item.sha256 = textOf(digestOf(salt ?? "", digestOf(bytes ?? ""), digestOf(body.signature ?? "")));
    }
  }
  const leaves = bundle.entries.map(({ record }) =>
    leafHash(new TextEncoder().encode(canonicalize(record) ?? ""))
  );
  for (const [index, entry] of bundle.entries.entries()) {
    entry.index = index;
    entry.proof = inclusionPath(index, leaves.length)
      .map(({ start, end }) => hashText(treeHead(leaves.slice(start, end))));
  }
  const by = { key: await testKey(12), kid: bundle.keys[0]?.kid ?? "" };
  const { statement, checkpoint, ...rest } = bundle;
  const head = { ...decodeJwt(checkpoint), size: leaves.length, root: hashText(treeHead(leaves)) };
  const signed = { ...rest, checkpoint: await signJwt(by, head, { typ: "evidence-log-checkpoint+jwt" }) };
  const claims = { ...decodeJwt(statement), bundle_sha256: await sha256(canonicalize(signed) ?? "") };
  return `${
    canonicalize({ ...signed, statement: await signJwt(by, claims, { typ: "evidence-bundle+jwt" }) })
  }\n`;
}

function find(
  bundle: Forged,
  kind: string,
): { entry: Entry; item: NonNullable<Entry["record"]["items"]>[number]; at: number } {
  for (const entry of bundle.entries) {
    const at = (entry.record.items ?? []).findIndex((item) => item.kind === kind);
    const item = entry.record.items?.[at];
    if (item !== undefined) return { entry, item, at };
  }
  throw new Error(`no ${kind}`);
}

function put({ entry, at }: ReturnType<typeof find>, body: BundleEntry["bodies"][number]): void {
  entry.bodies[at] = body as Entry["bodies"][number];
}

Deno.test("a platform cannot make up the evidence of a TPP or a bank, or take it from another case [EV11]", async (t) => {
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  const second = await settled(env);
  const text = await grownBundle(env, paymentId);
  const other = bundleSchema.parse(JSON.parse(await grownBundle(env, second.paymentId))) as Forged;
  const tools = toolsFor(env.platform);
  const judged = openJudge(tools);
  const { platform, TPP, bank } = printedThumbprints((await judged(text))[1]);
  const named = ["--platform", platform, "--tpp", TPP, "--bank", bank];
  await t.step("the bundle that is signed anew, with nothing changed, holds", async () => {
    const [holds, said] = await judged(await forge(text, () => {}), ...named);
    assert(holds, said);
  });
  for (const kind of ["consent_request", "sca_result", "payment_request", "status_report"]) {
    await t.step(`a ${kind} that nobody has signed`, async () => {
      const forged = await forge(text, (bundle) => {
        const found = find(bundle, kind);
        delete found.item.key;
        put(found, { bytes: textOf(new TextEncoder().encode("made up")), salt: "" });
      });
      const [holds, said] = await judged(forged, ...named);
      assert(!holds);
      assertMatch(said, new RegExp(`^DOES NOT HOLD: the ${kind} of .* is not signed$`, "m"));
    });
  }
  await t.step("a client assertion in the place of a payment request", async () => {
    const jwt = await clientAssertion(env, env.tpp, "BANKA");
    const forged = await forge(text, (bundle) => {
      put(find(bundle, "payment_request"), { bytes: textOf(new TextEncoder().encode(jwt)), salt: "" });
    });
    const [holds, said] = await judged(forged, ...named);
    assert(!holds);
    assertMatch(said, /^DOES NOT HOLD: the signature of the payment_request of .* does not verify$/m);
  });
  for (const kind of ["sca_result", "payment_request", "handover"]) {
    await t.step(`the ${kind} of another case`, async () => {
      const forged = await forge(text, (bundle) => {
        const from = find(other, kind);
        put(find(bundle, kind), from.entry.bodies[from.at] ?? null);
      });
      const [holds, said] = await judged(forged, ...named);
      assert(!holds);
      assertMatch(said, new RegExp(`^DOES NOT HOLD: the ${kind} of .* is about another consent$`, "m"));
    });
  }
  await t.step("a key that is published once more, without its revoked certificate", async () => {
    const revoked_at = new Date(env.now + 100_000).toISOString();
    tools.files.set("revoked.json", JSON.stringify({ keys: [{ "x5t#S256": bank, revoked_at }] }));
    const forged = await forge(text, async (bundle) => {
      const { entry, item } = find(bundle, "status_report");
      entry.record.at += 200_000;
      for (const document of [...bundle.documents]) {
        if (await sha256(document) !== item.key) continue;
        const { x5c: _, "x5t#S256": __, ...bare } = JSON.parse(document) as Record<string, unknown>;
        const text = canonicalize(bare) ?? "";
        bundle.documents.push(text);
        item.key = await sha256(text);
      }
    });
    const [holds, said] = await judged(forged, ...named, "--revoked", "revoked.json");
    assert(!holds);
    assertMatch(said, /signed status_report and has no certificate, so it leads to none of --bank$/m);
  });
});
