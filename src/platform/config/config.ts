/**
 * Reads the configuration from the environment. An error lists every fault and what to set. An unsafe configuration
 * is rejected.
 */
import { commaSeparated, directoryFaults, urlFaults } from "./address_faults.ts";
import { cellOf, type Cells, HOME_CELL } from "./cells.ts";
import { fileVariables } from "../../base/http/secret_files.ts";
import { schema, SECRETS, type Values } from "./config_variables.ts";
import { isUrl, storeUrlFaults } from "../../base/store/store_url.ts";
import type { AccountSchemes } from "../../base/values/account.ts";
import type { Operator } from "../../pages/operator.ts";
import type { SpanCollector } from "./span_collector.ts";
import {
  type FourEyesChange,
  oidcOf,
  type OidcSettings,
  operatorFaults,
  usualFourEyes,
} from "./operators_config.ts";
import type { ProxyCertificateSource } from "../../base/profile.ts";
import type { RatePolicies } from "./rate_policies.ts";

/** The configuration of a deployment. URLs are origins without a trailing slash. */
export interface Config {
  /** API host, `https://api.example`. */
  readonly baseUrl: string;
  /** Browser authorization host. */
  readonly authUrl: string;
  readonly host: string;
  readonly port: number;
  /** Limit of open connections. */
  readonly maxConnections: number;
  /** Consents of a client that may await authorisation. */
  readonly maxOpenConsents: number;
  /** Path of a Deno KV file, `postgres://…`, or `:memory:` in the sandbox. */
  readonly storeUrl: string;
  readonly cells: Cells;
  /** Name of the cell that this process belongs to. */
  readonly cell: string;
  /** Private JWK set as JSON. */
  readonly platformKeys: string;
  /** `iss` of software statements, and base URL of the status list and the newest statements. */
  readonly directoryIssuer: string;
  /** URL of the directory's keys for software statements. */
  readonly directoryJwksUri: string;
  /** `host[:port]` values of the servers of participants' key sets. */
  readonly directoryHosts: readonly string[];
  /** `aud` of registration JWTs, the same for every participant. */
  readonly registrationAudience: string;
  readonly clientCertSource: ProxyCertificateSource;
  readonly proxySecret: string;
  /** Address of the operations API's listener. */
  readonly operationsHost: string;
  /** Without it that listener does not exist. */
  readonly operationsPort: number | undefined;
  /** The OpenID provider of operators, if they have one. */
  readonly operatorsOidc: OidcSettings | undefined;
  /** Origin of the operators' console as their browsers open it. */
  readonly operationsUrl: string;
  /** Path of the list of operators. */
  readonly operatorsFile: string | undefined;
  /** The collector of OpenTelemetry spans, if there is one. */
  readonly spanCollector: SpanCollector | undefined;
  /** By which operators know this process. By default its address. */
  readonly processName: string | undefined;
  readonly environment: "Production" | "Sandbox";
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Claims that every payload signature must have. The others are checked if present. */
  readonly signatureClaims: readonly ("iat" | "iss" | "tan")[];
  /** ISO 4217 codes of supported currencies. */
  readonly currencies: readonly string[];
  readonly accountSchemes: AccountSchemes;
  readonly operator: Operator;
  /** Below it are the files of this version, for the developer portal. Ends with a slash. */
  readonly repositoryUrl: string | undefined;
  readonly rateLimits: RatePolicies;
  /** Limit of participants' requests in work. The limits of the other lanes are fractions of it. */
  readonly requestsInWork: number;
  /** Longest wait of a request for a place in work. */
  readonly requestWaitSeconds: number;
  /** How long requests are served after a signal to stop, while proxies find other processes. */
  readonly lameDuckSeconds: number;
  /** After how many hours a payment on which its bank has not decided counts as unsettled. */
  readonly unsettledHours: number;
  /** How long the personal data of a consent that was never authorised is kept. */
  readonly keepUnauthorisedDays: number;
  /** How long the law requires that a case is kept, from its last change of status. */
  readonly keepCasesDays: number;
  /** How long a case is kept before the platform erases it. Undefined: until an operator does. */
  readonly eraseCasesDays: number | undefined;
  /** How long the history of an erased case is kept. Undefined: it stays. */
  readonly deleteHistoriesDays: number | undefined;
  /** Where the data keys are: path of a database file, `postgres://…`, or `:memory:` in the sandbox. */
  readonly dataKeysStore: string;
  /** Whether new personal data is sealed. */
  /** The changes of operators that need two of them. */
  readonly fourEyes: readonly FourEyesChange[];
  /** How long traces of requests are kept. 0: none are written. */
  readonly traceDays: number;
  /** How long the figures of reports are kept. */
  readonly reportDays: number;
  /** How long an event that its TPP has not acknowledged is kept. */
  readonly eventDays: number;
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

/** Every variable that is read. */
export const VARIABLES: readonly string[] = Object.freeze([
  ...Object.keys(schema.shape),
  ...fileVariables(SECRETS),
]);

/**
 * Reads and checks the environment.
 *
 * @param elsewhere faults that the caller has found already, to be listed with the others
 * @throws {ConfigError} that lists every fault
 */
export function readConfig(env: Environment, elsewhere: readonly string[] = []): Config {
  const given = Object.fromEntries(
    VARIABLES.map((name) => [name, env[name]]).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(given);
  const values: Partial<Values> = parsed.data ?? { PLATFORM_ENVIRONMENT: "Production", ...given };
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`),
    ...urlFaults(values),
    ...directoryFaults(values),
    ...unsafe(values),
    ...elsewhere,
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  return freezeConfig(parsed.data);
}

function freezeConfig(values: Values): Config {
  return Object.freeze({
    baseUrl: values.PLATFORM_BASE_URL,
    authUrl: values.PLATFORM_AUTH_URL,
    host: values.HOST,
    port: values.PORT,
    maxConnections: values.PLATFORM_MAX_CONNECTIONS,
    maxOpenConsents: values.PLATFORM_MAX_OPEN_CONSENTS,
    storeUrl: values.PLATFORM_STORE_URL,
    cells: values.PLATFORM_CELLS,
    cell: values.PLATFORM_CELL,
    platformKeys: values.PLATFORM_KEYS,
    directoryIssuer: values.PLATFORM_DIRECTORY_ISSUER,
    directoryJwksUri: values.PLATFORM_DIRECTORY_JWKS_URI,
    directoryHosts: Object.freeze(commaSeparated(values.PLATFORM_DIRECTORY_HOSTS)),
    registrationAudience: values.PLATFORM_REGISTRATION_AUDIENCE,
    clientCertSource: values.PLATFORM_CLIENT_CERT_SOURCE,
    proxySecret: values.PLATFORM_PROXY_SECRET,
    ...operationsOf(values),
    spanCollector: collectorOf(values),
    processName: values.PLATFORM_PROCESS_NAME,
    environment: values.PLATFORM_ENVIRONMENT,
    logLevel: values.PLATFORM_LOG_LEVEL,
    rateLimits: values.PLATFORM_RATE_LIMITS,
    requestsInWork: values.PLATFORM_REQUESTS_IN_WORK,
    requestWaitSeconds: values.PLATFORM_REQUEST_WAIT_SECONDS,
    ...retentionOf(values),
    dataKeysStore: values.PLATFORM_DATA_KEYS_STORE ?? dataKeysBeside(values.PLATFORM_STORE_URL),
    lameDuckSeconds: values.PLATFORM_LAME_DUCK_SECONDS ?? defaultLameDuckSeconds(values.PLATFORM_STORE_URL),
    signatureClaims: Object.freeze(values.PLATFORM_SIGNATURE_CLAIMS),
    currencies: Object.freeze(values.PLATFORM_CURRENCIES),
    accountSchemes: values.PLATFORM_ACCOUNT_SCHEMES,
    operator: operatorOf(values),
    repositoryUrl: values.PLATFORM_REPOSITORY_URL,
  });
}

function operationsOf(values: Values): Pick<
  Config,
  "operationsHost" | "operationsPort" | "operatorsFile" | "operatorsOidc" | "fourEyes" | "operationsUrl"
> {
  return {
    operationsHost: values.PLATFORM_OPERATIONS_HOST,
    operationsPort: values.PLATFORM_OPERATIONS_PORT,
    operatorsFile: values.PLATFORM_OPERATORS,
    operatorsOidc: oidcOf(values),
    fourEyes: Object.freeze(values.PLATFORM_FOUR_EYES ?? usualFourEyes(values)),
    operationsUrl: values.PLATFORM_OPERATIONS_URL ??
      `http://localhost:${values.PLATFORM_OPERATIONS_PORT ?? 80}`,
  };
}

function collectorOf(values: Values): SpanCollector | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url, OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers = {} } = values;
  return url === undefined ? undefined : { url, headers };
}

