/**
 * Sessions of people who have signed in. The cookie has the person, sealed; a session ends after eight hours, at the
 * sign-out, or as soon as the person's token is revoked. That of a person of a provider ends after 15 minutes, so that
 * the provider says again who the person is and what the person may do.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { z } from "zod";
import { type Person, personOf } from "../base/http/bearer.ts";
import type { Form } from "../base/http/body.ts";
import type { Identified } from "../base/http/credentials.ts";
import type { Clock } from "../base/kernel/clock.ts";
import { newSecret, sha256 } from "../base/kernel/identifiers.ts";
import { openRecentlyUsed } from "../base/kernel/recently_used.ts";
import { optional } from "../base/store/record.ts";
import type { LoggedOut } from "../base/jose/logout_token.ts";
import type { Seal } from "../base/jose/seal.ts";
import { isOwnForm } from "./paths.ts";

/** A person who has signed in. */
export interface Session {
  readonly person: Person;
  /** The value that the forms of this page send. Each page of the session has another. */
  readonly formToken: string;
  /** Whether a page of this session has sent the form: another site's has no such value. */
  isOwnForm(form: Form): Promise<boolean>;
  /** Whether the person was authenticated so recently, in milliseconds. Who has sent a token has always. */
  isProven(within: number): boolean;
}

/** A person whom a provider has authenticated, or the token of a person with one. */
export type SignedIn = Readonly<Kept["signedIn"]>;

type ProviderSignIn = Extract<SignedIn, { kind: "provider" }>;

export interface Sessions {
  /** Returns whether the person may have a session. @throws {ApiError} `platform.unavailable` */
  readonly admits: (person: Person) => Promise<boolean>;
  /** Starts a session that ends at `until` (milliseconds) at the latest. */
  start(c: Context, signedIn: SignedIn, until?: number): Promise<void>;
  /** Returns undefined without a valid session. @throws {ApiError} `platform.unavailable` */
  find(c: Context): Promise<Session | undefined>;
  /** Ends the session, also for copies of its cookie. Returns how the person had signed in. */
  end(c: Context): Promise<SignedIn["kind"] | undefined>;
  /** Ends the sessions of a person or of a session at the provider, that have begun before. */
  endAt(provider: LoggedOut): void;
  /** Returns the token of the sign-in form, bound to this browser. Sets its cookie if there is none. */
  visitorToken(c: Context): Promise<string>;
  /** Keeps `members` in the browser until it returns from the provider. */
  keepSignIn(c: Context, members: object): Promise<void>;
  /** Returns what {@link Sessions.keepSignIn} has kept, once. */
  takeSignIn(c: Context): Promise<unknown>;
}

export interface SessionDeps {
  readonly seal: Seal;
  readonly clock: Clock;
  readonly identify: (token: string) => Promise<Identified>;
  /** By default everyone may whom the token or the provider names. */
  readonly admits?: Sessions["admits"];
  /** Whether the console's address is https. Without it cookies have no prefix and no Secure (Decision F2). */
  readonly secure: boolean;
  /** The first part of the cookies' names, which differs for consoles on one host. */
  readonly cookies: string;
}

/** Oldest authentication when a change's page is opened. */
export const CONFIRMED_MS = 300_000;
/** Oldest authentication when a change is made: time for its form is left. */
export const PROVEN_MS = 900_000;
/** Longest session: a token is looked up at each request, an account only at the sign-in. */
const SESSION_MS = { token: 8 * 3_600_000, provider: 900_000 };
/** Time for a sign-in at the provider. */
const SIGN_IN_MS = 600_000;
/** Sign-outs that are remembered. Sessions have ended by themselves before so many sign out in eight hours. */
const MAX_ENDED = 10_000;

const kept = z.object({
  id: z.string(),
  startedAt: z.number(),
  signedIn: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("token"), token: z.string() }),
    z.object({
      kind: z.literal("provider"),
      name: z.string(),
      roles: z.array(z.string()).readonly(),
      organisation: optional(z.string()),
      person: optional(z.string()),
      /** The provider's names of the person and of its session. */
      sub: z.string(),
      sid: optional(z.string()),
      /** Milliseconds. When the provider has authenticated the person, in a way that may make changes. */
      provenAt: optional(z.number()),
    }),
  ]),
});

