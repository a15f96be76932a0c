/**
 * Named people with bearer tokens, of which only hashes are stored: the directory's administrators and the platform's
 * operators. A command writes the file; a change takes effect with the next request.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import { newSecret, sha256 } from "../kernel/identifiers.ts";
import { ApiError } from "../kernel/api_error.ts";
import type { Clock } from "../kernel/clock.ts";

/** The result of looking up a token. */
export interface Identified {
  /** The id of the credential that the token names, if there is such a credential. */
  readonly credential?: string;
  /** The person, if the token is the person's. */
  readonly name?: string;
  /** The person's roles, if the token is the person's. Empty for a kind without roles. */
  readonly roles?: readonly string[];
  /** The participant for which the person acts, if any. */
  readonly organisation?: string;
  /** Who the person is at the OpenID provider: `<sub>@<host of the issuer>`. Absent if that is not known. */
  readonly person?: string;
}

export interface Credentials {
  /** @throws {ApiError} `platform.unavailable` if the list cannot be read */
  identify(token: string): Promise<Identified>;
}

/** Whose credentials a list has. */
export interface CredentialKind {
  /** The member of the file that has the list. */
  readonly list: "administrators" | "operators";
  /** The first part of each credential's id. */
  readonly prefix: "dira" | "oper";
  /** The roles that a person may have, of which each person has at least one. Empty if the kind has no roles. */
  readonly roles: readonly string[];
}

/** A credential as stored in the file. */
export interface Credential {
  /** The public part of the token: identifies the credential in the log and grants no access. */
  readonly id: string;
  /** The person's name, as shown in histories. */
  readonly name: string;
  /** Absent for a kind without roles. */
  readonly roles?: readonly string[] | undefined;
  /** SHA-256 of the whole token, base64url. */
  readonly token_sha256: string;
  /** ISO 8601. */
  readonly added_at: string;
  /** ISO 8601. From then on the token is of no use. */
  readonly expires_at: string;
  /** Who the person is at the OpenID provider: `<sub>@<host of the issuer>` (contract FE8). */
  readonly person?: string | undefined;
  readonly revoked_at?: string | undefined;
}

/** A file that may change while the process runs. */
export interface WatchedFile {
  /** Returns a different text after every change of the file. */
  version(): Promise<string>;
  text(): Promise<string>;
}

/** The directory's administrators. */
export const ADMINISTRATORS: CredentialKind = { list: "administrators", prefix: "dira", roles: [] };

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
const PERSON = /^[\x21-\x7e]{1,128}@[a-z0-9.:[\]-]{1,255}$/;
const MAX_CREDENTIALS = 1000;
/** How long a token is valid, by default and at most: as a participant's login, and a year. */
export const CREDENTIAL_DAYS = { usual: 90, most: 366 };
const DAY_MS = 86_400_000;
/** A token with fewer characters, or fewer different ones, was chosen by a person and can be guessed. */
const MIN_TOKEN_CHARACTERS = 32;
const MIN_TOKEN_VARIETY = 10;

