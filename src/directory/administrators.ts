/**
 * Administrators of the directory: each has a name and one credential, of which only a hash is stored. `deno task
 * directory-admin` writes the list; a change takes effect with the next request.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import { newSecret, sha256 } from "../base/kernel/identifiers.ts";
import { ApiError } from "../base/kernel/api_error.ts";

/** The result of looking up a token. */
export interface Identified {
  /** The id of the credential that the token names, if there is such a credential. */
  readonly credential?: string;
  /** The administrator, if the token is the administrator's. */
  readonly name?: string;
}

export interface Administrators {
  /** @throws {ApiError} `platform.unavailable` if the list cannot be read */
  identify(token: string): Promise<Identified>;
}

/** A credential as stored in the file. */
export interface Credential {
  /** The public part of the token: identifies the credential in the log and grants no access. */
  readonly id: string;
  /** The administrator's name, as shown in the participants' histories. */
  readonly name: string;
  /** SHA-256 of the whole token, base64url. */
  readonly token_sha256: string;
  /** ISO 8601. */
  readonly added_at: string;
  readonly revoked_at?: string | undefined;
}

/** A file that may change while the process runs. */
export interface WatchedFile {
  /** Returns a different text after every change of the file. */
  version(): Promise<string>;
  text(): Promise<string>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
const MAX_CREDENTIALS = 1000;
/** A token with fewer characters, or fewer different ones, was chosen by a person and can be guessed. */
const MIN_TOKEN_CHARACTERS = 32;
const MIN_TOKEN_VARIETY = 10;

const credential = z.object({
  id: z.string().regex(/^dira-[0-9a-f]{16}$/),
  name: z.string().regex(NAME),
  token_sha256: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  added_at: z.iso.datetime(),
  revoked_at: z.iso.datetime().optional(),
});
const list = z.object({ administrators: z.array(credential).max(MAX_CREDENTIALS) });

/** Returns whether the value has the form of an administrator's name. */
export function isAdministratorName(name: string): boolean {
  return NAME.test(name);
}

/** Creates a credential and its token, which is shown only once. */
export async function newCredential(
  name: string,
  now: number,
): Promise<{ readonly credential: Credential; readonly token: string }> {
  const id = `dira-${crypto.getRandomValues(new Uint8Array(8)).toHex()}`;
  const token = `${id}.${newSecret()}`;
  const added_at = new Date(now).toISOString();
  return { credential: { id, name, token_sha256: await sha256(token), added_at }, token };
}

/**
 * Reads the list.
 *
 * @throws {Error} with a message to be appended to the name of the file or variable; never quotes a value
 */
export function readCredentials(json: string): readonly Credential[] {
  const parsed = list.safeParse(parseJson(json));
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join(".") || "administrators").join(", ");
    throw new Error(`is not a list of administrators; look at: ${where}`);
  }
  const credentials = parsed.data.administrators;
  const inForce = credentials.filter(isInForce);
  if (new Set(credentials.map(({ id }) => id)).size !== credentials.length) {
    throw new Error("has two credentials with one id");
  }
  if (new Set(inForce.map(({ name }) => name)).size !== inForce.length) {
    throw new Error("has two credentials in force for one name");
  }
  return credentials;
}

export function isInForce({ revoked_at }: Credential): boolean {
  return revoked_at === undefined;
}

/** The administrators in a file, which is read again whenever it has changed. */
export function openAdministrators(file: WatchedFile): Administrators {
  let known: { readonly version: string; readonly credentials: Promise<readonly Credential[]> } | undefined;
  const current = async (): Promise<readonly Credential[]> => {
    const version = await file.version(); // read before the text, so that a concurrent change is noticed at the next request
    if (known?.version !== version) {
      known = { version, credentials: file.text().then(readCredentials) };
      known.credentials.catch(() => {}); // awaited below
    }
    return await known.credentials;
  };
  return {
    async identify(token) {
      const credentials = await current().catch((error: unknown) => {
        known = undefined;
        const why = error instanceof Error ? error.message : String(error);
        throw new ApiError("platform.unavailable", `the list of administrators: ${why}`);
      });
      const id = token.slice(0, Math.max(0, token.indexOf(".")));
      const found = credentials.find((one) => one.id === id && isInForce(one));
      if (found === undefined) return {};
      const same = await timingSafeEqual(found.token_sha256, await sha256(token));
      return same ? { credential: id, name: found.name } : { credential: id };
    },
  };
}

/**
 * One administrator with a token that the caller supplies, for a sandbox.
 *
 * @throws {Error} if the token could be guessed
 */
export function soleAdministrator(name: string, token: string): Administrators {
  if (token.length < MIN_TOKEN_CHARACTERS) {
    throw new Error(`the administration token needs at least ${MIN_TOKEN_CHARACTERS} characters`);
  }
  if (new Set(token).size < MIN_TOKEN_VARIETY) throw new Error("the administration token must be random");
  return {
    async identify(sent) {
      const credential = "sole";
      return await timingSafeEqual(token, sent) ? { credential, name } : { credential };
    },
  };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error("is not JSON");
  }
}
