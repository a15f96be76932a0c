/**
 * Reads the configuration from the environment. An error lists every fault and what to set. An unsafe configuration
 * is rejected.
 */
import { commaSeparated, directoryFaults, urlFaults } from "./address_faults.ts";
import { cellOf, type Cells, HOME_CELL, readCells } from "./cells.ts";
import { isUrl, storeUrlFaults } from "../base/store/store_url.ts";
import { z } from "zod";
import { portNumber, readAs, wholeNumber } from "./config_values.ts";
import { type AccountSchemes, OBIE_SCHEMES, readAccountSchemes } from "../base/values/account_schemes.ts";
import { hasVisibleLetter, isPlain } from "../base/kernel/shown_text.ts";
import { isTimeZone, type Operator, readLogo, readSupport } from "../pages/operator.ts";
import { oidcOf, type OidcSettings, operatorFaults } from "./operators_config.ts";
import { PROXY_CERTIFICATE_SOURCES, type ProxyCertificateSource } from "./profile.ts";
import { type RatePolicies, readRatePolicies } from "./rate_policies.ts";

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
  readonly environment: "Production" | "Sandbox";
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** ISO 4217 codes of supported currencies. */
  readonly currencies: readonly string[];
  readonly accountSchemes: AccountSchemes;
  readonly operator: Operator;
  readonly rateLimits: RatePolicies;
  /** Limit of participants' requests in work. The limits of the other lanes are fractions of it. */
  readonly requestsInWork: number;
  /** Longest wait of a request for a place in work. */
  readonly requestWaitSeconds: number;
  /** How long requests are served after a signal to stop, while proxies find other processes. */
  readonly lameDuckSeconds: number;
  /** How long the personal data of a consent that was never authorised is kept. */
  readonly keepUnauthorisedDays: number;
  /** How long traces of requests are kept. 0: none are written. */
  readonly traceDays: number;
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

const OBIE_SCHEMES_LIST = [...OBIE_SCHEMES.keys()].join(", ");
const DEFAULT_CURRENCIES = "COP,EUR,GBP,USD";
/** Each half is twice the interval of a proxy's probe, and twice the time that it keeps an idle connection: 1 s. */
const LAME_DUCK_SECONDS = 4;
const MIN_SECRET_CHARACTERS = 32;
/** A secret with fewer different characters was probably typed and is not random. */
const MIN_SECRET_VARIETY = 10;

