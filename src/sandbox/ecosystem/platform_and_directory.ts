/**
 * The only file of the sandbox that imports code of the platform and the directory. It starts them from configuration,
 * as their operators would, and exposes only Fetch handlers.
 */
import { composePlatform } from "../../platform/process/compose.ts";
import { openWrappingKeys } from "../../platform/evidence/data_keys/wrapping_keys.ts";
import { openOwnStore } from "../../platform/process/own_store.ts";
import { readConfig } from "../../platform/config/config.ts";
import { ROLES } from "../../platform/guards/security/operator_roles.ts";
import { soleCredential } from "../../base/http/credentials.ts";
import { composeDirectory } from "../../directory/process/compose_directory.ts";
import { openStatementKeys, statementJwk } from "../../directory/statements/statement_keys.ts";
import { openKeyRing } from "../../base/jose/key_ring.ts";
import { monotonicClock } from "../../base/kernel/clock.ts";
import { openLog } from "../../base/observability/log.ts";
import { denoFetch } from "../../base/http/deno_fetch.ts";
import { openStore } from "../../base/store/open_store.ts";
import type { Addresses } from "./addresses.ts";
import type { SandboxClock } from "./clock.ts";
import { tryLink } from "../developer/operations.ts";
import { privateKeyPem } from "./key_files.ts";
import type { SandboxFiles } from "./sandbox_files.ts";
import type { Secrets } from "./site.ts";
import type { SiteKeys } from "./site_keys.ts";

/** Lifetime of participants' certificates; few sandbox directories are older. */
const CERTIFICATE_DAYS = 730;

const MAIL = {
  from: "directory@sandbox.example",
  administrators: "administrators@sandbox.example",
  days: [30, 7, 1],
};
/** So that a mail follows soon when the clock is moved. */
const REMIND_EVERY_MS = 5000;

/** Dependencies of both. */
export interface SandboxParts {
  readonly files: SandboxFiles;
  readonly addresses: Addresses;
  readonly secrets: Secrets;
  readonly clock: SandboxClock;
}

/** Databases of the platform: paths of files, or `postgres://…`. */
export interface PlatformStores {
  readonly storeUrl: string;
  readonly dataKeysStore: string;
  /** `PLATFORM_KEEP_CASES_DAYS`, so that an erasure can be tried. */
  readonly keepCasesDays?: string | undefined;
}

type Handler = (request: Request) => Response | Promise<Response>;

/** The running platform: its hosts. */
export interface RunningPlatform {
  readonly api: Handler;
  readonly browser: Handler;
  readonly operations: Handler;
  prepareDocs(): Promise<void>;
  /** Replaces its keys, as SIGHUP does in production. */
  renewKeys(json: string): Promise<void>;
  stop(): Promise<void>;
}

/** The running directory. */
export interface RunningDirectory {
  readonly handle: Handler;
  stop(): Promise<void>;
}

/** Starts the platform, configured by the same variables as in production (Decision F6). */
export async function startPlatform(
  { addresses, secrets, clock, ...stores }: SandboxParts & PlatformStores,
  { platform: keySet, wrapping }: Pick<SiteKeys, "platform" | "wrapping">,
  log: (line: string) => void,
  outgoing: typeof fetch = denoFetch,
): Promise<RunningPlatform> {
  const config = readConfig(variablesOf({ addresses, secrets, ...stores }, keySet));
  const keys = await openKeyRing(config.keys);
  const { store, caseKeys } = await openOwnStore(
    { config, wrapping: await openWrappingKeys(wrapping) },
    openStore,
  );
  const platform = await composePlatform({
    config,
    store,
    clock: clock.now,
    monotonic: monotonicClock,
    fetch: outgoing,
    log,
    keys,
    caseKeys,
    // the sandbox has one operator for all parts
    operators: soleCredential("operator", secrets.directoryAdminToken, ROLES),
    identity: { name: "sandbox" },
    tryLink: tryLink(addresses.shopUrl),
  });
  platform.startWork();
  return {
    api: (request) => platform.api.fetch(request),
    browser: (request) => platform.browser.fetch(request),
    operations: (request) => platform.operations.fetch(request),
    prepareDocs: platform.prepareDocs,
    renewKeys: (json) => keys.renew(json),
    async stop(): Promise<void> {
      await platform.stop();
      await store.close();
    },
  };
}

