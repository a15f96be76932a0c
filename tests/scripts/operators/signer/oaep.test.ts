/** `decodeOaep` beside OpenSSL: node:crypto encrypts, and its raw RSA takes the token's place. */
import { assertEquals } from "@std/assert";
import { constants, createPrivateKey, createPublicKey, privateDecrypt, publicEncrypt } from "node:crypto";
import { decodeOaep } from "../../../../scripts/operators/signer/oaep.ts";
import { testKey } from "testing/keys.ts";

const { privateJwk, publicJwk } = await testKey(0);
const privateKey = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
const publicKey = createPublicKey({ key: { ...publicJwk }, format: "jwk" });
const raw = { key: privateKey, padding: constants.RSA_NO_PADDING };

function encoded(message: Uint8Array, oaepHash = "sha256", oaepLabel?: Uint8Array): Uint8Array<ArrayBuffer> {
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const options = { key: publicKey, padding, oaepHash, ...(oaepLabel === undefined ? {} : { oaepLabel }) };
  return new Uint8Array(privateDecrypt(raw, publicEncrypt(options, message)));
}

Deno.test("decodeOaep returns each message that OpenSSL has encoded with SHA-256 [F12]", () => {
  for (const length of [0, 1, 32, 190]) {
    const message = crypto.getRandomValues(new Uint8Array(length));
    if (length > 1) message.set([0, 1]); // bytes of the separator
    assertEquals(decodeOaep(encoded(message)), message);
  }
});

Deno.test("decodeOaep rejects another hash, a label, and each changed byte [F12]", () => {
  const message = crypto.getRandomValues(new Uint8Array(32));
  assertEquals(decodeOaep(encoded(message, "sha1")), undefined);
  assertEquals(decodeOaep(encoded(message, "sha256", new Uint8Array([1]))), undefined);
  const sound = encoded(message);
  for (let at = 0; at < sound.length; at++) {
    const changed = sound.with(at, (sound[at] ?? 0) ^ 1);
    assertEquals(decodeOaep(changed)?.toHex() === message.toHex(), false, `byte ${at}`);
  }
  assertEquals(decodeOaep(sound.with(0, 1)), undefined);
  assertEquals(decodeOaep(new Uint8Array(65)), undefined);
});