const schema = z.object({
  BASE_URL: z.string({ error: "set it to the API host, such as https://api.example.com" }),
  AUTH_URL: z.string({ error: "set it to the browser authorization host, such as https://auth.example.com" }),
  HOST: z.string().default("127.0.0.1"),
  PORT: portNumber.default(8080),
  MAX_CONNECTIONS: z.string().regex(/^[1-9]\d{1,4}$/, { error: "set it to a number from 10 to 99999" })
    .transform(Number).default(400),
  STORE_URL: z.string({ error: "set it to the path of a Deno KV file, or to postgres://…" }),
  CELLS: readAs(readCells, "set it to each further cell's banks, such as eu=BANKB,BANKC;us=BANKD").prefault(
    "",
  ),
  CELL: z.string().default(HOME_CELL),
  PLATFORM_KEYS: z.string({
    error: "set it to the path of the platform's private JWK set (deno task platform-keys makes one)",
  }),
  DIRECTORY_ISSUER: z.string({ error: "set it to the issuer of software statements" }),
  DIRECTORY_JWKS_URI: z.string({ error: "set it to the directory's JWKS URL" }),
  DIRECTORY_HOSTS: z.string({
    error: "set it to the hosts (comma separated) that serve participants' key sets",
  }),
  REGISTRATION_AUDIENCE: z.string({ error: "set it to the aud that registration JWTs carry" }),
  CLIENT_CERT_SOURCE: z.enum(PROXY_CERTIFICATE_SOURCES, {
    error: `set it to one of ${PROXY_CERTIFICATE_SOURCES.join(", ")}`,
  }).default("client-cert"),
  PROXY_SECRET: z.string({ error: "set it to the secret that the TLS proxy sends in x-proxy-secret" })
    .min(MIN_SECRET_CHARACTERS, { error: `must have at least ${MIN_SECRET_CHARACTERS} characters` })
    // Every proxy can write these without quoting, and they need no encoding in a header.
    .regex(/^[A-Za-z0-9._~+/=-]*$/, { error: "must be of letters, digits and . _ ~ + / = -" })
    .refine((secret) => new Set(secret).size >= MIN_SECRET_VARIETY, { error: "must be random" }),
  OPERATIONS_HOST: z.string().default("127.0.0.1"),
  OPERATIONS_PORT: portNumber.optional(),
  OPERATIONS_URL: z.string().optional(),
  OPERATORS: z.string().optional(),
  OPERATIONS_OIDC_ISSUER: z.string().optional(),
  OPERATIONS_OIDC_AUDIENCE: z.string().optional(),
  OPERATIONS_OIDC_ROLES: z.string().default("roles"),
  OPERATIONS_OIDC_CLIENT_ID: z.string().optional(),
  OPERATIONS_OIDC_CLIENT_SECRET: z.string().min(MIN_SECRET_CHARACTERS, {
    error: `must have at least ${MIN_SECRET_CHARACTERS} characters`,
  }).optional(),
  ENVIRONMENT: z.enum(["Production", "Sandbox"], { error: "set it to Production or Sandbox" }).default(
    "Production",
  ),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], { error: "set it to debug, info, warn or error" })
    .default("info"),
  RATE_LIMITS: readAs(readRatePolicies, "set it to group=perSecond/burst pairs, comma separated").prefault(
    "",
  ),
  REQUESTS_IN_WORK: wholeNumber(1, 99_999).default(8),
  REQUEST_WAIT_SECONDS: wholeNumber(1, 999).default(2),
  LAME_DUCK_SECONDS: z.string().regex(/^(0|[3-9]|[12]\d|30)$/, {
    error: "set it to 0, or to a whole number from 3 to 30",
  }).transform(Number).optional(),
  KEEP_UNAUTHORISED_DAYS: wholeNumber(1, 365).default(30),
  TRACE_DAYS: wholeNumber(0, 90).default(7),
  CURRENCIES: z.string().regex(/^\s*[A-Z]{3}\s*(,\s*[A-Z]{3}\s*)*$/, {
    error: "set it to ISO 4217 codes, comma separated",
  }).default(DEFAULT_CURRENCIES),
  ACCOUNT_SCHEMES: readAs(
    readAccountSchemes,
    `set it to schemes, comma separated: ${OBIE_SCHEMES_LIST}, or others with their format, such as CO.Redeban.Account=digits:6-20 or CO.Redeban.Key=alphanumeric:4-20`,
  ).default(OBIE_SCHEMES),
  OPERATOR_NAME: z.string().max(40, { error: "must have at most 40 characters" })
    .refine((name) => isPlain(name) && hasVisibleLetter(name), { error: "must be a name that can be read" })
    .optional(),
  OPERATOR_LOGO: readAs(readLogo, "set it to the path of a PNG or SVG file of at most 64 KiB").optional(),
  OPERATOR_SUPPORT: readAs(
    readSupport,
    "set it to an e-mail address, a telephone number with + or an https address",
  ).optional(),
  OPERATOR_TIME_ZONE: z.string().refine(isTimeZone, {
    error: "set it to the IANA name of a time zone, such as America/Bogota",
  }).default("UTC"),
});
type Values = z.infer<typeof schema>;