export function openSessions(deps: SessionDeps): Sessions {
  const { seal, clock, identify, admits = () => Promise.resolve(true) } = deps;
  const [cookies, ended] = [cookiesOf(deps), openEnded(clock)];
  const read = async (c: Context): Promise<Kept | undefined> => {
    const opened = kept.safeParse(await seal.open("session", cookies.get(c, "session")));
    return opened.success && !ended.has(opened.data) ? opened.data : undefined;
  };
  return {
    admits,
    async start(c, signedIn, until = Infinity) {
      const expiresAt = Math.min(until, clock() + SESSION_MS[signedIn.kind]);
      const members = { id: newSecret(), startedAt: clock(), signedIn };
      cookies.set(c, "session", await seal.close("session", members, expiresAt));
      cookies.remove(c, "visit");
    },
    async find(c) {
      const session = await read(c);
      const person = session && await signedInPerson(session.signedIn, identify);
      if (session === undefined || person === undefined || !await admits(person)) return undefined;
      const provenAt = provenAtOf(session.signedIn);
      const isProven = (within: number): boolean => clock() - provenAt <= within;
      return { person, ...await formsOf(session.id), isProven };
    },
    async end(c) {
      const session = await read(c);
      if (session !== undefined) ended.end(session.id);
      cookies.remove(c, "session");
      return session?.signedIn.kind;
    },
    endAt: ended.endAt,
    async visitorToken(c) {
      const visit = cookies.get(c, "visit") ?? newSecret();
      cookies.set(c, "visit", visit);
      return await tokenOf(visit);
    },
    ...signInKeeping(deps, cookies),
  };
}

type Kept = z.infer<typeof kept>;

function signInKeeping(
  { seal, clock }: SessionDeps,
  cookies: Cookies,
): Pick<Sessions, "keepSignIn" | "takeSignIn"> {
  return {
    async keepSignIn(c, members) {
      cookies.set(c, "sign-in", await seal.close("sign-in", members, clock() + SIGN_IN_MS));
    },
    async takeSignIn(c) {
      const members = await seal.open("sign-in", cookies.get(c, "sign-in"));
      cookies.remove(c, "sign-in");
      return members;
    },
  };
}

/** Sessions that have ended before their time: single ones, and those of a session or a person at the provider. */
interface Ended {
  has(session: Kept): boolean;
  end(id: string): void;
  endAt(provider: LoggedOut): void;
}

function openEnded(clock: Clock): Ended {
  const ended = openRecentlyUsed<number>(MAX_ENDED);
  return {
    has({ id, startedAt, signedIn }) {
      if (ended.has(id)) return true;
      if (signedIn.kind === "token") return false;
      const { sub, sid } = signedIn;
      if (sid !== undefined && ended.has(`sid ${sid}`)) return true;
      const names = [`sub ${sub}`, ...(sid === undefined ? [`without sid ${sub}`] : [])];
      return names.some((name) => startedAt <= (ended.get(name) ?? -Infinity));
    },
    end: (id) => void ended.set(id, clock()),
    endAt({ sub, sid }) {
      if (sid !== undefined) ended.set(`sid ${sid}`, clock());
      if (sub !== undefined) ended.set(sid === undefined ? `sub ${sub}` : `without sid ${sub}`, clock());
    },
  };
}

/** When the person was authenticated, milliseconds. Who has sent a token proves it at each request. */
function provenAtOf(signedIn: SignedIn): number {
  return signedIn.kind === "token" ? Infinity : signedIn.provenAt ?? -Infinity;
}

/** The console's cookies. That of a sign-in is Lax, because the provider's site sends the browser back. */
type CookieName = "session" | "visit" | "sign-in";

interface Cookies {
  get(c: Context, name: CookieName): string | undefined;
  set(c: Context, name: CookieName, value: string): void;
  remove(c: Context, name: CookieName): void;
}

function cookiesOf({ secure, cookies }: Pick<SessionDeps, "secure" | "cookies">): Cookies {
  const full = (name: CookieName): string => `${secure ? "__Host-" : ""}${cookies}-${name}`;
  const attributes = (name: CookieName): CookieOptions => ({
    path: "/",
    httpOnly: true,
    sameSite: name === "sign-in" ? "Lax" : "Strict",
    secure,
  });
  return {
    get: (c, name) => getCookie(c, full(name)),
    set: (c, name, value) => setCookie(c, full(name), value, attributes(name)),
    remove: (c, name) => void deleteCookie(c, full(name), attributes(name)),
  };
}

/** A token is looked up at each request, so that a revocation counts from the next one on. */
async function signedInPerson(
  signedIn: SignedIn,
  identify: SessionDeps["identify"],
): Promise<Person | undefined> {
  return signedIn.kind === "provider" ? providerPerson(signedIn) : personOf(await identify(signedIn.token));
}

function providerPerson({ name, roles, organisation, person }: ProviderSignIn): Person {
  const of = organisation === undefined ? {} : { organisation };
  return { name, roles, ...of, ...(person === undefined ? {} : { person }) };
}

async function formsOf(session: string): Promise<Pick<Session, "formToken" | "isOwnForm">> {
  return {
    formToken: await pageToken(session, newSecret()),
    async isOwnForm(form) {
      const [page = ""] = (form.get("form_token") ?? "").split(".");
      return await isOwnForm(form, await pageToken(session, page));
    },
  };
}

async function pageToken(session: string, page: string): Promise<string> {
  return `${page}.${await tokenOf(`${session} ${page}`)}`;
}

async function tokenOf(secret: string): Promise<string> {
  return await sha256(`console form ${secret}`);
}
