/**
 * `verifyDetachedJws` and `signDetached` over body bytes, in both OBIE profiles, with the vectors of contract SG7.
 * `readDetachedJws`: shape and protected header of `x-jws-signature`, rejected with the codes of contract SG5.
 */
import { assert, assertEquals } from "@std/assert";
import { signDetached } from "../../../src/base/jose/detached_jws.ts";
import { smallTestKey } from "testing/keys.ts";
import { signingKey, verifyingKey } from "./compact_jws_fixture.ts";
import {
  BODY,
  HEADER_A,
  HEADER_B,
  IAT,
  ISS,
  read,
  rejection,
  rejectionOfHeader,
  signature,
  signingInput,
  TAN,
  VECTOR_A,
  VECTOR_B,
} from "./detached_jws_fixture.ts";
import { bytesOf, concat, segment, sha256Hex } from "testing/raw_jws.ts";

Deno.test("the signing inputs of these tests are the published ones [SG7]", async () => {
  assertEquals(BODY.length, 91);
  assertEquals(await sha256Hex(BODY), "87348157a27b402b9d11abf4bd80aa1adea268ef4aabc0190227d160f61d4192");
  const a = signingInput("A", VECTOR_A, BODY);
  assertEquals(a.length, 487);
  assertEquals(await sha256Hex(a), "41afed1744b5354ed1928da7f7a0b1e8b1b4d60ced6c1719c2af4eddecb7edcd");
  const b = signingInput("B", VECTOR_B, BODY);
  assertEquals(b.length, 494);
  assertEquals(await sha256Hex(b), "b9700ea07959158f8d5ff7429745fd59ff0d4c80e66457176ccc7b3155611061");
});

Deno.test("verifyDetachedJws accepts profile A and profile B over the vectors [JWS-13, RP-N8, FAPI-D15]", async () => {
  for (const [profile, header] of [["A", VECTOR_A], ["B", VECTOR_B]] as const) {
    const text = await signature(profile, header);
    const reading = read(text);
    assertEquals([reading.profile, reading.kid], [profile, "90210ABAD"]);
    assertEquals(reading.header, JSON.parse(header));
    assertEquals(await rejection(text), undefined);
  }
});

const OTHER_BODIES: [string, Uint8Array<ArrayBuffer>][] = [
  ["one byte changed", BODY.with(70, 0x39)],
  ["space at the end", concat(BODY, " ")],
  ["newline at the end", concat(BODY, "\n")],
  ["written again with spaces", bytesOf(JSON.stringify(JSON.parse(new TextDecoder().decode(BODY)), null, 1))],
  ["other member order", bytesOf(new TextDecoder().decode(BODY).replace(/^{(.*),("Risk":{})}$/, "{$2,$1}"))],
  ["byte order mark", concat(new Uint8Array([0xef, 0xbb, 0xbf]), BODY)],
  ["cut short", BODY.slice(0, -1)],
  ["empty", new Uint8Array(0)],
  ["the base64url of the body", bytesOf(segment(BODY))],
];

Deno.test("verifyDetachedJws rejects any other body, whitespace included [JWS-14, RP-N3]", async () => {
  for (const [profile, header] of [["A", HEADER_A], ["B", HEADER_B]] as const) {
    const text = await signature(profile, header);
    for (const [what, body] of OTHER_BODIES) {
      assertEquals(await rejection(text, body), "Signature.Invalid x-jws-signature", `${profile}: ${what}`);
    }
  }
});

Deno.test("verifyDetachedJws takes any bytes for a body: text or not, empty, with dots", async () => {
  for (const [profile, header] of [["A", HEADER_A], ["B", HEADER_B]] as const) {
    const bodies = [
      new Uint8Array(0),
      new Uint8Array([0xff, 0x00, 0x80]),
      bytesOf("a.b.c"),
      bytesOf("\u00e9\u{1F600}"),
    ];
    for (const body of bodies) {
      assertEquals(
        await rejection(await signature(profile, header, body), body),
        undefined,
        `${profile} ${body}`,
      );
    }
  }
});

Deno.test("verifyDetachedJws says no to a 1024-bit key instead of failing [J5, J38]", async () => {
  const small = await smallTestKey();
  const text = await signature("B", HEADER_B, BODY, await small.privateKey("sign"));
  assertEquals(
    await rejection(text, BODY, await small.publicKey("verify")),
    "Signature.Invalid x-jws-signature",
  );
});

