/**
 * The whole ecosystem in one process (Decision F1): directory, platform behind its TLS front door, two banks and a
 * shop, on six ports of this computer. Decides the order of the start only.
 */
import { explainBindError } from "./addresses.ts";
import { CannotStart } from "./cannot_start.ts";
import { withClock } from "./clock_routes.ts";
import { type Handler, listenHttp } from "./http_listener.ts";
import type { MakeKeyPair } from "./key_files.ts";
import { openMailReceiver, withMails } from "./mail_receiver.ts";
import { onboard } from "./onboarding.ts";
import { participantPlans } from "./participants_plan.ts";
import { type RunningPlatform, startDirectory, startPlatform } from "./platform_and_directory.ts";
import { registerParticipant } from "./registration.ts";
import { asJson, removeIfAny, writeSecret } from "./sandbox_files.ts";
import { markComplete } from "./sandbox_state.ts";
import { type Site, takeSite } from "./site.ts";
import { openSiteKeys, type SiteKeys } from "./site_keys.ts";
import { startExternalParties } from "./external_parties.ts";
import { type FrontDoor, openFrontDoor } from "./tls_front_door.ts";

export interface EcosystemOptions {
  /** First of six ports in a row (Decision F2). */
  readonly port: number;
  /** Directory for all files of the sandbox; created if missing. */
  readonly dir: string;
  /** The platform's PostgreSQL database, migrated and empty at the first start; by default a file in `dir`. */
  readonly storeUrl?: string | undefined;
  /** The PostgreSQL database of its data keys, migrated and empty at the first start; by default a file in `dir`. */
  readonly dataKeysStore?: string | undefined;
  /** The platform's `PLATFORM_KEEP_CASES_DAYS`. */
  readonly keepCasesDays?: string | undefined;
  /** Whether the platform runs elsewhere, at this sandbox's addresses for it. The first start needs its own. */
  readonly isPlatformElsewhere?: boolean;
  /** How long to wait for a sandbox on the same directory that is just stopping; default 0. */
  readonly patienceMs?: number;
  /** Makes the keys of a first start. Default: new 2048-bit RSA keys, which take most of its time. */
  readonly makeKeys?: MakeKeyPair;
  /** How the platform calls banks and the directory; default: `fetch`. */
  readonly outgoing?: typeof fetch;
  /** Whether the sandbox's banks serve the hook of their certification; default: no. */
  readonly certifiesBanks?: boolean;
  /** Stands between the platform and all its callers; default: none. */
  readonly front?: PlatformFront;
  /** Receives one line for each slow step of a first start. */
  readonly log?: (line: string) => void;
}

/** A part between the platform and its callers, which can record and change what they send to each other. */
export interface PlatformFront {
  /** Answers a request to one of the platform's hosts. `platform` returns what the platform answers to a request. */
  handle(
    host: "api" | "browser",
    request: Request,
    platform: RunningPlatform["api"],
  ): Response | Promise<Response>;
  /** Receives each TLS front door once it is open. */
  opened?(door: FrontDoor): void;
}

/** Contents of `endpoints.json` (Decision F2). */
export interface Endpoints {
  readonly base_url: string;
  readonly auth_url: string;
  readonly directory_url: string;
  readonly banks_url: string;
  readonly shop_url: string;
  readonly operations_url: string;
  readonly registration_audience: string;
  readonly directory_admin_token: string;
}

