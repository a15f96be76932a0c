/**
 * A token of a PKCS#11 library: finds its RSA keys by their modulus and its AES keys by their label, signs, decrypts, wraps
 * and unwraps with them, and makes new ones, which cannot leave it. A lost session is opened again once. A PIN that was
 * rejected is not sent a second time, because tokens lock themselves after a few.
 */
import { decodeOaep } from "./oaep.ts";
import { makePair, makeSecret } from "./make_keys.ts";
import {
  type Argument,
  type CallToken,
  CKA,
  CKM,
  numberAt,
  PRIVATE_KEY,
  SECRET_KEY,
  structure,
  TokenError,
} from "./pkcs11.ts";
import { openSessionPool, type PoolBounds, type Slot } from "./session_pool.ts";

/** A modulus, unsigned big-endian without leading zeros. */
export type Modulus = Uint8Array<ArrayBuffer>;

export type KeyOperation = "sign" | "decrypt";

/** A private key by its modulus, or a secret key by its label. */
export type KeyName = Modulus | string;

/** An opened token. Every method throws {TokenBusy} after the deadline, and {TokenError} if the token fails. */
export interface Token {
  readonly label: string;
  /** Returns whether the token has the key, and whether the key can leave it. */
  find(name: KeyName): Promise<"absent" | "kept" | "extractable">;
  /** PS256: RSASSA-PSS with SHA-256, MGF1 and a salt of 32 bytes (RFC 7518 §3.5). */
  sign(modulus: Modulus, digest: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2), as certificates have it. */
  certify(modulus: Modulus, digest: Memory): Promise<Memory>;
  /** RSA-OAEP-256 (RFC 7518 §4.3). Returns undefined if the key cannot decrypt it. */
  decrypt(modulus: Modulus, encrypted: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Makes a key pair for one operation. Returns its modulus. */
  make(operation: KeyOperation, bits: number, label: string): Promise<Modulus>;
  /**
   * AES-256-GCM (NIST SP 800-38D) with a random IV of 96 bits, which stands before the ciphertext and its tag.
   *
   * @param label of the secret key
   * @param data authenticated with the content
   */
  wrap(label: string, data: Memory, content: Memory): Promise<Memory>;
  /** Returns what {@link Token.wrap} has wrapped, or undefined if the box, the data or the key is another one. */
  unwrap(label: string, data: Memory, box: Memory): Promise<Memory | undefined>;
  /** Makes a secret key that wraps. The caller has looked whether a token has a key of this label. */
  makeWrapping(label: string): Promise<void>;
  /** Asks the token for the state of a session. */
  probe(): Promise<void>;
}

/** The deadline is shorter than the platform's for the signer. */
export const SERVING: PoolBounds = { sessions: 4, waiting: 64, deadlineMs: 2000 };
/** A token may take a minute to make a key. */
export const MAKING: PoolBounds = { ...SERVING, deadlineMs: 120_000 };

/** The PIN was rejected. Start again with the right one. */
export class PinRejected extends Error {
  override readonly name = "PinRejected";
}

/** No session can be opened, so that the token is not there or is locked. A library may find it again only when it is loaded anew. */
export class TokenLost extends Error {
  override readonly name = "TokenLost";
}

const [RW_SESSION, SERIAL_SESSION, USER] = [0x2n, 0x4n, 1n];
const [MGF1_SHA256, DATA_SPECIFIED, SALT_BYTES] = [2n, 1n, 32n];
/** What stands before a SHA-256 digest in a DigestInfo (RFC 8017 §9.2, note 1). */
const SHA256_INFO = Uint8Array.fromHex("3031300d060960864801650304020105000420");
const [IV_BYTES, TAG_BYTES] = [12, 16];
const TOKEN_INFO_BYTES = 208;
const LABEL_BYTES = 32;
const MAX_SLOTS = 64n;
const MAX_MODULUS_BYTES = 512;

/** Sessions that the token has closed, or that have lost their login. */
const LOST = [
  "SESSION_HANDLE_INVALID",
  "SESSION_CLOSED",
  "USER_NOT_LOGGED_IN",
  "DEVICE_REMOVED",
  "DEVICE_ERROR",
  "TOKEN_NOT_PRESENT",
  "KEY_HANDLE_INVALID",
  "OBJECT_HANDLE_INVALID",
] as const;
/** What a token answers to OAEP parameters that it does not have. */
const NO_OAEP = ["ARGUMENTS_BAD", "MECHANISM_INVALID", "MECHANISM_PARAM_INVALID"] as const;
/** What a token answers to a ciphertext that is not for the key. */
const UNDECRYPTABLE = [
  "ENCRYPTED_DATA_INVALID",
  "ENCRYPTED_DATA_LEN_RANGE",
  "DATA_INVALID",
  "DATA_LEN_RANGE",
  "GENERAL_ERROR",
  "FUNCTION_FAILED",
] as const;

type Memory = Uint8Array<ArrayBuffer>;

const UTF8 = new TextEncoder();

/** An open session and the handles of the keys that were found in it. */
interface Session {
  readonly id: bigint;
  readonly keys: Map<string, bigint>;
}

/**
 * Opens the token with a label, and logs in.
 *
 * @throws {PinRejected}
 * @throws {Error} unless exactly one token has the label
 */
export async function openToken(
  call: CallToken,
  { label, pin }: { readonly label: string; readonly pin: string },
  bounds: PoolBounds,
): Promise<Token> {
  const pool = openSessionPool<Session>(bounds);
  let pinRejected = false;
  let opened: Promise<unknown> = Promise.resolve();
  // One after the other: a PIN that is wrong for one session is not sent for the others.
  const open = (): Promise<Session> => {
    const session = opened.then(() => {
      if (pinRejected) throw new PinRejected(`the PIN of the token ${label} was rejected`);
      return openSession(call, label, pin);
    });
    opened = session.catch((error) => pinRejected ||= error instanceof PinRejected);
    return session.catch(({ message }: Error) => {
      throw pinRejected ? new PinRejected(message) : new TokenLost(message);
    });
  };
  const withSession = <T>(operate: (session: Session) => Promise<T>): Promise<T> =>
    pool((slot) => reopening(slot, call, open, operate));
  let ownOaep = true;
  await withSession(() => Promise.resolve());
  return {
    label,
    find: (name) => withSession((session) => findKey(call, session, name)),
    sign: (modulus, digest) =>
      withSession(async (session) => {
        const mechanism = withParameters(CKM.PSS, CKM.SHA256, MGF1_SHA256, SALT_BYTES);
        await call("C_SignInit", session.id, mechanism, await keyOf(call, session, modulus));
        return await output(call, "C_Sign", session, digest);
      }),
    certify: (modulus, digest) =>
      withSession(async (session) => {
        const mechanism = structure(CKM.RSA_PKCS, null, 0n);
        await call("C_SignInit", session.id, mechanism, await keyOf(call, session, modulus));
        return await output(call, "C_Sign", session, Uint8Array.of(...SHA256_INFO, ...digest));
      }),
    decrypt: (modulus, encrypted) =>
      withSession(async (session) => {
        const key = await keyOf(call, session, modulus);
        if (ownOaep) ownOaep = await beginOaep(call, session, key);
        if (!ownOaep) await call("C_DecryptInit", session.id, structure(CKM.X_509, null, 0n), key);
        const plain = await output(call, "C_Decrypt", session, encrypted).catch(undecryptable);
        return plain === undefined || ownOaep ? plain : decodeOaep(padBytes(plain, modulus.length));
      }),
    make: (operation, bits, name) =>
      withSession((session) => makePair(call, session.id, operation, bits, name)),
    wrap: (name, data, content) => withSession((session) => wrapWith(call, session, name, data, content)),
    unwrap: (name, data, box) => withSession((session) => unwrapWith(call, session, name, data, box)),
    makeWrapping: (name) => withSession((session) => makeSecret(call, session.id, name)),
    probe: () => withSession(({ id }) => call("C_GetSessionInfo", id, new Uint8Array(32))),
  };
}

async function reopening<T>(
  slot: Slot<Session>,
  call: CallToken,
  open: () => Promise<Session>,
  operate: (session: Session) => Promise<T>,
): Promise<T> {
  const attempt = async (session: Session): Promise<T> => {
    try {
      return await operate(session);
    } catch (error) {
      slot.session = undefined; // the operation may have begun in it, and no other one can begin then
      await call("C_CloseSession", session.id).catch(() => {}); // the token may have closed it
      throw error;
    }
  };
  if (slot.session !== undefined) {
    try {
      return await attempt(slot.session);
    } catch (error) {
      if (!(error instanceof TokenError && error.is(...LOST))) throw error;
    }
  }
  return await attempt(slot.session = await open());
}

async function openSession(call: CallToken, label: string, pin: string): Promise<Session> {
  const id = new Uint8Array(8);
  await call("C_OpenSession", await slotOf(call, label), RW_SESSION | SERIAL_SESSION, null, null, id);
  const bytes = new TextEncoder().encode(pin);
  await call("C_Login", numberAt(id), USER, bytes, BigInt(bytes.length)).catch(async (error) => {
    if (!(error instanceof TokenError)) throw error;
    if (error.is("USER_ALREADY_LOGGED_IN")) return; // another session of this process
    await call("C_CloseSession", numberAt(id)).catch(() => {});
    if (!error.is("PIN_INCORRECT", "PIN_LOCKED")) throw error;
    throw new PinRejected(`the token ${label} has rejected the PIN (${error.message})`);
  });
  return { id: numberAt(id), keys: new Map() };
}

async function slotOf(call: CallToken, label: string): Promise<bigint> {
  const [slots, count] = [new Uint8Array(Number(MAX_SLOTS) * 8), structure(MAX_SLOTS)];
  await call("C_GetSlotList", 1n, slots, count);
  const found: bigint[] = [];
  for (let at = 0; at < Number(numberAt(count)); at++) {
    const info = new Uint8Array(TOKEN_INFO_BYTES);
    await call("C_GetTokenInfo", numberAt(slots, at), info);
    const name = new TextDecoder().decode(info.subarray(0, LABEL_BYTES)).trimEnd();
    if (name === label) found.push(numberAt(slots, at));
  }
  const [slot, ...others] = found;
  if (slot !== undefined && others.length === 0) return slot;
  throw new Error(`${found.length} tokens have the label ${label}, expected one`);
}

async function findKey(
  call: CallToken,
  session: Session,
  name: KeyName,
): Promise<"absent" | "kept" | "extractable"> {
  const handle = await handleOf(call, session, name);
  if (handle === undefined) return "absent";
  const [sensitive, extractable] = [new Uint8Array(1), new Uint8Array(1)];
  const template = structure(CKA.SENSITIVE, sensitive, 1n, CKA.EXTRACTABLE, extractable, 1n);
  await call("C_GetAttributeValue", session.id, handle, template, 2n);
  return sensitive[0] === 1 && extractable[0] === 0 ? "kept" : "extractable";
}

async function keyOf(call: CallToken, session: Session, name: KeyName): Promise<bigint> {
  const handle = await handleOf(call, session, name);
  if (handle === undefined) throw new Error("the token does not have the key any more");
  return handle;
}

async function handleOf(call: CallToken, session: Session, key: KeyName): Promise<bigint | undefined> {
  const isSecret = typeof key === "string";
  const name = isSecret ? `label ${key}` : key.toHex();
  const known = session.keys.get(name);
  if (known !== undefined) return known;
  const keyClass = structure(isSecret ? SECRET_KEY : PRIVATE_KEY);
  const value = isSecret ? UTF8.encode(key) : key;
  const template = structure(
    ...[CKA.CLASS, keyClass, 8n],
    ...[isSecret ? CKA.LABEL : CKA.MODULUS, value, BigInt(value.length)],
  );
  const [handles, count] = [new Uint8Array(8), new Uint8Array(8)];
  await call("C_FindObjectsInit", session.id, template, 2n);
  await call("C_FindObjects", session.id, handles, 1n, count)
    .finally(() => call("C_FindObjectsFinal", session.id));
  if (numberAt(count) === 0n) return undefined;
  session.keys.set(name, numberAt(handles));
  return numberAt(handles);
}

/** Begins a decryption with the token's own OAEP. Returns false if it does not have OAEP with SHA-256. */
async function beginOaep(call: CallToken, session: Session, key: bigint): Promise<boolean> {
  const mechanism = withParameters(CKM.OAEP, CKM.SHA256, MGF1_SHA256, DATA_SPECIFIED, null, 0n);
  try {
    await call("C_DecryptInit", session.id, mechanism, key);
    return true;
  } catch (error) {
    if (error instanceof TokenError && error.is(...NO_OAEP)) return false;
    throw error;
  }
}

async function output(
  call: CallToken,
  name: "C_Sign" | "C_Encrypt" | "C_Decrypt",
  { id }: Session,
  input: Memory,
): Promise<Memory> {
  const [made, length] = [new Uint8Array(MAX_MODULUS_BYTES), structure(BigInt(MAX_MODULUS_BYTES))];
  await call(name, id, input, BigInt(input.length), made, length);
  return made.slice(0, Number(numberAt(length)));
}

function undecryptable(error: unknown): undefined {
  if (!(error instanceof TokenError && error.is(...UNDECRYPTABLE))) throw error;
}

function padBytes(bytes: Memory, length: number): Memory {
  const whole = new Uint8Array(length);
  whole.set(bytes, length - bytes.length);
  return whole;
}

/** A CK_MECHANISM whose parameters are a structure. */
function withParameters(mechanism: bigint, ...parameters: readonly Argument[]): Memory {
  const memory = structure(...parameters);
  return structure(mechanism, memory, BigInt(memory.length));
}

async function wrapWith(
  call: CallToken,
  session: Session,
  label: string,
  data: Memory,
  content: Memory,
): Promise<Memory> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  await call("C_EncryptInit", session.id, gcm(iv, data), await keyOf(call, session, label));
  const ciphertext = await output(call, "C_Encrypt", session, content);
  const box = new Uint8Array(IV_BYTES + ciphertext.length);
  box.set(iv);
  box.set(ciphertext, IV_BYTES);
  return box;
}

async function unwrapWith(
  call: CallToken,
  session: Session,
  label: string,
  data: Memory,
  box: Memory,
): Promise<Memory | undefined> {
  if (box.length < IV_BYTES + TAG_BYTES) return undefined;
  const mechanism = gcm(box.slice(0, IV_BYTES), data);
  await call("C_DecryptInit", session.id, mechanism, await keyOf(call, session, label));
  return await output(call, "C_Decrypt", session, box.slice(IV_BYTES)).catch(undecryptable);
}

/** CKM_AES_GCM with its CK_GCM_PARAMS. */
function gcm(iv: Memory, data: Memory): Memory {
  const bits = [BigInt(iv.length * 8), BigInt(TAG_BYTES * 8)] as const;
  return withParameters(CKM.AES_GCM, iv, BigInt(iv.length), bits[0], data, BigInt(data.length), bits[1]);
}
