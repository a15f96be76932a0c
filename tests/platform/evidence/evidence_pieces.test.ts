/** Pieces of evidence and documents as they are stored: their parts, digests and members, to the byte [EN1, EV2]. */
import { createHash } from "node:crypto";
import { assertEquals, assertThrows } from "@std/assert";
import { base64url } from "../../../src/base/kernel/identifiers.ts";
import type { JsonObject } from "../../../src/base/jose/compact_jws.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import { transact, type Transaction } from "../../../src/base/store/transaction.ts";
import {
  type AuditEntry,
  bodyDigest,
  canonicalEntry,
  type EvidenceBody,
  evidencePlace,
  leafHash,
  newSalt,
  sharedDocument,
} from "../../../src/platform/evidence/evidence.ts";
import {
  bodyOf,
  historyOf,
  piecesOf,
  placedHistoryOf,
  record,
  stageOutOfRows,
} from "../../../src/platform/evidence/audit_trail.ts";
import {
  bodyAt,
  documentAt,
  documentOfKey,
  evidenceRecord,
  ownSignerOf,
  rememberPublished,
  stageBody,
  stageBodyGone,
  stageDocument,
} from "../../../src/platform/evidence/evidence_store.ts";
import { evidenceKey } from "../../../src/platform/config/store_keys.ts";
import { testKey } from "testing/keys.ts";
import { openTestStore } from "testing/test_store.ts";

async function staged(store: Store, stage: (tx: Transaction) => void): Promise<readonly Write[]> {
  let writes: readonly Write[] = [];
  await transact({ store, clock: () => 0 }, { what: "evidence", attempts: 1 }, (tx) => {
    stage(tx);
    writes = [...tx.writes];
    return Promise.resolve();
  });
  return writes;
}

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => at % 251);

Deno.test("a body has a part of 30,000 bytes and one of 36,000, with signature and salt in the first, and is read as it was", async () => {
  await using store = await openTestStore();
  for (
    const [length, sizes] of [[0, [0]], [30_000, [30_000]], [30_001, [30_000, 1]], [66_000, [
      30_000,
      36_000,
    ]]] as const
  ) {
    const place = `case ${length}`;
    const body: EvidenceBody = { bytes: bytesOf(length), signature: "e30..c2ln", salt: newSalt() };
    const writes = await staged(store, (tx) => stageBody(tx, place, body));
    assertEquals(writes.map(({ key }) => key), sizes.map((_, part) => evidenceKey(place, part)));
    const stored = writes.map((write) => write.kind === "set" ? write.value as Record<string, string> : {});
    assertEquals(
      stored.map(({ bytes = "" }) => Uint8Array.fromBase64(bytes, { alphabet: "base64url" }).length),
      [...sizes],
    );
    assertEquals(stored.map(({ signature, salt }) => [signature, salt]), [
      [body.signature, body.salt],
      ...sizes.slice(1).map(() => [undefined, undefined]),
    ]);
    assertEquals(await bodyAt(store, place), body);
    const gone = await staged(store, (tx) => stageBodyGone(tx, place));
    assertEquals(gone, [0, 1].map((part) => ({ kind: "delete", key: evidenceKey(place, part) })));
    assertEquals(await bodyAt(store, place), null);
  }
  const tooLarge = (): void =>
    stageBody({ writes: [] as Write[] } as Transaction, "p", { bytes: bytesOf(66_001) });
  assertThrows(tooLarge, Error, "p is larger than evidence may be");
});

