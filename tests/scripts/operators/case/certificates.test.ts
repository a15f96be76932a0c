/** Faults of certificate chains in bundles: the verification names the certificate and what is wrong with it. */
import "reflect-metadata";
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from "@peculiar/x509";
import { certificatesOf, chainFaults } from "../../../../scripts/operators/case/certificates.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import type { Key } from "../../../../scripts/operators/case/bundle_schema.ts";
import { openEnvironment } from "testing/environment.ts";
import { type TestKey, testKey } from "testing/keys.ts";
import { issue, selfSignedAuthority, type TlsIdentity } from "testing/web_authority.ts";
import { grownBundle, settled, toolsFor } from "./bundles.ts";

const NOW = Date.now();
const AUTHORITY = [
  new BasicConstraintsExtension(true, undefined, true),
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
];

interface Made {
  readonly root: TlsIdentity;
  readonly middle: TlsIdentity;
  readonly leaf: TlsIdentity;
  readonly keys: Readonly<Record<"root" | "middle" | "leaf", TestKey>>;
}

async function makeChain(): Promise<Made> {
  const keys = { root: await testKey(10), middle: await testKey(11), leaf: await testKey(12) };
  const root = await selfSignedAuthority("CN=Root", keys.root);
  const middle = await issue(root, keys.root, keys.middle, { subject: "CN=Middle", extensions: AUTHORITY });
  const leaf = await issue(middle, keys.middle, keys.leaf, { subject: "CN=Signer" });
  return { root, middle, leaf, keys };
}

function keyWith(
  key: TestKey,
  chain: readonly TlsIdentity[],
  more: Readonly<Record<string, string>> = {},
): Key {
  const { n, e } = key.publicJwk;
  const x5c = chain.map(({ certificatePem }) =>
    new Uint8Array(new X509Certificate(certificatePem).rawData).toBase64()
  );
  return { kty: "RSA", kid: "k", n, e, x5c, ...more } as Key;
}

async function sha256Of({ certificatePem }: TlsIdentity): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new X509Certificate(certificatePem).rawData);
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A chain, and the one thing that the verification says about it. */
const FAULTY: Readonly<Record<string, readonly [(made: Made) => Promise<readonly string[]>, RegExp]>> = {
  "expired at the time": [async ({ keys, middle, root }) => {
    const order = { subject: "CN=Signer", notAfter: new Date(NOW - 1000) };
    const leaf = await issue(middle, keys.middle, keys.leaf, order);
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW);
  }, /^has the certificate CN=Signer, which expired at \S+Z, before \S+Z$/],
  "not valid yet": [async ({ keys, middle, root }) => {
    const order = { subject: "CN=Signer", notBefore: new Date(NOW + 1000) };
    const leaf = await issue(middle, keys.middle, keys.leaf, order);
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW);
  }, /^has the certificate CN=Signer, which was valid only from \S+Z, after \S+Z$/],
  "an issuer that had expired": [async ({ keys, root }) => {
    const order = { subject: "CN=Middle", extensions: AUTHORITY, notAfter: new Date(NOW - 1000) };
    const middle = await issue(root, keys.root, keys.middle, order);
    const leaf = await issue(middle, keys.middle, keys.leaf, { subject: "CN=Signer" });
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW);
  }, /^has the certificate CN=Middle, which expired at/],
  "a wrong issuer": [async ({ keys, leaf }) => {
    const other = await selfSignedAuthority("CN=Other", await testKey(13));
    return await chainFaults(keyWith(keys.leaf, [leaf, other]), NOW);
  }, /^has the certificate CN=Signer, which CN=Middle issued, and the next one of the chain is of CN=Other$/],
  "an issuer of the right name with another key": [async ({ keys, leaf }) => {
    const forged = await selfSignedAuthority("CN=Middle", await testKey(13));
    return await chainFaults(keyWith(keys.leaf, [leaf, forged]), NOW);
  }, /^has the certificate CN=Signer, which the key of CN=Middle has not signed$/],
  "an issuer that is no authority": [async ({ keys, root }) => {
    const middle = await issue(root, keys.root, keys.middle, { subject: "CN=Middle" });
    const leaf = await issue(middle, keys.middle, keys.leaf, { subject: "CN=Signer" });
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW);
  }, /^has the certificate CN=Signer, which was issued by CN=Middle, which is no certificate authority$/],
  "an authority that may not sign certificates": [async ({ keys, root }) => {
    const usage = new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true);
    const extensions = [new BasicConstraintsExtension(true, undefined, true), usage];
    const middle = await issue(root, keys.root, keys.middle, { subject: "CN=Middle", extensions });
    const leaf = await issue(middle, keys.middle, keys.leaf, { subject: "CN=Signer" });
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW);
  }, /no certificate authority$/],
  "a certificate in the middle was taken out": [
    ({ keys, leaf, root }) => chainFaults(keyWith(keys.leaf, [leaf, root]), NOW),
    /which CN=Middle issued, and the next one of the chain is of CN=Root$/,
  ],
  "a replaced certificate of the same key": [async ({ keys, leaf, middle, root }) => {
    const other = await issue(middle, keys.middle, keys.leaf, { subject: "CN=Somebody" });
    const published = { "x5t#S256": await sha256Of(leaf) };
    return await chainFaults(keyWith(keys.leaf, [other, middle, root], published), NOW);
  }, /^has another certificate than the one that it was published with/],
  "a certificate of another key": [
    ({ keys, leaf, middle, root }) => chainFaults(keyWith(keys.root, [leaf, middle, root]), NOW),
    /^has a certificate of another key$/,
  ],
  "revoked before": [async ({ keys, leaf, middle, root }) => {
    const revoked = new Map([[await sha256Of(leaf), NOW - 1000]]);
    return await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW, revoked);
  }, /^has the certificate CN=Signer, which was revoked at \S+Z, before \S+Z$/],
  "not a certificate": [
    ({ keys }) => chainFaults({ ...keyWith(keys.leaf, []), x5c: ["AAAA"] }, NOW),
    /^has a certificate that cannot be read$/,
  ],
  "no certificate": [
    ({ keys }) => chainFaults(keyWith(keys.leaf, []), NOW),
    /^has a certificate that cannot be read$/,
  ],
  "no list": [
    ({ keys }) => chainFaults({ ...keyWith(keys.leaf, []), x5c: "AAAA" } as Key, NOW),
    /^has a certificate that cannot be read$/,
  ],
};

