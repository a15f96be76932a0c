/** The envelope of a bank's return. `tests/attacks/jwt_sealing.test.ts` has its headers and what may be inside. */
import { assertEquals } from "@std/assert";
import {
  assertNotAuthentic,
  IMPLICIT,
  platformEncryptionKey,
  returnTo,
  sealedReturn,
  signedReturn,
} from "testing/bank_return.ts";
import { toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { sealToPlatform } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { openEnvironment } from "testing/environment.ts";
import { rawJwe, segment } from "testing/raw_jws.ts";

const PATH = "/BANKA/authorization.sca.oauth2";

Deno.test("GET authorization.sca.oauth2 rejects what is not exactly one sealed JWT [BR-N1] [BR1] [BR14] [BR17] [A10]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const segments = sealed.split(".");
  const flattened = { protected: segments[0], encrypted_key: segments[1], iv: segments[2] };
  const cases = {
    "missing": PATH,
    "empty": `${PATH}?oAuthUrl=`,
    "another parameter's name": `${PATH}?oauthurl=${sealed}`,
    "twice": `${PATH}?oAuthUrl=${sealed}&oAuthUrl=${sealed}`,
    "twice, once empty": `${PATH}?oAuthUrl=&oAuthUrl=${sealed}`,
    "not a JWE": returnTo("BANKA", "hello"),
    "signed only": returnTo("BANKA", jws),
    "four segments": returnTo("BANKA", segments.slice(0, 4).join(".")),
    "six segments": returnTo("BANKA", `${sealed}.AAAA`),
    "an empty segment": returnTo("BANKA", sealed.replace(`.${segments[1]}.`, "..")),
    "a newline behind": returnTo("BANKA", `${sealed}\n`),
    "a space in front": returnTo("BANKA", ` ${sealed}`),
    "padding": returnTo("BANKA", sealed.replace(".", "=.")),
    "JSON serialisation": returnTo("BANKA", JSON.stringify(flattened)),
    "an outer header that is no JSON": returnTo("BANKA", [segment("{"), ...segments.slice(1)].join(".")),
    "an outer header that is an array": returnTo("BANKA", [segment([]), ...segments.slice(1)].join(".")),
  };
  for (const [name, path] of Object.entries(cases)) {
    await t.step(name, () => assertNotAuthentic(env, flow.browser, path));
  }
  await t.step("more than 8 KiB, though it would decrypt", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(4000) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals([long.length < 8192, path.length > 8192 + 100], [true, true]);
    await assertNotAuthentic(env, flow.browser, path);
  });
  await t.step("1 MB", () => assertNotAuthentic(env, flow.browser, returnTo("BANKA", "A".repeat(1e6))));
  await t.step("none of it touched the flow, and 7 KiB are fine [BR14]", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(3200) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals(path.length > 7 * 1024, true);
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

Deno.test("GET authorization.sca.oauth2 rejects a JWE to another key or altered in any part [BR-N2] [BR17]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const { kid } = await platformEncryptionKey(env);
  const outsider = await (await testKey(10)).publicKey("encrypt");
  const good = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid };
  await t.step("sealed to an outsider's key under the platform's kid", async () => {
    const token = await rawJwe({ header: good, plaintext: jws, to: outsider });
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
  });
  for (const [index, part] of ["header", "encrypted key", "iv", "ciphertext", "tag"].entries()) {
    await t.step(`${part} altered`, async () => {
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", altered(sealed, index)));
    });
    await t.step(`${part} cut short`, async () => {
      const segments = sealed.split(".");
      segments[index] = (segments[index] ?? "").slice(0, -4);
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
    });
  }
  await t.step("an encrypted key of another length", async () => {
    const segments = sealed.split(".");
    segments[1] = "AAAA";
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
  });
  await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
});

/** The token with one bit of a segment's first byte flipped. */
function altered(token: string, index: number): string {
  const segments = token.split(".");
  const bytes = Uint8Array.fromBase64(segments[index] ?? "", { alphabet: "base64url" });
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  segments[index] = segment(bytes);
  return segments.join(".");
}
