/**
 * One ecosystem per test: the real platform and the real directory in process over in-memory KV, a clock that tests
 * move, and participants with real keys who onboarded and registered. Requests arrive as a TLS proxy would send them.
 */
import { type Addresses, AUTH_URL, BASE_URL, DIRECTORY_URL, REGISTRATION_AUDIENCE } from "./addresses.ts";
import { composePlatform, type Platform } from "../../src/platform/process/compose.ts";
import { type Config, readConfig } from "../../src/platform/config/config.ts";
import { RATE_GROUPS } from "../../src/platform/config/rate_policies.ts";
import { type Credentials, soleCredential } from "../../src/base/http/credentials.ts";
import { composeDirectory, type DirectoryApp } from "../../src/directory/process/compose_directory.ts";
import { openKeyRing } from "../../src/base/jose/key_ring.ts";
import { openDenoKv } from "../../src/base/store/deno_kv.ts";
import type { CaseKeys } from "../../src/platform/evidence/data_keys/case_keys.ts";
import { everything, snapshot } from "./store_contents.ts";
import type { Sealed } from "../../src/platform/evidence/data_keys/sealed_store.ts";
import { forwardOnly, sealedForTest } from "./sealed_for_test.ts";
import { openTestStore } from "./test_store.ts";
import type { Entry, Store } from "../../src/base/store/store.ts";
import { describedPlatform } from "./described_platform.ts";
import { makeAuthority, testStatementKeys } from "./directory_environment.ts";
import { onboard, type Participant } from "./participants.ts";
import { OPERATIONS_URL, OPERATOR_TOKENS, type TestOperator, testOperators } from "./operators.ts";
import type { ProcessIdentity } from "../../src/platform/operations/process_store.ts";
import { platformKeySet } from "./platform_keys.ts";
import { ADMIN_TOKEN, PROXY_SECRET, throughProxy } from "./through_proxy.ts";

export { ADMIN_TOKEN, AUTH_URL, BASE_URL, DIRECTORY_URL, PROXY_SECRET, REGISTRATION_AUDIENCE, throughProxy };
/** 2040-01-15T12:00:00Z: ahead of the computer's clock, so that KV's own expiry never interferes. */
export const START = Date.UTC(2040, 0, 15, 12);

/** A running ecosystem. `now` (ms) may be moved. */
export interface Environment extends AsyncDisposable {
  now: number;
  /** Of an environment that runs elsewhere. */
  readonly addresses?: Addresses;
  /** Offset of the platform computer's clock from `now`, ms; its monotonic clock follows `now`. */
  clockStep: number;
  readonly config: Config;
  /** The platform's store as it reads and writes it: sealed values are opened. */
  readonly store: Store;
  /** The same store with sealed values as they are in the database. */
  readonly raw: Store;
  /** The data key store. */
  readonly vault: Store;
  readonly caseKeys: CaseKeys;
  platform: Platform;
  readonly directory: DirectoryApp;
  /** Every line the platform logged. */
  readonly logged: string[];
  /** Every URL the platform fetched. */
  readonly fetched: string[];
  /** The simulated network: replace it to make the directory unavailable or return invalid responses. */
  network: (request: Request) => Promise<Response>;
  readonly tpp: Participant;
  readonly otherTpp: Participant;
  /** Bank with the platform's consent screen and an encryption key of its own. */
  readonly bankA: Participant;
  /** Bank with its own consent screen. JWTs to it are encrypted with its TLS key. */
  readonly bankB: Participant;
  /** Simulates a restart of the platform's process on the same store. */
  restart(): Promise<void>;
  /** Sends a request to the API host; `as` brings that participant's certificate through the proxy. */
  api(request: Request, as?: Participant): Promise<Response>;
  /** Sends a request to the browser host. */
  browser(request: Request): Promise<Response>;
  /** Sends a request to the operations host; `as` brings that operator's token. */
  asOperator(path: string, init?: RequestInit, as?: TestOperator): Promise<Response>;
  /**
   * All stored records except replay records, rate limits and copies of the directory. Equal snapshots mean that no
   * state changed.
   */
  snapshot(): Promise<readonly Entry<unknown>[]>;
}