/** Of an operator that does not exist, so that the pages look as with one. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b5c8a"/>' +
  '<path d="M9 23V9h8a5 5 0 0 1 0 10h-4" fill="none" stroke="#fff" stroke-width="3"/></svg>';

function variablesOf(
  { addresses, secrets, storeUrl, dataKeysStore, keepCasesDays }:
    & Pick<SandboxParts, "addresses" | "secrets">
    & PlatformStores,
  keySet: string,
): Readonly<Record<string, string>> {
  return {
    PLATFORM_BASE_URL: addresses.baseUrl,
    PLATFORM_AUTH_URL: addresses.authUrl,
    PLATFORM_STORE_URL: storeUrl,
    PLATFORM_DATA_KEYS_STORE: dataKeysStore,
    PLATFORM_WRAPPING_KEYS: "read already",
    PLATFORM_KEYS: keySet,
    PLATFORM_DIRECTORY_ISSUER: addresses.directoryUrl,
    PLATFORM_DIRECTORY_JWKS_URI: `${addresses.directoryUrl}/jwks`,
    PLATFORM_DIRECTORY_HOSTS: new URL(addresses.directoryUrl).host,
    PLATFORM_REGISTRATION_AUDIENCE: addresses.registrationAudience,
    PLATFORM_CLIENT_CERT_SOURCE: "client-cert",
    PLATFORM_PROXY_SECRET: secrets.proxySecret,
    PLATFORM_OPERATIONS_URL: addresses.operationsUrl,
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_OPERATOR_NAME: "Example Payments",
    PLATFORM_OPERATOR_LOGO: `data:image/svg+xml;base64,${btoa(LOGO)}`,
    PLATFORM_OPERATOR_SUPPORT: "help@payments.example",
    ...(keepCasesDays === undefined ? {} : { PLATFORM_KEEP_CASES_DAYS: keepCasesDays }),
  };
}

/** Starts the directory on its store file, with the sandbox's authority as its own. */
export async function startDirectory(
  { files, addresses, secrets, clock, smtpPort }: SandboxParts & {
    /** Where a mail server listens, on loopback. */
    readonly smtpPort: number;
  },
  { authority, directory: signingKey }: Pick<SiteKeys, "authority" | "directory">,
  sink: (line: string) => void,
): Promise<RunningDirectory> {
  const store = await openStore(files.directoryStore, {
    program: "directory",
    issuer: addresses.directoryUrl,
  });
  const jwk = await statementJwk(await privateKeyPem(signingKey.privateKey));
  const directory = await composeDirectory({
    issuer: addresses.directoryUrl,
    administrators: soleCredential("administrator", secrets.directoryAdminToken),
    ca: { certificatePem: authority.certificatePem, privateKeyPem: authority.privateKeyPem },
    statementKeys: await openStatementKeys(JSON.stringify({ keys: [jwk] }), clock.now),
    store,
    clock: clock.now,
    environment: "Sandbox",
    loopbackRedirects: true,
    certificateDays: CERTIFICATE_DAYS,
    mail: { ...MAIL, smtp: { host: "127.0.0.1", port: smtpPort, security: "none" } },
    judgesClock: Date.now, // TLS uses this computer's clock, not the sandbox's
    log: openLog({ clock: clock.now, sink, level: "info" }),
  });
  const reminders = directory.reminders?.start(REMIND_EVERY_MS);
  return {
    handle: (request) => directory.fetch(request),
    async stop(): Promise<void> {
      await reminders?.stop();
      await store.close();
    },
  };
}
