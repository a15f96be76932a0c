/**
 * Reads the configuration from the environment. An error lists every fault and what to set. An unsafe configuration
 * is rejected.
 */
import { cellOf, HOME_CELL } from "./cells.ts";
import { fileVariables } from "../../base/http/secret_files.ts";
import { isLoopback } from "../../base/http/outgoing.ts";
import type { z } from "zod";
import {
  type FourEyesChange,
  PARTS,
  SECRETS,
  SETTINGS,
  type Values,
  variableOf,
} from "./config_variables.ts";
import { isUrl, storeUrlFaults } from "../../base/store/store_url.ts";
import type { Operator } from "../../pages/site.ts";
import type { SpanCollector } from "./span_collector.ts";
import { type OidcSettings, operatorFaults, readOidcSettings, usualFourEyes } from "./operators_config.ts";

type Settings = Pick<Values, keyof typeof SETTINGS>;

/** The configuration of a deployment. URLs are origins without a trailing slash. */
export interface Config extends Settings {
  /** Origin of the operators' console as their browsers open it. */
  readonly operationsUrl: string;
  readonly dataKeysStore: string;
  readonly lameDuckSeconds: number;
  readonly fourEyes: readonly FourEyesChange[];
  /** The OpenID provider of operators, if they have one. */
  readonly operatorsOidc: OidcSettings | undefined;
  /** The collector of OpenTelemetry spans, if there is one. */
  readonly spanCollector: SpanCollector | undefined;
  readonly operator: Operator;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is unusable. `message` lists every fault, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/** Each half is twice the interval of a proxy's probe, and twice the time that it keeps an idle connection: 1 s. */
const LAME_DUCK_SECONDS = 4;

const FORMS = Object.entries({ ...SETTINGS, ...PARTS }) as readonly [keyof Values, z.ZodType][];

/** Every variable that is read. */
export const VARIABLES: readonly string[] = Object.freeze([
  ...FORMS.map(([name]) => variableOf(name)),
  ...fileVariables(SECRETS),
]);

/**
 * Reads and checks the environment.
 *
 * @param elsewhere faults that the caller has found already, to be listed with the others
 * @throws {ConfigError} that lists every fault
 */
export function readConfig(env: Environment, elsewhere: readonly string[] = []): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, form] of FORMS) {
    const variable = variableOf(name);
    const { data, error } = form.safeParse(env[variable] || undefined);
    values[name] = Array.isArray(data) ? Object.freeze(data) : data;
    faults.push(...(error?.issues ?? []).map(({ message }) => `${variable}: ${message}`));
  }
  faults.push(...urlFaults(values), ...directoryFaults(values), ...unsafe(values), ...elsewhere);
  if (faults.length > 0) throw new ConfigError(faults);
  return makeConfig(values as Values);
}

function makeConfig(values: Values): Config {
  const settings = Object.keys(SETTINGS) as readonly (keyof Settings)[];
  const { storeUrl, operationsPort, spanUrl, spanHeaders: headers = {} } = values;
  return Object.freeze({
    ...Object.fromEntries(settings.map((name) => [name, values[name]])) as Settings,
    operationsUrl: values.operationsUrl ?? `http://localhost:${operationsPort ?? 80}`,
    dataKeysStore: values.dataKeysStore ?? dataKeysBeside(storeUrl),
    lameDuckSeconds: values.lameDuckSeconds ?? defaultLameDuckSeconds(storeUrl),
    fourEyes: Object.freeze(values.fourEyes ?? usualFourEyes(values)),
    operatorsOidc: readOidcSettings(values),
    spanCollector: spanUrl === undefined ? undefined : { url: spanUrl, headers },
    operator: Object.freeze({
      name: values.operatorName,
      logo: values.operatorLogo,
      support: values.operatorSupport,
      timeZone: values.operatorTimeZone,
    }),
  });
}

function dataKeysBeside(storeUrl: string): string {
  return storeUrl === ":memory:" ? storeUrl : `${storeUrl}.keys`;
}

/** A database file belongs to one process. While that one stops, proxies have no other. */
function defaultLameDuckSeconds(storeUrl: string): number {
  return isUrl(storeUrl) ? LAME_DUCK_SECONDS : 0;
}

function unsafe(values: Partial<Values>): string[] {
  const { storeUrl, environment, operationsPort, cells, cell = HOME_CELL } = values;
  const faults: string[] = [];
  if (values.baseUrl !== undefined && values.baseUrl === values.authUrl) {
    faults.push(
      "PLATFORM_BASE_URL and PLATFORM_AUTH_URL: must be different hosts, only one asks for client certificates",
    );
  }
  faults.push(...operatorFaults(values));
  if (operationsPort !== undefined && operationsPort === values.port) {
    faults.push("PORT and PLATFORM_OPERATIONS_PORT: must be different, proxies reach only one");
  }
  faults.push(...storeUrlFaults(storeUrl, environment).map((fault) => `PLATFORM_STORE_URL: ${fault}`));
  faults.push(...dataKeyFaults(values).map((fault) => `PLATFORM_DATA_KEYS_STORE: ${fault}`));
  faults.push(...retentionFaults(values));
  if (cells !== undefined && cellOf(cell, cells) === undefined) {
    faults.push("PLATFORM_CELL: must be home, or the name of a cell in PLATFORM_CELLS");
  }
  return environment === "Sandbox" ? faults : [...faults, ...unsafeInProduction(values)];
}

