/** What each published key is used for, and what the participant is told of another kid (contract DC15, DC17). */
import { assertEquals } from "@std/assert";
import { testKey } from "testing/keys.ts";
import {
  importKeySet,
  type KeySet as UsableKeys,
  kidFault,
  readKeySet,
} from "../../../../src/platform/core/participants/participant_keys.ts";

Deno.test("what each published key is used for, by use, alg, key_ops and kid [DC15, DC17, A10, A11]", async () => {
  const [one, two] = [(await testKey(10)).publicJwk, (await testKey(11)).publicJwk];
  const uses = async (active: readonly unknown[], revoked: readonly unknown[] = []): Promise<string> => {
    const set = await importKeySet(active, revoked);
    assertEquals(set.published, { active, revoked });
    const encryption = set.encryption.map(({ kid, key }) => `${kid} ${key.usages}`);
    return `sig ${[...set.signing.keys()]} tls ${set.transport.size} enc ${encryption}`;
  };
  const [sig, tls, enc] = ["sig", "tls", "enc"].map((use) => ({ ...one, use, kid: use }));
  const rows:
    readonly (readonly [active: readonly unknown[], expected: string, revoked?: readonly unknown[]])[] = [
      [[sig], "sig sig tls 0 enc "],
      [[tls], "sig  tls 1 enc tls encrypt"],
      [[enc], "sig  tls 0 enc enc encrypt"],
      [[tls, enc, { ...two, use: "enc", kid: "e2" }], "sig  tls 1 enc e2 encrypt,enc encrypt"],
      [[tls, { ...tls, kid: "same key" }], "sig  tls 1 enc same key encrypt,tls encrypt"],
      [[{ ...sig, alg: "PS256" }, { ...sig, kid: "rs", alg: "RS256" }], "sig sig tls 0 enc "],
      [[{ ...tls, alg: "RS256" }, { ...enc, alg: "RSA-OAEP-256" }], "sig  tls 1 enc enc encrypt"],
      [[{ ...sig, key_ops: ["verify"] }, { ...sig, kid: "s", key_ops: ["sign"] }], "sig sig tls 0 enc "],
      [[{ ...sig, key_ops: "sign" }, { ...tls, key_ops: ["sign"] }], "sig sig tls 1 enc tls encrypt"],
      [[{ ...sig, kid: "" }, { ...sig, kid: 5 }, { ...sig, kid: undefined }], "sig  tls 0 enc "],
      [[{ ...sig, use: "ver" }, { ...sig, n: "AA" }, null, "sig"], "sig  tls 0 enc "],
      [[{ ...sig, kid: "a==" }, { ...two, use: "sig", kid: "b" }], "sig a,b tls 0 enc "],
      [[{ ...sig, kid: "a=" }, { ...two, use: "sig", kid: "a" }], "sig  tls 0 enc "],
      [[sig, tls, enc], "sig sig tls 1 enc tls encrypt", [{ kid: "enc=" }, null, { kid: 5 }]],
      [[sig, tls, enc], "sig  tls 0 enc enc encrypt", [{ kid: "sig" }, { kid: "tls" }]],
    ];
  for (const [active, expected, revoked] of rows) {
    assertEquals(await uses(active, revoked), expected, JSON.stringify(active));
  }
  const read = async (document: unknown): Promise<unknown> => {
    const set = await readKeySet(document);
    return set.ok ? [...set.value.signing.keys()] : set.fault.why;
  };
  assertEquals(await read({ active: [sig, { ...two, use: "sig", kid: "r" }], revoked: [{ kid: "r" }] }), [
    "sig",
  ]);
  for (
    const wrong of [
      { active: [] },
      { revoked: [] },
      { active: {}, revoked: [] },
      { active: [], revoked: 1 },
      null,
      1,
    ]
  ) {
    assertEquals(await read(wrong), "no kept key set", JSON.stringify(wrong));
  }
});

Deno.test("a fault of a kid names up to four of the participant's signing keys [G8]", () => {
  const expected = "the kid of your current signing key (use sig)";
  for (const [count, named] of [[0, ""], [1, ": 'a'"], [5, ": 'a' or 'b' or 'c' or 'd'"]] as const) {
    const signing = new Map(["a", "b", "c", "d", "e"].slice(0, count).map((kid) => [kid, {} as CryptoKey]));
    const { fault } = kidFault({ signing } as Partial<UsableKeys> as UsableKeys, undefined);
    assertEquals([fault.at, fault.expected], ["header kid", `${expected}${named}`]);
  }
  const published = {
    active: [
      { kid: "t", use: "tls" },
      { kid: "e=", use: "enc" },
      { kid: "x", use: "sig" },
      { use: "tls" },
      null,
    ],
    revoked: [{ kid: "r" }, { kid: "both" }],
  };
  const set = { signing: new Map(), published } as Partial<UsableKeys> as UsableKeys;
  const received = ["t", "e", "r=", "x", "new", 5].map((kid) => kidFault(set, kid).fault.received);
  assertEquals(received, [
    "'t', which is a transport key (use tls)",
    "'e', which is an encryption key (use enc)",
    "'r=', which is a revoked key",
    "'x'",
    "'new'",
    "5",
  ]);
});