/** Options of the environment. */
export interface EnvironmentOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Another store; it is closed with the environment. */
  readonly store?: Store | undefined;
  /** The bank's `payment_orders_uri`; none by default. */
  readonly paymentOrdersUri?: { readonly bankA?: string; readonly bankB?: string };
  /** Whether both banks declare `results_on_back_channel`; not by default. */
  readonly resultsOnBackChannel?: boolean;
  /** The TPPs' `event_notification_uri`; none by default. */
  readonly eventNotificationUri?: { readonly tpp?: string; readonly otherTpp?: string };
  /** Registers the participants at this very platform, for tests of what a process knows without its store. */
  readonly registersItself?: boolean;
  /** Other operators than those of `operators.ts`. */
  readonly operators?: Credentials;
  /** Whether proxies may use the process. By default they may. */
  readonly isServing?: () => boolean;
  /** The directory's store and the data key store, which are closed with the environment; in memory by default. */
  readonly otherStores?: { readonly directory: Store; readonly vault: Store };
  /** Where the clock begins, ms. */
  readonly start?: number;
  /** How operators see the process among the others; by default they do not. */
  readonly identity?: ProcessIdentity;
}

type Participants = Pick<Environment, "tpp" | "otherTpp" | "bankA" | "bankB">;
export type EmptyEnvironment = Omit<Environment, keyof Participants>;

/** The content of both databases after the registrations, and the registered participants. */
interface Registered {
  readonly platform: readonly Entry<unknown>[];
  readonly directory: readonly Entry<unknown>[];
  readonly participants: Participants;
}

/** By options: onboarding costs ten times what copying its records does. */
const registered = new Map<string, Promise<Registered>>();

/** Opens an ecosystem whose four participants are registered. */
export async function openEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  if (options.registersItself === true) {
    const env = await openEmptyEnvironment(options);
    return Object.assign(env, await onboardAll(env, options));
  }
  const { environment, paymentOrdersUri, eventNotificationUri, resultsOnBackChannel } = options;
  const name = JSON.stringify([environment, paymentOrdersUri, eventNotificationUri, resultsOnBackChannel]);
  const records = registered.get(name) ?? registerAll(options);
  registered.set(name, records);
  const copied = await records;
  return Object.assign(await openEmptyEnvironment(options, copied), copied.participants);
}

async function registerAll(options: EnvironmentOptions): Promise<Registered> {
  const otherStores = { directory: await openTestStore(), vault: await openDenoKv(":memory:") };
  await using env = await openEmptyEnvironment({ ...options, store: undefined, otherStores });
  const participants = await onboardAll(env, options);
  return {
    platform: await everything(env.store),
    directory: await everything(otherStores.directory),
    participants,
  };
}

async function storeHolding(entries: readonly Entry<unknown>[] = [], opened?: Store): Promise<Store> {
  const store = opened ?? await openTestStore();
  for (let from = 0; from < entries.length; from += 100) {
    const writes = entries.slice(from, from + 100).map(({ key, value }) => ({
      kind: "set" as const,
      key,
      value,
    }));
    await store.commit({ checks: [], writes });
  }
  return store;
}

let authority: ReturnType<typeof makeAuthority> | undefined;

/** Opens an ecosystem without participants, or with those that its stores hold. */
export async function openEmptyEnvironment(
  options: EnvironmentOptions,
  copied?: Registered,
): Promise<EmptyEnvironment> {
  const raw = await storeHolding(copied?.platform, options.store);
  const directoryStore = await storeHolding(copied?.directory, options.otherStores?.directory);
  const vault = options.otherStores?.vault ?? await openDenoKv(":memory:");
  const state = {
    now: options.start ?? START,
    clockStep: 0,
    logged: [] as string[],
    fetched: [] as string[],
  };
  const keySet = await platformKeySet();
  const config = readConfig({ ...ENVIRONMENT, PLATFORM_KEYS: keySet, ...options.environment });
  const directory = await composeDirectory({
    issuer: DIRECTORY_URL,
    administrators: soleCredential("ana", ADMIN_TOKEN),
    ca: await (authority ??= makeAuthority(new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2046, 0, 1)))),
    statementKeys: await testStatementKeys(),
    store: directoryStore,
    clock: () => state.now,
    environment: config.environment,
    loopbackRedirects: false,
  });
  const openOwnStore = (): Promise<Sealed> => sealedForTest(raw, vault, forwardOnly(() => state.now));
  const env = Object.assign(state, {
    config,
    softwareEnvironment: config.environment,
    ...await openOwnStore(),
    raw,
    vault,
    directory,
    network: (request: Request): Promise<Response> => directory.fetch(request),
  });
  const fetchThroughEnvironment = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    env.fetched.push(request.url);
    return env.network(request);
  };
  const keys = await openKeyRing(config.keys);
  const compose = async (): Promise<Platform> => {
    const platform = await composePlatform({
      config,
      store: env.store,
      caseKeys: env.caseKeys,
      clock: () => env.now + env.clockStep,
      monotonic: forwardOnly(() => env.now),
      fetch: fetchThroughEnvironment as typeof fetch,
      log: (line) => void env.logged.push(line),
      keys,
      operators: options.operators ?? await testOperators(),
      isServing: options.isServing ?? (() => true),
      ...(options.identity === undefined ? {} : { identity: options.identity }),
    });
    const lines = env.logged.length;
    const described = await describedPlatform(platform, config);
    env.logged.length = lines; // excludes the lines of the request for the document
    return described;
  };
  const running: EmptyEnvironment = Object.assign(env, {
    platform: await compose(),
    async restart(): Promise<void> {
      await running.platform.stop();
      Object.assign(env, await openOwnStore());
      running.platform = await compose();
    },
    api: (request: Request, as?: Participant): Promise<Response> =>
      running.platform.api.fetch(throughProxy(request, as)),
    browser: (request: Request): Promise<Response> => running.platform.browser.fetch(request),
    asOperator(path: string, init: RequestInit = {}, as: TestOperator = "maria"): Promise<Response> {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization")) headers.set("authorization", `Bearer ${OPERATOR_TOKENS[as]}`);
      return running.platform.operations.fetch(new Request(`${OPERATIONS_URL}${path}`, { ...init, headers }));
    },
    snapshot: () => snapshot(env.store),
    async [Symbol.asyncDispose](): Promise<void> {
      await running.platform.stop();
      await env.store.close();
      await directoryStore.close();
    },
  });
  return running;
}

