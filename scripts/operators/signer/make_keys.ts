/** Makes keys in a token that cannot leave it. */
import { type CallToken, CKA, CKM, numberAt, SECRET_KEY, structure } from "./pkcs11.ts";

type Memory = Uint8Array<ArrayBuffer>;
type SessionId = bigint;

const [AES, AES_KEY_BYTES] = [0x1fn, 32n];
const UTF8 = new TextEncoder();

/** An AES-256 key that encrypts and decrypts. */
export async function makeSecret(call: CallToken, session: SessionId, label: string): Promise<void> {
  const [yes, no] = [Uint8Array.of(1), Uint8Array.of(0)];
  const template = templateOf([
    [CKA.CLASS, structure(SECRET_KEY)],
    [CKA.KEY_TYPE, structure(AES)],
    [CKA.VALUE_LEN, structure(AES_KEY_BYTES)],
    [CKA.TOKEN, yes],
    [CKA.LABEL, UTF8.encode(label)],
    [CKA.ID, crypto.getRandomValues(new Uint8Array(16))],
    [CKA.PRIVATE, yes],
    [CKA.SENSITIVE, yes],
    [CKA.EXTRACTABLE, no],
    [CKA.ENCRYPT, yes],
    [CKA.DECRYPT, yes],
  ]);
  const mechanism = structure(CKM.AES_KEY_GEN, null, 0n);
  await call("C_GenerateKey", session, mechanism, ...template, new Uint8Array(8));
}

/** An RSA pair for one operation. Returns its modulus. */
export async function makePair(
  call: CallToken,
  session: SessionId,
  operation: "sign" | "decrypt",
  bits: number,
  label: string,
): Promise<Memory> {
  const [yes, no] = [Uint8Array.of(1), Uint8Array.of(0)];
  const isSigning = operation === "sign";
  const common: Attribute[] = [
    [CKA.TOKEN, yes],
    [CKA.LABEL, UTF8.encode(label)],
    [CKA.ID, crypto.getRandomValues(new Uint8Array(16))],
  ];
  const publicTemplate = templateOf([
    ...common,
    [CKA.MODULUS_BITS, structure(BigInt(bits))],
    [CKA.PUBLIC_EXPONENT, Uint8Array.of(1, 0, 1)],
    [CKA.VERIFY, isSigning ? yes : no],
    [CKA.ENCRYPT, isSigning ? no : yes],
  ]);
  const privateTemplate = templateOf([
    ...common,
    [CKA.PRIVATE, yes],
    [CKA.SENSITIVE, yes],
    [CKA.EXTRACTABLE, no],
    [CKA.SIGN, isSigning ? yes : no],
    [CKA.DECRYPT, isSigning ? no : yes],
  ]);
  const handles = [new Uint8Array(8), new Uint8Array(8)] as const;
  const mechanism = structure(CKM.KEY_PAIR_GEN, null, 0n);
  await call("C_GenerateKeyPair", session, mechanism, ...publicTemplate, ...privateTemplate, ...handles);
  const modulus = new Uint8Array(bits / 8);
  const wanted = structure(CKA.MODULUS, modulus, BigInt(modulus.length));
  await call("C_GetAttributeValue", session, numberAt(handles[0]), wanted, 1n);
  return modulus;
}

type Attribute = readonly [type: bigint, value: Memory];

function templateOf(attributes: readonly Attribute[]): readonly [Memory, bigint] {
  const members = attributes.flatMap(([type, value]) => [type, value, BigInt(value.length)]);
  return [structure(...members), BigInt(attributes.length)];
}
