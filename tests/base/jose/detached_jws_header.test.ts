/** `readDetachedJws`: shape and protected header of `x-jws-signature`, rejected with the codes of contract SG5. */
import { assertEquals } from "@std/assert";
import {
  HEADER_A,
  HEADER_B,
  IAT,
  ISS,
  rejection,
  rejectionOfHeader,
  signature,
  TAN,
} from "./detached_jws_fixture.ts";

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
