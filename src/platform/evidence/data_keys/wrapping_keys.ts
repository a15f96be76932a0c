/**
 * Wrapping keys: the keys of `PLATFORM_WRAPPING_KEYS`, under which data keys are stored. The first one wraps. The others only
 * unwrap: a next one, which every process must know before it wraps, and former ones, until every data key is wrapped
 * again. A key is in the file, or in a token that it cannot leave (Decision F12).
 */
import type { WrappingToken } from "../../../base/http/signer_client.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { base64url } from "../../../base/kernel/identifiers.ts";
import { NOT_ITS_BOX, openBox, sealBox } from "./aes_box.ts";

export interface Wrapped {
  /** Id of the wrapping key. */
  readonly wrappedBy: string;
  /** Base64url. */
  readonly wrapped: string;
}

export interface WrappingKeys {
  /** Id of the key that wraps now. */
  readonly newestId: string;
  /** Number of keys. */
  readonly known: number;
  /** @param name part of what is authenticated, so that a wrapped key cannot be moved to another name */
  wrap(name: string, key: Uint8Array<ArrayBuffer>): Promise<Wrapped>;
  /** @throws {UnknownWrappingKey} @throws {Error} if this is not what {@link wrap} made */
  unwrap(name: string, wrapped: Wrapped): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Replaces the keys.
   *
   * @param findUsed returns one of these ids that still wraps a data key
   * @throws {Error} as {@link openWrappingKeys} does, and if the first line is new or a line is changed, or missing and
   * still in use. Then the old ones stay in use.
   */
  renew(text: string, findUsed: FindUsed): Promise<void>;
}

export type FindUsed = (ids: ReadonlySet<string>) => Promise<string | undefined>;

/** A data key is wrapped by a key that this process does not have: it was not reloaded, or the line was deleted early. */
export class UnknownWrappingKey extends Error {
  override readonly name = "UnknownWrappingKey";

  constructor(readonly wrappedBy: string) {
    super(`the wrapping key ${wrappedBy} is not in PLATFORM_WRAPPING_KEYS`);
  }
}

const LINE = /^([A-Za-z0-9._-]{1,40}) ([A-Za-z0-9+/]{43}=|token)$/;
const IN_TOKEN = "token";
/** What is wrapped to see whether a key works. */
const SAMPLE = Uint8Array.of(0);
const MAX_KEYS = 10;
const FORM =
  "must have lines of an id, a space and 32 random bytes in base64, or `token` for a key in one, the newest first";

type Bytes = Uint8Array<ArrayBuffer>;

/** A wrapping key. */
interface WrappingKey {
  wrap(name: string, content: Bytes): Promise<Bytes>;
  /** @throws {Error} if the box was changed, or made with another key or name */
  unwrap(name: string, box: Bytes): Promise<Bytes>;
}

/**
 * Reads the text of `PLATFORM_WRAPPING_KEYS`.
 *
 * @param token has the keys whose lines say `token`
 * @throws {Error} that names the fault, never a key
 */
export async function openWrappingKeys(text: string, token?: WrappingToken): Promise<WrappingKeys> {
  let held = await read(text, token);
  return {
    get newestId(): string {
      return newestOf(held)[0];
    },
    get known(): number {
      return held.size;
    },
    async wrap(name, key) {
      const [wrappedBy, wrappingKey] = newestOf(held);
      return { wrappedBy, wrapped: base64url(await wrappingKey.wrap(name, key)) };
    },
    async unwrap(name, { wrappedBy, wrapped }) {
      const key = held.get(wrappedBy);
      if (key === undefined) throw new UnknownWrappingKey(wrappedBy);
      return await key.unwrap(name, Uint8Array.fromBase64(wrapped, { alphabet: "base64url" }));
    },
    async renew(changed, findUsed) {
      const next = await read(changed, token);
      await rejectUnsafeChange(held, next, findUsed);
      held = next;
    },
  };
}

/** A process that lacks a key which another one wraps with cannot read what that one writes. */
async function rejectUnsafeChange(
  held: ReadonlyMap<string, WrappingKey>,
  next: ReadonlyMap<string, WrappingKey>,
  findUsed: FindUsed,
): Promise<void> {
  const [newestId] = newestOf(next);
  if (!held.has(newestId)) {
    throw new Error(
      `the first line ${newestId} is new: put it below the others, reload every process, and then move it to the top`,
    );
  }
  for (const [id, key] of held) {
    const same = next.get(id);
    if (same === undefined) continue;
    const box = await key.wrap(id, SAMPLE);
    await same.unwrap(id, box).catch((error) => {
      if (error instanceof ApiError) throw error; // the token does not answer
      throw new Error(`the line ${id} has another key than before: a new key needs an id of its own`);
    });
  }
  const dropped = new Set([...held.keys()].filter((id) => !next.has(id)));
  const used = dropped.size === 0 ? undefined : await findUsed(dropped);
  if (used === undefined) return;
  throw new Error(
    `the line ${used} is missing and still wraps data keys: put it back until every process has wrapped them again`,
  );
}

async function read(
  text: string,
  token: WrappingToken | undefined,
): Promise<ReadonlyMap<string, WrappingKey>> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0 || lines.length > MAX_KEYS) throw new Error(`${FORM}, from 1 to ${MAX_KEYS}`);
  const held = new Map<string, WrappingKey>();
  for (const line of lines) {
    const [, id = "", encoded = ""] = LINE.exec(line) ?? [];
    if (id === "") throw new Error(FORM);
    if (held.has(id)) throw new Error(`has the id ${id} twice`);
    held.set(id, encoded === IN_TOKEN ? await keyInToken(id, token) : await keyInFile(encoded));
  }
  return held;
}

async function keyInFile(encoded: string): Promise<WrappingKey> {
  const bytes = Uint8Array.fromBase64(encoded);
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return {
    wrap: (name, content) => sealBox(key, name, content),
    unwrap: (name, box) => openBox(key, name, box),
  };
}

/** @throws {Error} if the token does not have the key, or does not answer */
async function keyInToken(id: string, token: WrappingToken | undefined): Promise<WrappingKey> {
  if (token === undefined) {
    throw new Error(`the key ${id} is in a token: PLATFORM_KEYS must be signer: and the path of its socket`);
  }
  const key: WrappingKey = {
    wrap: (name, content) => token.wrap(id, name, content),
    async unwrap(name, box) {
      const content = await token.unwrap(id, name, box);
      if (content === undefined) throw new Error(NOT_ITS_BOX);
      return content;
    },
  };
  await key.unwrap(id, await key.wrap(id, SAMPLE));
  return key;
}

function newestOf(held: ReadonlyMap<string, WrappingKey>): readonly [string, WrappingKey] {
  const [first] = held;
  if (first === undefined) throw new Error(FORM); // read has rejected it
  return first;
}
