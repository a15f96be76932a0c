/**
 * Wrapping keys: the keys of `WRAPPING_KEYS`, under which data keys are stored. The first one wraps. The others only
 * unwrap, until every data key is wrapped again.
 */
import { base64url } from "../../../base/kernel/identifiers.ts";
import { openBox, sealBox } from "./aes_box.ts";

export interface Wrapped {
  /** Id of the wrapping key. */
  readonly wrappedBy: string;
  /** Base64url. */
  readonly wrapped: string;
}

export interface WrappingKeys {
  /** Id of the key that wraps now. */
  readonly newestId: string;
  /** Whether there are older keys too. */
  readonly isRotating: boolean;
  /** @param name part of what is authenticated, so that a wrapped key cannot be moved to another name */
  wrap(name: string, key: Uint8Array<ArrayBuffer>): Promise<Wrapped>;
  /** @throws {Error} if the wrapping key is not known, or if this is not what {@link wrap} made */
  unwrap(name: string, wrapped: Wrapped): Promise<Uint8Array<ArrayBuffer>>;
  /** Replaces the keys. Throws as {@link openWrappingKeys} does, and then the old ones stay in use. */
  renew(text: string): Promise<void>;
}

const LINE = /^([A-Za-z0-9._-]{1,40}) ([A-Za-z0-9+/]{43}=)$/;
const MAX_KEYS = 10;
const FORM = "must have lines of an id, a space and 32 random bytes in base64, the newest first";

/**
 * Reads the text of `WRAPPING_KEYS`.
 *
 * @throws {Error} that names the fault, never a key
 */
export async function openWrappingKeys(text: string): Promise<WrappingKeys> {
  let held = await read(text);
  return {
    get newestId(): string {
      return newestOf(held)[0];
    },
    get isRotating(): boolean {
      return held.size > 1;
    },
    async wrap(name, key) {
      const [wrappedBy, wrappingKey] = newestOf(held);
      return { wrappedBy, wrapped: base64url(await sealBox(wrappingKey, name, key)) };
    },
    async unwrap(name, { wrappedBy, wrapped }) {
      const key = held.get(wrappedBy);
      if (key === undefined) throw new Error(`the wrapping key ${wrappedBy} is not in WRAPPING_KEYS`);
      return await openBox(key, name, Uint8Array.fromBase64(wrapped, { alphabet: "base64url" }));
    },
    async renew(changed) {
      held = await read(changed);
    },
  };
}

async function read(text: string): Promise<ReadonlyMap<string, CryptoKey>> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0 || lines.length > MAX_KEYS) throw new Error(`${FORM}, from 1 to ${MAX_KEYS}`);
  const held = new Map<string, CryptoKey>();
  for (const line of lines) {
    const [, id = "", encoded = ""] = LINE.exec(line) ?? [];
    const bytes = id === "" ? new Uint8Array() : Uint8Array.fromBase64(encoded);
    if (bytes.length !== 32) throw new Error(FORM);
    if (held.has(id)) throw new Error(`has the id ${id} twice`);
    held.set(id, await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]));
  }
  return held;
}

function newestOf(held: ReadonlyMap<string, CryptoKey>): readonly [string, CryptoKey] {
  const [first] = held;
  if (first === undefined) throw new Error(FORM); // read has rejected it
  return first;
}