/** A running ecosystem. */
export interface Ecosystem {
  readonly endpoints: Endpoints;
  /** Replaces the platform's keys while it runs. @throws {Error} if they are not usable, or it runs elsewhere */
  renewPlatformKeys(json: string): Promise<void>;
  /** Makes the index of the documentation before a reader searches. */
  prepareDocs(): Promise<void>;
  /** Lets running requests end, closes all parts, releases the directory. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts all parts; resolves when all of them respond and `endpoints.json` is written.
 * @throws {CannotStart} if a port or the directory is in use, or the directory is not usable
 */
export async function startEcosystem(options: EcosystemOptions): Promise<Ecosystem> {
  // If a step fails, all parts started before it are stopped in reverse order.
  await using running = new AsyncDisposableStack();
  const tell = options.log ?? ((): void => {});
  const site = await takeSite(options, running);
  const newcomers = site.made === "complete" ? [] : participantPlans(site.addresses);
  if (newcomers.length > 0) tell("First start on this port: making keys and certificates.");
  if (newcomers.length > 0 && options.isPlatformElsewhere) {
    throw new CannotStart("The first start needs the platform of the sandbox: leave SANDBOX_PLATFORM out.");
  }
  const keys = await openSiteKeys(site, newcomers, Date.now(), options.makeKeys);
  await openDirectory(site, keys, running);
  const platform = options.isPlatformElsewhere ? undefined : await openPlatform(site, keys, running, options);
  if (newcomers.length > 0) {
    tell("Onboarding the shop and two banks at the directory, registering them at the platform.");
    await admit(site, keys);
  }
  await openExternalParties(site, running, options);
  const endpoints = endpointsOf(site);
  running.defer(() => removeIfAny(site.files.endpoints));
  running.defer(() => removeIfAny(site.files.adminHeader));
  await writeSecret(site.files.adminHeader, `authorization: Bearer ${endpoints.directory_admin_token}\n`);
  await writeSecret(site.files.endpoints, asJson(endpoints));
  const parts = running.move();
  let stopped: Promise<void> | undefined;
  return {
    endpoints,
    async renewPlatformKeys(json): Promise<void> {
      if (platform === undefined) throw new Error("The platform runs elsewhere.");
      await platform.renewKeys(json);
    },
    prepareDocs: async () => await platform?.prepareDocs(),
    stop: () => stopped ??= parts.disposeAsync(),
  };
}

async function openDirectory(site: Site, keys: SiteKeys, running: AsyncDisposableStack): Promise<void> {
  const mail = openMailReceiver();
  running.defer(() => mail.stop());
  const directory = await startDirectory({ ...site, smtpPort: mail.port }, keys, site.log.write);
  running.defer(() => directory.stop());
  const { clock, secrets } = site;
  const handle = withMails(mail, directory.handle);
  listen(site, 2, withClock({ clock, adminToken: secrets.directoryAdminToken }, handle), running);
}

async function openPlatform(
  site: Site,
  keys: SiteKeys,
  running: AsyncDisposableStack,
  options: EcosystemOptions,
): Promise<RunningPlatform> {
  const { storeUrl = site.files.platformStore, dataKeysStore = site.files.dataKeysStore, front } = options;
  const stores = { storeUrl, dataKeysStore, keepCasesDays: options.keepCasesDays };
  const started = await startPlatform({ ...site, ...stores }, keys, site.log.write, options.outgoing);
  running.defer(() => started.stop());
  const platform = front === undefined ? started : behind(front, started);
  listen(site, 1, platform.browser, running);
  listen(site, 5, platform.operations, running);
  for (const hostname of site.hosts) {
    const door = await openDoor(site, keys, platform, hostname, running);
    front?.opened?.(door);
  }
  return platform;
}

function behind(front: PlatformFront, { api, browser, ...platform }: RunningPlatform): RunningPlatform {
  return {
    ...platform,
    api: (request) => front.handle("api", request, api),
    browser: (request) => front.handle("browser", request, browser),
  };
}

async function openDoor(
  site: Site,
  { server, authority }: SiteKeys,
  platform: RunningPlatform,
  hostname: string,
  running: AsyncDisposableStack,
): Promise<FrontDoor> {
  try {
    const door = await openFrontDoor({
      hostname,
      port: site.firstPort,
      baseUrl: site.addresses.baseUrl,
      proxySecret: site.secrets.proxySecret,
      tls: {
        certificate: server.certificatePem,
        key: server.privateKeyPem,
        clientAuthority: authority.certificatePem,
      },
      handle: platform.api,
      onFailure: (error) => site.log.failure("front-door", error),
    });
    running.defer(() => door.close());
    return door;
  } catch (error) {
    throw explainBindError(error, site.firstPort);
  }
}

/** Onboards and registers all participants, then marks the site's data as complete. */
async function admit(site: Site, { newcomers }: SiteKeys): Promise<void> {
  const { files, addresses, secrets } = site;
  const access = { directoryUrl: addresses.directoryUrl, adminToken: secrets.directoryAdminToken };
  for (const { plan, keys } of newcomers) {
    await onboard(access, files, plan, keys);
    await registerParticipant(addresses, files, plan);
  }
  await markComplete(files, site.firstPort);
}

async function openExternalParties(
  site: Site,
  running: AsyncDisposableStack,
  { certifiesBanks = false }: EcosystemOptions,
): Promise<void> {
  const parties = await startExternalParties(site, certifiesBanks);
  running.defer(() => parties.stop());
  listen(site, 3, parties.banks, running);
  listen(site, 4, parties.shop, running);
}

function listen(site: Site, offset: number, handle: Handler, running: AsyncDisposableStack): void {
  const port = site.firstPort + offset;
  const onFailure = (error: unknown): void => site.log.failure(`port-${port}`, error);
  const listener = listenHttp({ hosts: site.hosts, port, onFailure }, handle);
  running.defer(() => listener.close());
}

function endpointsOf({ addresses, secrets }: Site): Endpoints {
  return {
    base_url: addresses.baseUrl,
    auth_url: addresses.authUrl,
    directory_url: addresses.directoryUrl,
    banks_url: addresses.banksUrl,
    shop_url: addresses.shopUrl,
    operations_url: addresses.operationsUrl,
    registration_audience: addresses.registrationAudience,
    directory_admin_token: secrets.directoryAdminToken,
  };
}