const ENVIRONMENT = {
  PLATFORM_BASE_URL: BASE_URL,
  PLATFORM_AUTH_URL: AUTH_URL,
  PLATFORM_STORE_URL: "/tests/never-opened.kv",
  PLATFORM_DIRECTORY_ISSUER: DIRECTORY_URL,
  PLATFORM_DIRECTORY_JWKS_URI: `${DIRECTORY_URL}/jwks`,
  PLATFORM_DIRECTORY_HOSTS: "directory.example",
  PLATFORM_REGISTRATION_AUDIENCE: REGISTRATION_AUDIENCE,
  PLATFORM_PROXY_SECRET: PROXY_SECRET,
  PLATFORM_WRAPPING_KEYS: "/tests/never-opened.keys",
  PLATFORM_ENVIRONMENT: "Production",
  PLATFORM_LOG_LEVEL: "debug",
  PLATFORM_FOUR_EYES: "none",
  // Admission has tests of its own.
  PLATFORM_REQUESTS_IN_WORK: "10000",
  PLATFORM_REQUEST_WAIT_SECONDS: "600",
  // The clock stands still, so buckets would never refill. Limits have tests of their own.
  PLATFORM_RATE_LIMITS: RATE_GROUPS.map((group) => `${group}=100000/100000`).join(),
};

async function onboardAll(
  env: EmptyEnvironment,
  { paymentOrdersUri = {}, eventNotificationUri = {}, resultsOnBackChannel = false }: EnvironmentOptions,
): Promise<Participants> {
  const tpp = await onboard(env, {
    name: "Example Shop Ltd",
    role: "PISP",
    keys: [0, 1],
    redirectUris: SHOP_REDIRECTS,
    eventNotificationUri: eventNotificationUri.tpp,
  });
  const otherTpp = await onboard(env, {
    name: "Other Shop Ltd",
    role: "PISP",
    keys: [2, 3],
    redirectUris: ["https://other.example/callback"],
    eventNotificationUri: eventNotificationUri.otherTpp,
  });
  const bankA = await onboard(env, {
    name: "Bank A plc",
    role: "ASPSP",
    orgId: "BANKA",
    keys: [4, 5, 6],
    redirectUris: ["https://bank-a.example/sca"],
    consentManagedByBank: false,
    resultsOnBackChannel,
    paymentOrdersUri: paymentOrdersUri.bankA,
  });
  const bankB = await onboard(env, {
    name: "Bank B plc",
    role: "ASPSP",
    orgId: "BANKB",
    keys: [7, 8],
    redirectUris: ["https://bank-b.example/sca"],
    consentManagedByBank: true,
    resultsOnBackChannel,
    paymentOrdersUri: paymentOrdersUri.bankB,
  });
  return { tpp, otherTpp, bankA, bankB };
}

/** The TPP's registered redirect URLs; the second has a query of its own. */
export const SHOP_REDIRECTS = [
  "https://shop.example/callback",
  "https://shop.example/callback?dummy1=lorem&dummy2=ipsum",
];
