/** The worked examples of docs/signatures.md, made once with a key that exists no more. */
import { assert, assertEquals } from "@std/assert";
import { base64url, calculateJwkThumbprint, flattenedVerify, importJWK, type JWK } from "jose";
import { captionedBlocks } from "support/guide_snippets.ts";

const page = await Deno.readTextFile(new URL("../../docs/signatures.md", import.meta.url));
const blocks = captionedBlocks(page);
const block = (section: string, caption: string): string => blocks.get(`${section}: ${caption}`) ?? "";
const key = JSON.parse(block("how-to-check-yourself", "Public key of the examples")) as JWK;
const OBIE = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);
const PROFILES = ["x-jws-signature-profile-a", "x-jws-signature-profile-b"];
const SECTIONS = ["client-assertion", "dpop-proof", ...PROFILES, "handover-jwt"];
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
/** The value in the second column of a table. */
const cell = (name: string): string =>
  page.split("\n").find((line) => line.startsWith(`| ${name}`))?.match(/`([^`]+)`\s*\|$/)?.[1] ?? "";

for (const section of SECTIONS) {
  Deno.test(`The documentation's example of ${section} is true: its hash and its signature`, async () => {
    const example = (what: string): string => block(section, `Example: ${what}`);
    const header = base64url.encode(example("header"));
    const asItIs = example("body, in the signing input as it is");
    const payload = asItIs === "" ? base64url.encode(example("payload")) : asItIs;
    assertEquals(example("signing input"), `${header}.${payload}`);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(`${header}.${payload}`)));
    assertEquals(hash.toHex(), example("SHA-256 of the signing input"));
    const jws = {
      protected: header,
      payload: asItIs === "" ? payload : bytes(asItIs),
      signature: example("a signature"),
    };
    const crit = Object.fromEntries(OBIE.map((claim) => [claim, true]));
    await flattenedVerify(jws, await importJWK(key, "PS256"), { algorithms: ["PS256"], crit });
  });
}

Deno.test("The documentation's examples of x-jws-signature are the published ones [SG7]", () => {
  assertEquals(
    PROFILES.map((section) => block(section, "Example: SHA-256 of the signing input")),
    [
      "41afed1744b5354ed1928da7f7a0b1e8b1b4d60ced6c1719c2af4eddecb7edcd",
      "b9700ea07959158f8d5ff7429745fd59ff0d4c80e66457176ccc7b3155611061",
    ],
  );
});

Deno.test("The documentation's DPoP example is of its key and its token", async () => {
  assertEquals(await calculateJwkThumbprint(key), cell("thumbprint of the key"));
  const hash = await crypto.subtle.digest("SHA-256", bytes(cell("access token")));
  const { ath } = JSON.parse(block("dpop-proof", "Example: payload")) as { readonly ath: string };
  assertEquals(ath, base64url.encode(new Uint8Array(hash)));
  const { jwk } = JSON.parse(block("dpop-proof", "Example: header")) as { readonly jwk: JsonWebKey };
  assert(jwk.n === key.n && key.n !== undefined);
});