Deno.test("a part is a text if its bytes are one and base64url is not shorter, and its bytes are as they were", async () => {
  await using store = await openTestStore();
  const encoder = new TextEncoder();
  const texts = ["", '{"a":"bcdefghijklmnopqrst"}', "\ufeffé😀\n", "a".repeat(30_000)];
  const others = ["\0", "\u0001\u0002", "\ud800"].map((text) => encoder.encode(text));
  for (const bytes of [...texts.map((text) => encoder.encode(text)), ...others, Uint8Array.of(0xc3)]) {
    const [write] = await staged(store, (tx) => stageBody(tx, "p", { bytes }));
    const { text } = (write?.kind === "set" ? write.value : {}) as { readonly text?: string };
    const isText = texts.includes(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    assertEquals([text === undefined, (await bodyAt(store, "p"))?.valueOf()], [
      !isText && bytes.length !== 3,
      { bytes },
    ]);
  }
});

Deno.test("the first piece that nobody reads without its entry is in the row of its entry, up to 16,000 bytes; others are apart, and each is read", async () => {
  await using store = await openTestStore();
  for (const [length, apart] of [[16_000, 2], [16_001, 3]] as const) {
    const subject = `case ${length}`;
    const evidence = [
      { kind: "payer_accounts", bytes: bytesOf(1) },
      { kind: "order", bytes: bytesOf(length), signature: "e30..c2ln" },
      { kind: "order_response", bytes: bytesOf(2) },
    ] as const;
    const writes = await staged(
      store,
      (tx) => record(tx, subject, null, { at: 1, event: "a.b", actor: "clock", evidence }),
    );
    assertEquals(writes.filter(({ key }) => key[0] === "evidence").length, apart);
    const pieces = (await placedHistoryOf(store, subject)).flatMap(piecesOf);
    assertEquals(pieces.map(({ place }) => place), [
      `${subject} 1 payer_accounts`,
      `${subject} 1 order`,
      `${subject} 1 order_response`,
    ]);
    const bodies = await Promise.all(pieces.map((piece) => bodyOf(store, piece)));
    assertEquals(
      bodies.map((body) => body !== null && body !== "lost" && body.bytes),
      evidence.map(({ bytes }) => bytes),
    );
    const [entry] = await historyOf(store, subject);
    assertEquals(
      entry?.items?.map(({ sha256 }) => sha256),
      bodies.map((body) => bodyDigest(body as EvidenceBody)),
    );
    await staged(store, (tx) => stageOutOfRows(tx, pieces));
    const left = await Promise.all(pieces.map((piece) => bodyOf(store, piece)));
    assertEquals(left.map((body) => body === null), [false, apart === 2, false]);
    assertEquals(await historyOf(store, subject), [entry]);
  }
});

Deno.test("a body whose key is lost is lost, and one that was erased is gone", async () => {
  await using store = await openTestStore();
  const states = { lost: { state: "lost" }, erased: { state: "erased", at: 1, scope: "key" } } as const;
  for (const [place, personalData] of Object.entries(states)) {
    await staged(store, (tx) => evidenceRecord.set(tx, evidenceKey(place, 0), { bytes: "", personalData }));
  }
  assertEquals([await bodyAt(store, "lost"), await bodyAt(store, "erased")], ["lost", null]);
});

Deno.test("the digest of a body is that of its salt, its bytes and its signature, and nothing else", () => {
  const sha256 = (...parts: readonly (string | Uint8Array)[]): Uint8Array => {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return new Uint8Array(hash.digest());
  };
  const [bytes, salt] = [bytesOf(100), newSalt()];
  const saltBytes = Uint8Array.fromBase64(salt, { alphabet: "base64url" });
  const expected = (saltPart: Uint8Array, signature: string): string =>
    base64url(sha256(saltPart, sha256(bytes), sha256(signature)));
  assertEquals(bodyDigest({ bytes, salt, signature: "s" }), expected(saltBytes, "s"));
  assertEquals(bodyDigest({ bytes, salt }), expected(saltBytes, ""));
  assertEquals(bodyDigest({ bytes }), expected(new Uint8Array(), ""));
  assertEquals([saltBytes.length, newSalt() === salt, evidencePlace("id", 3, "order")], [
    16,
    false,
    "id 3 order",
  ]);
  const entry: AuditEntry = { at: 7, event: "a.b", actor: "clock", sequence: 1, salt: "c2FsdA" };
  const canonical = '{"actor":"clock","at":7,"event":"a.b","salt":"c2FsdA","sequence":1,"subject":"id"}';
  assertEquals(canonicalEntry("id", entry), canonical);
  assertEquals(leafHash("id", entry), sha256(Uint8Array.of(0), canonical));
});

Deno.test("a document is stored once, by its digest, after a commit of it has succeeded", async () => {
  const store = await openTestStore();
  const document = sharedDocument("{}");
  assertEquals(document.sha256, base64url(new Uint8Array(createHash("sha256").update("{}").digest())));
  const failed = await openTestStore().then((other) => ({ ...other, commit: () => Promise.resolve(false) }));
  const lost = { what: "document", attempts: 1, lost: () => {} };
  await transact(
    { store: failed, clock: () => 0 },
    lost,
    (tx) => Promise.resolve(stageDocument(tx, document)),
  );
  const counts: number[] = [];
  for (let time = 0; time < 2; time++) {
    const writes = await staged(store, (tx) => {
      stageDocument(tx, document);
      tx.writes.push({ kind: "set", key: ["other"], value: time });
    });
    counts.push(writes.length);
  }
  assertEquals(counts, [2, 1], "a commit that failed has stored nothing");
  assertEquals([await documentAt(store, document.sha256), await documentAt(store, "other")], ["{}", null]);
  await Promise.all([store.close(), failed.close()]);
});

Deno.test("a key's document has its public members and a chain of up to 24,000 characters, in canonical form", async () => {
  const published = {
    ...{ kty: "RSA", n: "n", e: "AQAB", kid: "one", use: "sig", "x5t#S256": "t" },
    ...{ alg: "PS256", d: "secret", x5u: "https://elsewhere.example" },
  };
  const members = { e: "AQAB", kid: "one", kty: "RSA", n: "n", use: "sig", "x5t#S256": "t" };
  const longest = ["a".repeat(23_999), "b"];
  const chains: readonly (readonly [x5c: unknown, kept: boolean])[] = [
    [undefined, false],
    [["a", "b"], true],
    [longest, true],
    [[...longest, "c"], false],
    [["a", 1], false],
    ["a", false],
  ];
  for (const [x5c, isKept] of chains) {
    const key = await (await testKey(3)).privateKey("sign");
    assertEquals(documentOfKey(key), undefined);
    rememberPublished(key, { ...published, ...x5c !== undefined && { x5c } } as JsonObject);
    const { text, sha256 } = documentOfKey(key) ?? sharedDocument("none");
    assertEquals(JSON.parse(text), { ...members, ...isKept && { x5c } });
    assertEquals(sha256, sharedDocument(text).sha256);
    assertEquals(text.startsWith('{"e":"AQAB","kid":"one"'), true);
  }
  const key = await (await testKey(3)).privateKey("sign");
  const publicJwks = { keys: [{ ...published, kid: "other" }, published] };
  const signer = ownSignerOf(
    { signer: { kid: "one", key }, publicJwks } as Parameters<typeof ownSignerOf>[0],
  );
  assertEquals([signer.kid, signer.key === key, JSON.parse(signer.document.text)], ["one", true, members]);
  assertEquals(documentOfKey(key), signer.document);
  const unknown = await (await testKey(3)).privateKey("sign");
  assertThrows(
    () =>
      ownSignerOf({ signer: { kid: "none", key: unknown }, publicJwks } as Parameters<typeof ownSignerOf>[0]),
    Error,
    "the signing key is not published",
  );
});
