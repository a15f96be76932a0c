/** `readDetachedJws`: shape and protected header of `x-jws-signature`, rejected with the codes of contract SG5. */
import { assertEquals } from "@std/assert";
import {
  BODY,
  HEADER_A,
  HEADER_B,
  IAT,
  ISS,
  rejection,
  rejectionOfHeader,
  signature,
  TAN,
  VECTOR_B,
} from "./detached_jws_fixture.ts";
import { concat, type Part, segment, strayBits } from "../../../scripts/testing/raw_jws.ts";

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

Deno.test("readDetachedJws calls malformed what is not header..signature [JWS-01..12, RP-N2, RP-N6, J17]", async () => {
  const good = await signature("B", HEADER_B);
  const [header = "", value = ""] = good.split("..");
  const short = segment({ alg: "PS256", kid: "k" });
  const texts = [
    "",
    "..",
    `${header}..`,
    `..${value}`,
    `${header}.${value}`,
    `${header}.${segment(BODY)}.${value}`, // attached, matching the body
    `${header}.AAAA.${value}`,
    `${header}...${value}`,
    `${header}..${value}.AAAA`,
    `${good}\n`,
    ` ${good}`,
    `${good},${good}`,
    `${good}, ${good}`,
    `${good}==`,
    `${header}..${strayBits(value)}`,
    `${strayBits(short)}..${value}`,
    `${header}..${value}+`,
    `${header}..${"A".repeat(9000)}`,
    JSON.stringify({ protected: header, signature: value }),
  ];
  for (const text of texts) {
    assertEquals(
      await rejection(text),
      "Signature.Malformed x-jws-signature",
      JSON.stringify(text.slice(-50)),
    );
  }
});

Deno.test("readDetachedJws calls malformed a header with two readings or none [J15, J16]", async () => {
  const headers: Part[] = [
    VECTOR_B.replace("{", '{"kid":"other",'),
    VECTOR_B.replace("{", '{"\\u006bid":"other",'),
    VECTOR_B.replace("{", '{"alg":"none",'),
    `\uFEFF${VECTOR_B}`,
    `${VECTOR_B}\0`,
    concat(VECTOR_B.slice(0, -1), ',"typ":"', new Uint8Array([0xff]), '"}'),
    VECTOR_B.replace("1501497671", "1e999"),
    VECTOR_B.replace("SC-1", "\\ud800"),
    `[${VECTOR_B}]`,
    '"PS256"',
    "null",
    "{",
    " ",
  ];
  const accepted = [];
  for (const header of headers) {
    const code = await rejectionOfHeader(header);
    if (code !== "Signature.Malformed x-jws-signature") accepted.push([code, header]);
  }
  assertEquals(accepted, []);
});

Deno.test("readDetachedJws names a missing alg or kid [JWS-01..12, RP-N4]", async () => {
  for (const name of ["alg", "kid"]) {
    const { [name]: _, ...without } = HEADER_B;
    assertEquals(await rejectionOfHeader(without), `Signature.MissingClaim ${name}`);
  }
  assertEquals(await rejectionOfHeader("{}"), "Signature.MissingClaim alg");
  const inherited = `{"__proto__":{"alg":"PS256","kid":"k"}}`;
  assertEquals(await rejectionOfHeader(inherited), "Signature.MissingClaim alg"); // contract J37
});

Deno.test("readDetachedJws rejects every other algorithm [JWS-01..12, RP-N5, J1, J3]", async () => {
  for (const alg of ["none", "nOnE", "RS256", "PS384", "ES256", "HS256", "ps256", "", null, ["PS256"]]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, alg }), "Signature.InvalidClaim alg", `${alg}`);
  }
});

Deno.test("readDetachedJws rejects a kid that is no text [J6]", async () => {
  for (const kid of ["", null, 1, {}, ["k"], true]) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, kid }), "Signature.InvalidClaim kid", `${kid}`);
  }
});

Deno.test("readDetachedJws rejects members that bring a key, and any other unknown member [RP-N5, J9, J10, J11]", async () => {
  const names = ["jwk", "jku", "x5u", "x5c", "x5t", "zip", "enc", "iss", "http://openbanking.org.uk/other"];
  for (const name of names) {
    assertEquals(await rejectionOfHeader({ ...HEADER_B, [name]: "x" }), `Signature.InvalidClaim ${name}`);
  }
  assertEquals(
    await rejectionOfHeader(VECTOR_B.replace("{", '{"__proto__":{},')),
    "Signature.InvalidClaim __proto__",
  );
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
