/** Who signed what: the platform, the TPP and the bank cannot sign in one another's place. */
import "reflect-metadata";
import { assert, assertEquals, assertMatch } from "@std/assert";
import canonicalize from "canonicalize";
import { decodeJwt } from "jose";
import { bundleSchema, type Key } from "../../../../scripts/operators/case/bundle_schema.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { openEnvironment } from "testing/environment.ts";
import { signJwt } from "testing/jwts.ts";
import { type TestKey, testKey } from "testing/keys.ts";
import { grownBundle, openJudge, printedThumbprints, settled, toolsFor } from "./bundles.ts";

/** The bundle with other keys of the platform, and its statement and checkpoint signed anew by one of them. */
async function forged(text: string, keys: readonly Key[], signer: TestKey): Promise<string> {
  const { statement, checkpoint, ...rest } = bundleSchema.parse(JSON.parse(text));
  const by = { key: signer, kid: keys[0]?.kid ?? "" };
  const resigned = { typ: "evidence-log-checkpoint+jwt" };
  const signed = { ...rest, keys, checkpoint: await signJwt(by, decodeJwt(checkpoint), resigned) };
  const claims = { ...decodeJwt(statement), bundle_sha256: await sha256(canonicalize(signed) ?? "") };
  const again = await signJwt(by, claims, { typ: "evidence-bundle+jwt" });
  return `${canonicalize({ ...signed, statement: again })}\n`;
}

Deno.test("a bundle says who signed what, and holds only with keys of the named parties [EV11]", async (t) => {
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  const text = await grownBundle(env, paymentId);
  const judged = openJudge(toolsFor(env.platform));
  const [, words] = await judged(text);
  const { platform, TPP, bank } = printedThumbprints(words);
  const named = ["--platform", platform, "--tpp", TPP, "--bank", bank] as const;
  const bundle = bundleSchema.parse(JSON.parse(text));
  const published = (thumbprint: string): Key =>
    bundle.documents.flatMap((document) => document.startsWith("{") ? [JSON.parse(document) as Key] : [])
      .find((key) => key["x5t#S256"] === thumbprint) ?? ({} as Key);
  await t.step("each party's signatures are named", async () => {
    assertMatch(words, /^signed by the platform: checkpoint, handover, statement$/m);
    assertMatch(words, /^signed by the TPP: consent_request, payment_request$/m);
    assertMatch(words, /^signed by the bank: sca_result, status_report$/m);
    assertMatch(words, /^not signed: decision, pushed_request$/m);
    assertMatch(words, /comma separated: --platform, --tpp, --bank$/);
    assertMatch(
      (await judged(text, ...named))[1],
      /\nevery key leads to a certificate that you have named for/,
    );
    assertMatch((await judged(text, ...named.slice(2)))[1], /comma separated: --platform$/);
  });
  await t.step("another certificate", async () => {
    const [holds, faults] = await judged(text, ...named, "--bank", "A".repeat(43));
    assert(!holds);
    assertMatch(
      faults,
      /^DOES NOT HOLD: O=Bank A plc.* signed sca_result, status_report, and leads to none of --bank; its chain lacks the certificate of /,
    );
  });
  for (const [party, signer, thumbprint] of [["TPP", env.tpp, TPP], ["bank", env.bankA, bank]] as const) {
    await t.step(`the ${party} signs in the place of the platform`, async () => {
      const key = published(thumbprint);
      assertEquals(key.n, signer.signing.key.publicJwk.n);
      const file = await forged(text, [key], signer.signing.key);
      const [holds, faults] = await judged(file, ...named);
      assert(!holds);
      assertMatch(faults, /signed checkpoint, statement, and leads to none of --platform/);
      assertMatch(
        (await judged(file))[1],
        /^DOES NOT HOLD: the platform and the (TPP|bank) signed with the same/m,
      );
    });
  }
  await t.step("a key without a certificate", async () => {
    const own = bundle.keys.map(({ x5c: _, "x5t#S256": __, ...key }): Key => key);
    const file = await forged(text, own, await testKey(12));
    const [holds, faults] = await judged(file, ...named);
    assert(!holds);
    assertMatch(
      faults,
      /^DOES NOT HOLD: the key \S+ signed checkpoint, statement and has no certificate, so /m,
    );
    assertMatch((await judged(file))[1], /^ {2}nothing here says whose this is: \S+ has no certificate$/m);
  });
  await t.step("evidence of an unknown kind is signed", async () => {
    const [holds, faults] = await judged(text.replaceAll('"kind":"sca_result"', '"kind":"later_kind"'));
    assert(!holds);
    assertMatch(
      faults,
      /^DOES NOT HOLD: the later_kind of .* is signed, and this program does not know who signs it$/m,
    );
  });
});
