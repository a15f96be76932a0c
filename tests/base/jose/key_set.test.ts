/** Which key a kid names: `importKeySet` against the key attacks of contract J1 to J38 [J6, J7, J8, J35, J36]. */
import { assert, assertEquals } from "@std/assert";
import { importKeySet, normaliseKid } from "../../../src/platform/core/participants/participant_keys.ts";
import { smallTestKey, testKey } from "testing/keys.ts";
import { bytesOf } from "testing/raw_jws.ts";

const [first, second, third] = await Promise.all([0, 1, 2].map(async (n) => (await testKey(n)).publicJwk));

async function signingKids(keys: readonly unknown[], revoked: readonly unknown[] = []): Promise<string[]> {
  return [...(await importKeySet(keys, revoked)).signing.keys()];
}

Deno.test("importKeySet finds a signing key by its kid, and nothing by odd kids [J6]", async () => {
  const { signing } = await importKeySet([{ ...first, use: "sig", kid: "a" }], []);
  const data = bytesOf("signed");
  const pss = { name: "RSA-PSS", saltLength: 32 };
  const signature = await crypto.subtle.sign(pss, await (await testKey(0)).privateKey("sign"), data);
  const found = signing.get("a");
  assert(found !== undefined && await crypto.subtle.verify(pss, found, signature, data));
  for (
    const kid of [
      "",
      "b",
      "A",
      "../a",
      "' OR 1=1",
      "__proto__",
      "constructor",
      "toString",
      "k".repeat(10_000),
    ]
  ) {
    assertEquals(signing.get(normaliseKid(kid)), undefined, kid.slice(0, 20));
  }
});

Deno.test("importKeySet ignores padding of an x5t kid and nothing else [A11]", () => {
  assertEquals(normaliseKid("abc="), normaliseKid("abc"));
  assert(normaliseKid("abc") !== normaliseKid("abC"));
  assert(normaliseKid("a=bc") !== normaliseKid("abc"));
});

Deno.test("importKeySet lets a kid that two signing keys claim name neither [J8, DC15]", async () => {
  const two = [{ ...first, use: "sig", kid: "same" }, { ...second, use: "sig", kid: "same=" }];
  assertEquals(await signingKids(two), []);
  assertEquals(await signingKids([...two, { ...third, use: "sig", kid: "other" }]), ["other"]);
});

Deno.test("importKeySet keeps a kid shared by keys of other uses apart [J8]", async () => {
  const keys = [
    { ...first, use: "enc", kid: "same" },
    { ...second, use: "sig", kid: "same" },
    { ...third, use: "tls", kid: "same" },
  ];
  const set = await importKeySet(keys, []);
  assertEquals([[...set.signing.keys()], set.transport.size, set.encryption.length], [["same"], 1, 1]);
});

Deno.test("importKeySet leaves out revoked keys, whichever way the kid is padded [J35]", async () => {
  const keys = [{ ...first, use: "sig", kid: "a=" }, { ...second, use: "sig", kid: "b" }];
  assertEquals(await signingKids(keys, [{ kid: "a" }]), ["b"]);
  assertEquals(await signingKids(keys, [{ kid: "b==" }]), ["a"]);
});

Deno.test("importKeySet leaves out keys without the right use, alg or key_ops [J36]", async () => {
  const others: object[] = [
    {},
    { use: "SIG" },
    { use: ["sig"] },
    { use: "sig", alg: "RS256" },
    { use: "sig", alg: null },
    { use: "sig", key_ops: ["sign"] },
    { use: "sig", key_ops: [] },
    { use: "sig", kid: "" },
    { use: "sig", kid: 7 },
    { use: "sig", kid: undefined },
    { use: "sig", n: (await smallTestKey()).publicJwk.n },
    { use: "sig", d: "AQAB" },
  ];
  const keys = others.map((extra, index) => ({ ...first, kid: `k${index}`, ...extra }));
  assertEquals(await signingKids([...keys, null, "key", 1, [], { ...second, use: "sig", kid: "good" }]), [
    "good",
  ]);
});