function retentionOf(values: Values): Pick<
  Config,
  | "unsettledHours"
  | "keepUnauthorisedDays"
  | "keepCasesDays"
  | "eraseCasesDays"
  | "deleteHistoriesDays"
  | "traceDays"
  | "reportDays"
  | "eventDays"
> {
  return {
    unsettledHours: values.PLATFORM_UNSETTLED_HOURS,
    keepUnauthorisedDays: values.PLATFORM_KEEP_UNAUTHORISED_DAYS,
    keepCasesDays: values.PLATFORM_KEEP_CASES_DAYS,
    eraseCasesDays: values.PLATFORM_ERASE_CASES_DAYS,
    deleteHistoriesDays: values.PLATFORM_DELETE_HISTORIES_DAYS,
    traceDays: values.PLATFORM_TRACE_DAYS,
    reportDays: values.PLATFORM_REPORT_DAYS,
    eventDays: values.PLATFORM_EVENT_DAYS,
  };
}

function operatorOf(values: Values): Operator {
  return Object.freeze({
    name: values.PLATFORM_OPERATOR_NAME,
    logo: values.PLATFORM_OPERATOR_LOGO,
    support: values.PLATFORM_OPERATOR_SUPPORT,
    timeZone: values.PLATFORM_OPERATOR_TIME_ZONE,
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
  const { PLATFORM_STORE_URL: storeUrl, PLATFORM_ENVIRONMENT: environment } = values;
  const faults: string[] = [];
  if (values.PLATFORM_BASE_URL !== undefined && values.PLATFORM_BASE_URL === values.PLATFORM_AUTH_URL) {
    faults.push(
      "PLATFORM_BASE_URL and PLATFORM_AUTH_URL: must be different hosts, only one asks for client certificates",
    );
  }
  faults.push(...operatorFaults(values));
  if (values.PLATFORM_OPERATIONS_PORT !== undefined && values.PLATFORM_OPERATIONS_PORT === values.PORT) {
    faults.push("PORT and PLATFORM_OPERATIONS_PORT: must be different, proxies reach only one");
  }
  faults.push(...storeUrlFaults(storeUrl, environment).map((fault) => `PLATFORM_STORE_URL: ${fault}`));
  faults.push(...dataKeyFaults(values).map((fault) => `PLATFORM_DATA_KEYS_STORE: ${fault}`));
  faults.push(...retentionFaults(values));
  const { PLATFORM_CELLS: cells, PLATFORM_CELL: cell = HOME_CELL } = values;
  if (cells instanceof Map && cellOf(cell, cells) === undefined) {
    faults.push("PLATFORM_CELL: must be home, or the name of a cell in PLATFORM_CELLS");
  }
  return environment === "Sandbox" ? faults : [...faults, ...unsafeInProduction(values)];
}

function unsafeInProduction(values: Partial<Values>): string[] {
  const faults: string[] = [];
  if (values.PLATFORM_WRAPPING_KEYS === undefined) {
    faults.push("PLATFORM_WRAPPING_KEYS: set it to the path of the keys that wrap data keys");
  }
  if (values.PLATFORM_KEEP_CASES_DAYS === 0) {
    faults.push(
      "PLATFORM_KEEP_CASES_DAYS: 0 is for the sandbox; set the retention period that the law requires",
    );
  }
  if (values.PLATFORM_STORE_URL === ":memory:") {
    faults.push("PLATFORM_STORE_URL: :memory: loses every payment at a restart; set the path of a file");
  }
  if (isSandboxKeySet(values.PLATFORM_KEYS)) {
    faults.push(
      "PLATFORM_KEYS: these are sandbox keys; make keys of your own with deno task platform-keys make",
    );
  }
  return faults;
}

/** The law keeps a case, and its history shows what was erased. */
function retentionFaults(
  {
    PLATFORM_KEEP_CASES_DAYS: keep = 0,
    PLATFORM_ERASE_CASES_DAYS: erase,
    PLATFORM_DELETE_HISTORIES_DAYS: forget,
  }: Partial<Values>,
): string[] {
  const faults: string[] = [];
  if (erase !== undefined && erase < keep) {
    faults.push("PLATFORM_ERASE_CASES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS");
  }
  if (forget !== undefined && forget < Math.max(keep, erase ?? 0)) {
    faults.push(
      "PLATFORM_DELETE_HISTORIES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS and PLATFORM_ERASE_CASES_DAYS",
    );
  }
  return faults;
}

/** Data keys in the store's own database would be in every backup of it. */
function dataKeyFaults({ PLATFORM_DATA_KEYS_STORE: url, ...values }: Partial<Values>): string[] {
  const {
    PLATFORM_STORE_URL: storeUrl = "",
    PLATFORM_WRAPPING_KEYS: wrappingKeys,
    PLATFORM_ENVIRONMENT: environment,
  } = values;
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