Deno.test("the verification names the certificate of a chain that is faulty, and why [EV11]", async (t) => {
  const made = await makeChain();
  const { keys, leaf, middle, root } = made;
  for (const [name, [chain, expected]] of Object.entries(FAULTY)) {
    await t.step(name, async () => {
      const faults = await chain(made);
      assertEquals(faults.length, 1, faults.join("\n"));
      assertMatch(faults[0] ?? "", expected);
    });
  }
  await t.step("a whole chain, and one revoked later, have no fault", async () => {
    const revoked = new Map([[await sha256Of(leaf), NOW + 1000]]);
    assertEquals(await chainFaults(keyWith(keys.leaf, [leaf, middle, root]), NOW, revoked), []);
  });
  await t.step("a chain may be cut at its end, and its last certificate names the issuer", async () => {
    const cut = keyWith(keys.leaf, [leaf]);
    assertEquals(await chainFaults(cut, NOW), []);
    const sha256 = await sha256Of(leaf);
    assertEquals(certificatesOf(cut), [{ subject: "CN=Signer", issuer: "CN=Middle", sha256 }]);
  });
});

Deno.test("a bundle does not hold with a certificate that was revoked before or expired [EV11]", async (t) => {
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  const made = env.now;
  const text = await grownBundle(env, paymentId);
  const tools = toolsFor(env.platform);
  tools.files.set("case.json", text);
  const judged = async (...options: readonly string[]): Promise<readonly [boolean, string]> => {
    const holds = await caseCommand(["verify", "case.json", ...options], tools);
    return [holds, tools.printed.splice(0).join("\n")];
  };
  const [holds, words] = await judged();
  assert(holds);
  const [, subject = "", sha256 = ""] = /^ {2}(O=Example Shop.*), SHA-256 (\S+)$/m.exec(words) ?? [];
  const revokedAt = (at: number): string =>
    JSON.stringify({ keys: [{ "x5t#S256": sha256, revoked_at: new Date(at).toISOString() }] });
  await t.step("revoked before the payment", async () => {
    tools.files.set("revoked.json", revokedAt(made - 1000));
    const [isGood, faults] = await judged("--revoked", "revoked.json");
    assert(!isGood);
    assertMatch(
      faults,
      /^DOES NOT HOLD: the key of the consent_request of entry 1 of \S+ \(\S+\) has the certificate /m,
    );
    assert(faults.includes(`has the certificate ${subject}, which was revoked at`), faults);
  });
  await t.step("revoked after the payment", async () => {
    tools.files.set("revoked.json", revokedAt(made + 1000));
    assert((await judged("--revoked", "revoked.json"))[0]);
  });
  await t.step("names in the file do not move the cursor of a terminal", async () => {
    tools.files.set("case.json", text.replaceAll("consent.Authorized", "consent.\\u001b[1A"));
    const [isGood, faults] = await judged();
    assert(!isGood && !faults.includes("\u001b") && faults.includes("\\u{1b}[1A"), faults);
  });
  await t.step("signed by the platform with an expired certificate", async () => {
    env.now = Date.UTC(2047, 0, 1);
    tools.files.set("case.json", await grownBundle(env, paymentId));
    const [isGood, faults] = await judged();
    assert(!isGood);
    assertMatch(
      faults,
      /the platform's key \S+ has the certificate CN=platform signing, which expired at 2046/,
    );
  });
});
