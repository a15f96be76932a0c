/** The JSON inside a compact JWS: one reading only, for its header and its claims alike (contract J15, J16, J37). */
import { assert, assertEquals } from "@std/assert";
import { type JsonObject, unverifiedClaims } from "../../../src/base/jose/compact_jws.ts";
import { assertRejected, CLAIMS, HEADER, okValue, opened, signed } from "./compact_jws_fixture.ts";
import { concat, type Part, segment } from "testing/raw_jws.ts";

const ODD_JSON: [string, Part][] = [
  ["byte order mark", concat(new Uint8Array([0xef, 0xbb, 0xbf]), '{"alg":"PS256","kid":"k"}')],
  ["trailing NUL", '{"alg":"PS256","kid":"k"}\0'],
  ["trailing comma", '{"alg":"PS256","kid":"k",}'],
  ["two values", '{"alg":"PS256","kid":"k"}{}'],
  ["invalid UTF-8", concat('{"alg":"PS256","kid":"', new Uint8Array([0xff]), '"}')],
  ["encoded surrogate", concat('{"alg":"PS256","kid":"', new Uint8Array([0xed, 0xa0, 0x80]), '"}')],
  ["overlong UTF-8", concat('{"alg":"PS256","kid":"', new Uint8Array([0xc0, 0xaf]), '"}')],
  ["lone surrogate escape", '{"alg":"PS256","kid":"\\ud800"}'],
  ["infinite number", '{"alg":"PS256","kid":"k","x":1e999}'],
  ["NaN", '{"alg":"PS256","kid":"k","x":NaN}'],
  ["comment", '{"alg":"PS256",/**/"kid":"k"}'],
  ["deep nesting", `{"alg":"PS256","kid":"k","x":${"[".repeat(5000)}${"]".repeat(5000)}}`],
  ["array", '[{"alg":"PS256"}]'],
  ["string", '"PS256"'],
  ["null", "null"],
  ["empty text", " "],
];

Deno.test("readCompactJws is not led astray by names of Object.prototype [J37]", async () => {
  const texts = [
    '{"__proto__":{"alg":"PS256"},"kid":"k"}',
    '{"constructor":{"prototype":{"alg":"PS256"}},"kid":"k"}',
  ];
  for (const text of texts) await assertRejected(await signed(text), text);
  assert(
    (await opened(await signed('{"__proto__":{"jku":"https://x.example"},"alg":"PS256","kid":"k"}'))).ok,
  );
  assertEquals(({} as JsonObject)["alg"], undefined);
});

Deno.test("verifyClaims gives __proto__ and constructor as own members without effect [J37]", async () => {
  const claims = okValue(
    await opened(await signed(HEADER, '{"__proto__":{"iss":"evil"},"constructor":1,"jti":"j"}')),
  );
  assertEquals(Object.keys(claims), ["__proto__", "constructor", "jti"]);
  assertEquals(Object.hasOwn(claims, "iss"), false);
  assertEquals(claims["iss"], undefined);
  assertEquals({ ...claims }["iss"], undefined);
  assertEquals(({} as JsonObject)["iss"], undefined);
});

Deno.test("unverifiedClaims reads claims under the same rules as verifyClaims [J15, J28]", () => {
  const jws = (payload: Part): { token: string; header: JsonObject } => ({
    token: `${segment(HEADER)}.${segment(payload)}.AAAA`,
    header: HEADER,
  });
  assertEquals(unverifiedClaims(jws(CLAIMS)), { ok: true, value: CLAIMS });
  for (const [what, text] of ODD_JSON) assertEquals(unverifiedClaims(jws(text)).ok, false, what);
  assertEquals(unverifiedClaims(jws('{"iss":"a","iss":"b"}')).ok, false);
});
