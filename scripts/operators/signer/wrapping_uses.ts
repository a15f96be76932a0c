/**
 * Wrapping keys in tokens: AES keys whose label is `wrapping` and the id that `PLATFORM_WRAPPING_KEYS` names. They wrap
 * data keys and are not in the key file, because nothing of them is public.
 */
import type { Token } from "./token.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** An operation with a key that was found. */
export interface Use {
  /** What is wrong with the length of a request's body, if something is. */
  fault(length: number): { readonly status: number; readonly text: string } | undefined;
  /** Returns undefined for bytes that the key has not made. */
  run(body: Bytes): Promise<Bytes | undefined>;
}

const ID = /^[A-Za-z0-9._-]{1,40}$/;
/** More than a data key in its box. */
const MAX_BYTES = 128;
const MAX_NAME = 100;

/** @throws {Error} if this is no id of a wrapping key */
export function wrappingLabel(id: string): string {
  if (ID.test(id)) return `wrapping ${id}`;
  throw new Error(`the id of a wrapping key has 1 to 40 of A-Z a-z 0-9 . _ -, not ${JSON.stringify(id)}`);
}

/**
 * Returns what does the operation with the wrapping key `id`, or undefined if no token has it.
 *
 * @param name authenticated with what is wrapped
 * @throws {Error} if the key could leave its token
 */
export async function wrappingUse(
  tokens: readonly Token[],
  operation: "wrap" | "unwrap",
  id: string,
  name: string,
): Promise<Use | undefined> {
  if (!ID.test(id)) return undefined;
  const label = wrappingLabel(id);
  const token = await holderOf(tokens, label);
  if (token === undefined) return undefined;
  const data = new TextEncoder().encode(name);
  return {
    fault(length) {
      if (name === "" || name.length > MAX_NAME) {
        return { status: 400, text: `name must have 1 to ${MAX_NAME} characters` };
      }
      if (length > 0 && length <= MAX_BYTES) return undefined;
      return { status: 400, text: `1 to ${MAX_BYTES} bytes` };
    },
    run: (body) => operation === "wrap" ? token.wrap(label, data, body) : token.unwrap(label, data, body),
  };
}

async function holderOf(tokens: readonly Token[], label: string): Promise<Token | undefined> {
  for (const token of tokens) {
    const state = await token.find(label);
    if (state === "extractable") throw new Error(`the key ${label} could leave its token`);
    if (state === "kept") return token;
  }
  return undefined;
}
