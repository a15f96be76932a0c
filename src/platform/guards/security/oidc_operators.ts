/**
 * Operators of an OpenID provider: JWT access tokens (RFC 9068) with the roles in a claim. The provider's keys are fetched
 * from its own host alone, and used for at most 15 minutes without being fetched again.
 */
import { z } from "zod";
import type { Person } from "../../../base/http/bearer.ts";
import type { Credentials, Identified } from "../../../base/http/credentials.ts";
import { UNKNOWN_KEY, verifyAccessJwt } from "../../../base/jose/access_jwt.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { Result } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import type { OidcSettings } from "../../config/operators_config.ts";
import { isRole, PARTICIPANT } from "./operator_roles.ts";

export interface OidcDeps {
  readonly settings: OidcSettings;
  /** Fetches JSON from the issuer's host. */
  readonly fetchJson: (url: string) => Promise<Result<unknown, { readonly why: string }>>;
  readonly clock: Clock;
  /** For ages. */
  readonly steady: SteadyClock;
  readonly log: Log;
}

const MAX_AGE_MS = 900_000;
/** Shortest time between two fetches for tokens that name unknown keys. */
const RETRY_MS = 10_000;
/** Names in histories. */
const SUBJECT = /^[\x21-\x7e]{1,128}$/;

const metadataSchema = z.looseObject({ issuer: z.string(), jwks_uri: z.url() });
const keysSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).min(1).max(50) });
type Keys = z.infer<typeof keysSchema>;

/** Identifies operators by the provider's tokens. */
export function openOidcOperators(deps: OidcDeps): Credentials {
  const { settings, clock, log } = deps;
  const { issuer, audience } = settings;
  const findKeys = openKeys(deps);
  const verify = async (token: string, mayFetch: boolean): ReturnType<typeof verifyAccessJwt> =>
    await verifyAccessJwt(token, { issuer, audience, keys: await findKeys(mayFetch), now: clock() });
  return {
    async identify(token): Promise<Identified> {
      let verified = await verify(token, false);
      if (!verified.ok && verified.fault.why === UNKNOWN_KEY) verified = await verify(token, true);
      if (!verified.ok) {
        log.warn("operator.token_rejected", { why: verified.fault.why });
        return {};
      }
      const person = personOf(settings, verified.value);
      return person === undefined ? {} : { credential: "oidc", ...person };
    },
  };
}

/**
 * Returns the person of a verified token, or undefined if histories cannot name the subject. A participant has no other
 * role, and none without an organisation. Who has the claim of an organisation is never an operator.
 */
export function personOf(
  { issuer, rolesClaim, organisationClaim }: OidcSettings,
  claims: Readonly<Record<string, unknown>>,
): Person | undefined {
  const subject = claims["sub"];
  if (typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  const name = `${subject}@${new URL(issuer).host}`;
  const claimed = listOf(claims[rolesClaim]);
  const organisation = organisationClaim === undefined ? undefined : claims[organisationClaim];
  if (organisation === undefined && (organisationClaim === undefined || !claimed.includes(PARTICIPANT))) {
    return { name, roles: claimed.filter(isRole), person: name };
  }
  const isParticipant = claimed.includes(PARTICIPANT) && typeof organisation === "string" &&
    organisation !== "";
  return isParticipant ? { name, roles: [PARTICIPANT], organisation } : { name, roles: [] };
}

/** Tokens of the provider are JWTs, which have three parts. Others are looked up in the file. */
export function withOidc(
  file: Credentials | undefined,
  oidc: Credentials | undefined,
): Credentials | undefined {
  if (file === undefined || oidc === undefined) return file ?? oidc;
  return { identify: (token) => (token.split(".").length === 3 ? oidc : file).identify(token) };
}

function listOf(claimed: unknown): readonly string[] {
  const list: readonly unknown[] = typeof claimed === "string"
    ? claimed.split(" ")
    : Array.isArray(claimed)
    ? claimed
    : [];
  return list.filter((role) => typeof role === "string");
}

/** Returns a function that returns the keys; `mayFetch` if the ones that it has are not enough. */
function openKeys(deps: OidcDeps): (mayFetch: boolean) => Promise<Keys> {
  const { steady } = deps;
  let copy: { readonly at: number; readonly keys: Keys } | undefined;
  let triedAt = -Infinity;
  let fetching: Promise<void> | undefined;
  const fetchOnce = async (): Promise<void> => {
    triedAt = steady();
    const keys = await fetchKeys(deps);
    if (keys !== undefined) copy = { at: triedAt, keys };
  };
  return async (mayFetch) => {
    const isOld = copy === undefined || steady() - copy.at > MAX_AGE_MS / 3;
    if ((isOld || mayFetch) && steady() - triedAt >= RETRY_MS) {
      await (fetching ??= fetchOnce().finally(() => fetching = undefined));
    } else await fetching;
    if (copy !== undefined && steady() - copy.at <= MAX_AGE_MS) return copy.keys;
    throw new ApiError("platform.unavailable", {
      detail: "the keys of the operators' OpenID provider are not available",
      retryAfterSeconds: 10,
    });
  };
}

async function fetchKeys({ settings: { issuer }, fetchJson, log }: OidcDeps): Promise<Keys | undefined> {
  const fail = (why: string): undefined =>
    log.warn("operator.provider_unavailable", { issuer, why }) ?? undefined;
  const found = await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!found.ok) return fail(found.fault.why);
  const metadata = metadataSchema.safeParse(found.value);
  if (!metadata.success || metadata.data.issuer !== issuer) return fail("no metadata of this issuer");
  const set = await fetchJson(metadata.data.jwks_uri);
  if (!set.ok) return fail(set.fault.why);
  const keys = keysSchema.safeParse(set.value);
  return keys.success ? keys.data : fail("no key set");
}
