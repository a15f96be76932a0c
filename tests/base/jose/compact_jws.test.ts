/** `readCompactJws` and `verifyClaims` against the attacks of contract J1 to J38, with real keys and signatures. */
import { assert, assertEquals } from "@std/assert";
import {
  type HeaderRules,
  isCanonicalBase64url,
  readCompactJws,
} from "../../../src/base/jose/compact_jws.ts";
import { smallTestKey } from "testing/keys.ts";
import {
  assertRejected,
  CLAIMS,
  HEADER,
  okValue,
  opened,
  RULES,
  signed,
  verifyingKey,
} from "./compact_jws_fixture.ts";
import { rawJws, segment } from "testing/raw_jws.ts";

Deno.test("readCompactJws and verifyClaims give the claims of a good token", async () => {
  assertEquals(await opened(await signed(HEADER)), { ok: true, value: CLAIMS });
});

Deno.test("readCompactJws gives the header as sent, unknown members included", () => {
  const header = { ...HEADER, "x5t": "abc", extra: [1] };
  const jws = readCompactJws(`${segment(header)}.${segment(CLAIMS)}.AAAA`, RULES);
  assertEquals(okValue(jws).header, header);
});

Deno.test("verifyClaims says no to a 1024-bit key instead of failing [J5]", async () => {
  const small = await smallTestKey();
  const token = await rawJws(await small.privateKey("sign"), HEADER, CLAIMS);
  assertEquals((await opened(token, await small.publicKey("verify"))).ok, false);
});

Deno.test("readCompactJws rejects a token above the limit unread, and takes one at it [J14]", async () => {
  const token = await signed(HEADER);
  const limit = (maxCharacters: number): HeaderRules => ({ ...RULES, maxCharacters });
  assert((await opened(token, verifyingKey, limit(token.length))).ok);
  await assertRejected(token, "one character above", limit(token.length - 1));
  await assertRejected(`${segment(HEADER)}.${"A".repeat(1_000_000)}.AAAA`, "1 MB");
});

Deno.test("readCompactJws compares typ as a media type and takes only the listed ones [CA-N20, CA-N21]", async () => {
  for (const typ of ["JWT", "jwt", "application/jwt", "APPLICATION/JWT"]) {
    assert((await opened(await signed({ ...HEADER, typ }))).ok, typ);
  }
  assert((await opened(await signed({ alg: "PS256", kid: "k" }))).ok, "absent");
  for (
    const typ of ["dpop+jwt", "JOSE", "JWT ", "", "text/jwt", "application/application/jwt", null, ["JWT"], 1]
  ) {
    await assertRejected(await signed({ ...HEADER, typ }), `typ ${typ}`);
  }
});

Deno.test("isCanonicalBase64url accepts exactly what encoding bytes gives [J17]", () => {
  for (let length = 0; length < 5; length++) {
    for (let byte = 0; byte < 256; byte++) {
      assert(isCanonicalBase64url(segment(new Uint8Array(length).fill(byte))));
    }
  }
  for (
    const text of ["A", "AAAAA", "AB", "AAB", "AA==", "A+==", "A/AA", "AA\n", "\u0410\u0410\u0410\u0410"]
  ) {
    assertEquals(isCanonicalBase64url(text), false, JSON.stringify(text));
  }
});