Deno.test("signDetached writes a header of its profile that plain WebCrypto verifies [JWS-15]", async () => {
  const named = { kid: "platform-1", key: signingKey };
  const claims = { iat: 1_700_000_000, issuer: "PLATFORM", trustAnchor: "directory.example" };
  const obie = { [IAT]: 1_700_000_000, [ISS]: "PLATFORM", [TAN]: "directory.example" };
  const base = { alg: "PS256", kid: "platform-1", ...obie };
  const expected = {
    A: { ...base, b64: false, crit: ["b64", IAT, ISS, TAN] },
    B: { ...base, crit: [IAT, ISS, TAN] },
  };
  for (const profile of ["A", "B"] as const) {
    const text = await signDetached(BODY, named, { profile, ...claims });
    const [header = "", value = ""] = text.split("..");
    assertEquals(JSON.parse(new TextDecoder().decode(decoded(header))), expected[profile]);
    const input = concat(header, ".", profile === "A" ? BODY : segment(BODY));
    const pss = { name: "RSA-PSS", saltLength: 32 };
    assert(await crypto.subtle.verify(pss, verifyingKey, decoded(value), input));
    assertEquals(await rejection(text), undefined);
  }
});

function decoded(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

Deno.test("readDetachedJws takes the smallest header of each profile [C5]", async () => {
  assertEquals(await rejection(await signature("B", { alg: "PS256", kid: "k" })), undefined);
  const smallest = { alg: "PS256", kid: "k", b64: false, crit: ["b64"] };
  assertEquals(await rejection(await signature("A", smallest)), undefined);
});

Deno.test("readDetachedJws takes typ JOSE and cty json in both spellings", async () => {
  for (const extra of [{ typ: "JOSE" }, { cty: "json" }, { cty: "application/json" }]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, ...extra }), undefined, JSON.stringify(extra));
  }
  for (const extra of [{ typ: "JWT" }, { typ: "dpop+jwt" }, { typ: null }]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, ...extra }), "Signature.InvalidClaim typ");
  }
  for (const cty of ["text/plain", "JSON ", "", null, ["json"]]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, cty }), "Signature.InvalidClaim cty");
  }
});

Deno.test("readDetachedJws rejects a kid that is no text [J6]", async () => {
  for (const kid of ["", null, 1, {}, ["k"], true]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, kid }), "Signature.InvalidClaim kid", `${kid}`);
  }
});

Deno.test("readDetachedJws wants crit to name exactly the critical members there are [JWS-01..12, RP-N7, J12]", async () => {
  const crits: unknown[] = [
    undefined,
    null,
    [],
    "b64",
    {},
    [IAT, ISS],
    [IAT, ISS, TAN, "exp"],
    [IAT, ISS, TAN, "b64"],
    [IAT, ISS, TAN, TAN],
    [IAT, ISS, ISS],
    [IAT, ISS, "alg"],
    [IAT, ISS, 7],
    [[IAT, ISS, TAN]],
  ];
  for (const crit of crits) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, crit }), "Signature.InvalidClaim crit", `${crit}`);
  }
  const unordered = { ...HEADER_B, crit: [TAN, IAT, ISS] };
  assertEquals(await rejectionOfHeader(unordered), undefined);
  assertEquals(await rejectionOfHeader({ alg: "PS256", kid: "k", crit: [] }), "Signature.InvalidClaim crit");
  assertEquals(
    await rejectionOfHeader({ alg: "PS256", kid: "k", crit: [IAT] }),
    "Signature.InvalidClaim crit",
  );
});

Deno.test("readDetachedJws rejects every half-hearted b64 [JWS-01..12, RP-N7, J13]", async () => {
  const { b64: _, ...withoutB64 } = HEADER_A;
  const cases: [object, string][] = [
    [{ ...HEADER_B, b64: false }, "crit"], // b64 without crit naming it
    [{ alg: "PS256", kid: "k", b64: false }, "crit"],
    [withoutB64, "crit"], // crit names b64, which is not there
    [{ ...HEADER_A, b64: "false" }, "b64"],
    [{ ...HEADER_A, b64: 0 }, "b64"],
    [{ ...HEADER_A, b64: null }, "b64"],
    [{ ...HEADER_A, b64: true }, "b64"],
    [{ ...HEADER_B, b64: true }, "b64"],
  ];
  for (const [header, path] of cases) {
    for (const profile of ["A", "B"] as const) {
      assertEquals(await rejection(await signature(profile, header)), `Signature.InvalidClaim ${path}`);
    }
  }
});
