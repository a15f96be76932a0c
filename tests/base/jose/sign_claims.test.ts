/** `signClaims`: one header for every JWT, and exactly the claims given. */
import { assertEquals } from "@std/assert";
import { signClaims } from "../../../src/base/jose/own_key.ts";
import { opened, signingKey } from "./compact_jws_fixture.ts";

Deno.test("signClaims makes a PS256 JWT with typ, kid and the caller's claims only", async () => {
  const claims = { iss: "a", exp: 1_700_000_060, list: [1, { b: null }] };
  const token = await signClaims(claims, { kid: "k", key: signingKey });
  const [header = ""] = token.split(".");
  const text = new TextDecoder().decode(Uint8Array.fromBase64(header, { alphabet: "base64url" }));
  assertEquals(JSON.parse(text), { alg: "PS256", typ: "JWT", kid: "k" });
  assertEquals(await opened(token), { ok: true, value: claims });
});