function unsafeInProduction(values: Partial<Values>): string[] {
  const faults: string[] = [];
  if (values.wrappingKeys === undefined) {
    faults.push("PLATFORM_WRAPPING_KEYS: set it to the path of the keys that wrap data keys");
  }
  if (values.keepCasesDays === 0) {
    faults.push(
      "PLATFORM_KEEP_CASES_DAYS: 0 is for the sandbox; set the retention period that the law requires",
    );
  }
  if (values.storeUrl === ":memory:") {
    faults.push("PLATFORM_STORE_URL: :memory: loses every payment at a restart; set the path of a file");
  }
  if (isSandboxKeySet(values.keys)) {
    faults.push(
      "PLATFORM_KEYS: these are sandbox keys; make keys of your own with deno task platform-keys make",
    );
  }
  return faults;
}

/** The law keeps a case, and its history shows what was erased. */
function retentionFaults(
  { keepCasesDays: keep = 0, eraseCasesDays: erase, deleteHistoriesDays }: Partial<Values>,
): string[] {
  const faults: string[] = [];
  if (erase !== undefined && erase < keep) {
    faults.push("PLATFORM_ERASE_CASES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS");
  }
  if (deleteHistoriesDays !== undefined && deleteHistoriesDays < Math.max(keep, erase ?? 0)) {
    faults.push(
      "PLATFORM_DELETE_HISTORIES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS and PLATFORM_ERASE_CASES_DAYS",
    );
  }
  return faults;
}

/** Data keys in the store's own database would be in every backup of it. */
function dataKeyFaults(
  { dataKeysStore: url, storeUrl = "", wrappingKeys, environment }: Partial<Values>,
): string[] {
  if (url === undefined) {
    const isNeeded = /^postgres(ql)?:/.test(storeUrl) && wrappingKeys !== undefined;
    return isNeeded ? ["set it to a database for the data keys alone"] : [];
  }
  if (url === storeUrl) return ["must be another database than PLATFORM_STORE_URL"];
  if (url === ":memory:") return [":memory: loses every data key at a restart; set another database"];
  return storeUrlFaults(url, environment);
}

/** The sandbox marks its keys: `"environment": "sandbox"` beside `keys`. */
function isSandboxKeySet(json: string | undefined): boolean {
  try {
    const set: unknown = JSON.parse(json ?? "");
    return typeof set === "object" && set !== null && "environment" in set && set.environment === "sandbox";
  } catch {
    return false; // another check rejects text that is not a key set
  }
}

/** Faults of the origins and URLs. */
export function urlFaults(values: Partial<Values>): string[] {
  const sandbox = values.environment === "Sandbox";
  const origins = (["baseUrl", "authUrl"] as const).flatMap((name) =>
    originFault(variableOf(name), values[name], sandbox)
  );
  const urls =
    (["directoryIssuer", "directoryJwksUri", "registrationAudience", "operationsOidcIssuer"] as const)
      .flatMap((name) => schemeFault(variableOf(name), values[name], sandbox));
  // A console on this computer may be plain HTTP, in production too: its traffic does not leave the computer.
  return [...origins, ...urls, ...originFault("PLATFORM_OPERATIONS_URL", values.operationsUrl, true)];
}

function originFault(name: string, value: string | undefined, sandbox: boolean): string[] {
  if (value === undefined) return [];
  const url = URL.parse(value);
  if (url === null || url.origin !== value) {
    return [`${name}: must be an origin such as https://host, without a path or slash`];
  }
  return schemeFault(name, value, sandbox);
}

// Decision A9: http only for loopback, only in the sandbox.
function schemeFault(name: string, value: string | undefined, sandbox: boolean): string[] {
  if (value === undefined) return [];
  const url = URL.parse(value);
  if (url === null) return [`${name}: must be an absolute URL`];
  if (url.protocol === "https:" || (sandbox && url.protocol === "http:" && isLoopback(url.hostname))) {
    return [];
  }
  return [`${name}: must be https${sandbox ? " (http only on loopback)" : ""}`];
}

/** Faults of the hosts that may be called. Otherwise they would only be noticed at run time. */
function directoryFaults({ directoryHosts: hosts, ...values }: Partial<Values>): string[] {
  if (hosts === undefined) return [];
  const wrong = hosts.filter((host) => URL.parse(`https://${host}`)?.host !== host);
  if (hosts.length === 0 || wrong.length > 0) {
    return [
      "PLATFORM_DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
    ];
  }
  return (["directoryIssuer", "directoryJwksUri"] as const).flatMap((name) => {
    const host = URL.parse(values[name] ?? "")?.host;
    return host === undefined || hosts.includes(host)
      ? []
      : [`PLATFORM_DIRECTORY_HOSTS: must list ${host}, the host of ${variableOf(name)}`];
  });
}
