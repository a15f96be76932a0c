/** Bundles whose platform has made up evidence, or taken that of another case: they do not hold. */
import "reflect-metadata";
import { assert, assertMatch } from "@std/assert";
import canonicalize from "canonicalize";
import { bundleSchema } from "../../../../scripts/operators/case/bundle_schema.ts";
import { base64url } from "../../../../scripts/operators/case/signatures.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { openEnvironment } from "testing/environment.ts";
import { clientAssertion } from "testing/jwts.ts";
import { grownBundle, openJudge, printedThumbprints, settled, toolsFor } from "./bundles.ts";
import { find, forge, type Forged, put, SALT } from "./forging.ts";

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
        put(found, { bytes: base64url(new TextEncoder().encode("made up")), salt: SALT });
      });
      const [holds, said] = await judged(forged, ...named);
      assert(!holds);
      assertMatch(said, new RegExp(`^DOES NOT HOLD: the ${kind} of .* is not signed$`, "m"));
    });
  }
  await t.step("a client assertion in the place of a payment request", async () => {
    const jwt = await clientAssertion(env, env.tpp, "BANKA");
    const forged = await forge(text, (bundle) => {
      put(find(bundle, "payment_request"), { bytes: base64url(new TextEncoder().encode(jwt)), salt: SALT });
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