/** Every variable that is read. */
export const VARIABLES: readonly string[] = Object.freeze(Object.keys(schema.shape));

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
  const values: Partial<Values> = parsed.data ?? { ENVIRONMENT: "Production", ...given };
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`),
    ...urlFaults(values),
    ...directoryFaults(values),
    ...unsafe(values),
    ...elsewhere,
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  return frozen(parsed.data);
}

function frozen(values: Values): Config {
  return Object.freeze({
    baseUrl: values.BASE_URL,
    authUrl: values.AUTH_URL,
    host: values.HOST,
    port: values.PORT,
    maxConnections: values.MAX_CONNECTIONS,
    storeUrl: values.STORE_URL,
    cells: values.CELLS,
    cell: values.CELL,
    platformKeys: values.PLATFORM_KEYS,
    directoryIssuer: values.DIRECTORY_ISSUER,
    directoryJwksUri: values.DIRECTORY_JWKS_URI,
    directoryHosts: Object.freeze(commaSeparated(values.DIRECTORY_HOSTS)),
    registrationAudience: values.REGISTRATION_AUDIENCE,
    clientCertSource: values.CLIENT_CERT_SOURCE,
    proxySecret: values.PROXY_SECRET,
    operationsHost: values.OPERATIONS_HOST,
    operationsPort: values.OPERATIONS_PORT,
    operatorsFile: values.OPERATORS,
    operatorsOidc: oidcOf(values),
    operationsUrl: values.OPERATIONS_URL ?? `http://localhost:${values.OPERATIONS_PORT ?? 80}`,
    environment: values.ENVIRONMENT,
    logLevel: values.LOG_LEVEL,
    rateLimits: values.RATE_LIMITS,
    requestsInWork: values.REQUESTS_IN_WORK,
    requestWaitSeconds: values.REQUEST_WAIT_SECONDS,
    keepUnauthorisedDays: values.KEEP_UNAUTHORISED_DAYS,
    traceDays: values.TRACE_DAYS,
    lameDuckSeconds: values.LAME_DUCK_SECONDS ?? defaultLameDuckSeconds(values.STORE_URL),
    currencies: Object.freeze(commaSeparated(values.CURRENCIES)),
    accountSchemes: values.ACCOUNT_SCHEMES,
    operator: Object.freeze({
      name: values.OPERATOR_NAME,
      logo: values.OPERATOR_LOGO,
      support: values.OPERATOR_SUPPORT,
      timeZone: values.OPERATOR_TIME_ZONE,
    }),
  });
}

/** A database file belongs to one process. While that one stops, proxies have no other. */
function defaultLameDuckSeconds(storeUrl: string): number {
  return isUrl(storeUrl) ? LAME_DUCK_SECONDS : 0;
}

function unsafe(values: Partial<Values>): string[] {
  const faults: string[] = [];
  if (values.BASE_URL !== undefined && values.BASE_URL === values.AUTH_URL) {
    faults.push("BASE_URL and AUTH_URL: must be different hosts, only one asks for client certificates");
  }
  faults.push(...operatorFaults(values));
  if (values.OPERATIONS_PORT !== undefined && values.OPERATIONS_PORT === values.PORT) {
    faults.push("PORT and OPERATIONS_PORT: must be different, proxies reach only one");
  }
  faults.push(...storeUrlFaults(values.STORE_URL, values.ENVIRONMENT).map((fault) => `STORE_URL: ${fault}`));
  if (values.CELLS instanceof Map && cellOf(values.CELL ?? HOME_CELL, values.CELLS) === undefined) {
    faults.push("CELL: must be home, or the name of a cell in CELLS");
  }
  if (values.ENVIRONMENT === "Sandbox") return faults;
  if (values.STORE_URL === ":memory:") {
    faults.push("STORE_URL: :memory: loses every payment at a restart; set the path of a file");
  }
  if (isSandboxKeySet(values.PLATFORM_KEYS)) {
    faults.push(
      "PLATFORM_KEYS: these are sandbox keys; make keys of your own with deno task platform-keys make",
    );
  }
  return faults;
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