function listSchema({ list, prefix, roles }: CredentialKind): z.ZodType<Record<string, Credential[]>> {
  const credential = z.object({
    id: z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{16}$`)),
    name: z.string().regex(NAME),
    roles: roles.length === 0 ? z.undefined().optional() : z.array(z.enum(roles)).min(1).max(roles.length),
    token_sha256: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    added_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    person: z.string().regex(PERSON).optional(),
    revoked_at: z.iso.datetime().optional(),
  });
  return z.object({ [list]: z.array(credential).max(MAX_CREDENTIALS) });
}

/** Returns whether the value has the form of a person's name. */
export function isCredentialName(name: string): boolean {
  return NAME.test(name);
}

/** Returns whether the value names a person of an OpenID provider. */
export function isPersonName(person: string): boolean {
  return PERSON.test(person);
}

export interface NewCredential {
  readonly name: string;
  readonly roles?: readonly string[];
  /** Default: {@link CREDENTIAL_DAYS}. */
  readonly days?: number;
  readonly person?: string | undefined;
}

/** Creates a credential and its token, which is shown only once. `now` is in milliseconds. */
export async function newCredential(
  kind: CredentialKind,
  { name, roles = [], days = CREDENTIAL_DAYS.usual, person }: NewCredential,
  now: number,
): Promise<{ readonly credential: Credential; readonly token: string }> {
  const id = `${kind.prefix}-${crypto.getRandomValues(new Uint8Array(8)).toHex()}`;
  const token = `${id}.${newSecret()}`;
  const added_at = new Date(now).toISOString();
  const expires_at = new Date(now + days * DAY_MS).toISOString();
  const having = { ...(roles.length === 0 ? {} : { roles }), ...(person === undefined ? {} : { person }) };
  const credential = { id, name, ...having, token_sha256: await sha256(token), added_at, expires_at };
  return { credential, token };
}

/**
 * Reads the list at the time `now` (milliseconds).
 *
 * @throws {Error} with a message to be appended to the name of the file or variable; never quotes a value
 */
export function readCredentials(kind: CredentialKind, json: string, now: number): readonly Credential[] {
  const parsed = listSchema(kind).safeParse(parseJson(json));
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join(".") || kind.list).join(", ");
    throw new Error(`is not a list of ${kind.list}; look at: ${where}`);
  }
  const credentials = parsed.data[kind.list] ?? [];
  const inForce = credentials.filter((one) => isInForce(one, now));
  if (new Set(credentials.map(({ id }) => id)).size !== credentials.length) {
    throw new Error("has two credentials with one id");
  }
  if (new Set(inForce.map(({ name }) => name)).size !== inForce.length) {
    throw new Error("has two credentials in force for one name");
  }
  return credentials;
}

export function isInForce({ revoked_at, expires_at }: Credential, now: number): boolean {
  return revoked_at === undefined && now < Date.parse(expires_at);
}

/** The credentials in a file, which is read again whenever it has changed. */
export function openCredentials(kind: CredentialKind, file: WatchedFile, clock: Clock): Credentials {
  let known: { readonly version: string; readonly credentials: Promise<readonly Credential[]> } | undefined;
  const current = async (): Promise<readonly Credential[]> => {
    const version = await file.version(); // read before the text, so that a concurrent change is noticed at the next request
    if (known?.version !== version) {
      known = { version, credentials: file.text().then((json) => readCredentials(kind, json, clock())) };
      known.credentials.catch(() => {}); // awaited below
    }
    return await known.credentials;
  };
  return {
    async identify(token) {
      const credentials = await current().catch((error: unknown) => {
        known = undefined;
        const why = error instanceof Error ? error.message : String(error);
        throw new ApiError("platform.unavailable", {
          detail: `the list of ${kind.list}: ${why}`,
          retryAfterSeconds: 5,
        });
      });
      const id = token.slice(0, Math.max(0, token.indexOf(".")));
      const found = credentials.find((one) => one.id === id && isInForce(one, clock()));
      if (found === undefined) return {};
      const same = await timingSafeEqual(found.token_sha256, await sha256(token));
      if (!same) return { credential: id };
      const { name, roles = [], person } = found;
      return { credential: id, name, roles, ...(person === undefined ? {} : { person }) };
    },
  };
}

/**
 * One person with a token that the caller supplies, for a sandbox.
 *
 * @throws {Error} if the token could be guessed
 */
export function soleCredential(name: string, token: string, roles: readonly string[] = []): Credentials {
  if (token.length < MIN_TOKEN_CHARACTERS) {
    throw new Error(`the administration token needs at least ${MIN_TOKEN_CHARACTERS} characters`);
  }
  if (new Set(token).size < MIN_TOKEN_VARIETY) throw new Error("the administration token must be random");
  return {
    async identify(sent) {
      const credential = "sole";
      return await timingSafeEqual(token, sent) ? { credential, name, roles } : { credential };
    },
  };
}

/** @throws {Error} completing "the file …" */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error("is not JSON");
  }
}
