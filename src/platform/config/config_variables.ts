/** The settings of the platform, which are its environment variables. */
import { z } from "zod";
import { HOME_CELL, readCells } from "./cells.ts";
import { DEFAULT_SCHEMES, OBIE_SCHEMES, readAccountSchemes } from "../../base/values/account.ts";
import {
  commaSeparated,
  namesOf,
  namesOrNone,
  portNumber,
  readAs,
  wholeNumber,
} from "../../base/values/variables.ts";
import { decimalsOf } from "../../base/values/money.ts";
import { hasVisibleLetter, isPlain } from "../../base/kernel/foreign_text.ts";
import { isTimeZone, readLogo, readSupport } from "../../pages/site.ts";
import { PROXY_CERTIFICATE_SOURCES } from "../../base/profile.ts";
import { RATE_GROUPS, readRatePolicies } from "./rate_policies.ts";
import { readSpanHeaders, readSpanUrl } from "./span_collector.ts";

const OBIE_SCHEMES_LIST = [...OBIE_SCHEMES.keys()].join(", ");
const DEFAULT_CURRENCIES = "COP,EUR,GBP,USD";
const MIN_SECRET_CHARACTERS = 32;
/** A secret with fewer different characters was probably typed and is not random. */
const MIN_SECRET_VARIETY = 10;

/** The changes that can need two operators: those that cannot be undone, and those that lift a restriction. */
export const FOUR_EYES_NAMES = [
  "erase-case",
  "close-order",
  "release-restored",
  "revoke-tokens",
  "block-organisation",
  "block-software",
  "unblock-organisation",
  "unblock-software",
  "release-bank",
  "reconcile",
  "redrive",
] as const;
export type FourEyesChange = typeof FOUR_EYES_NAMES[number];

/**
 * The settings that the configuration has as they are read: the form of each, and its default. The variable of
 * `maxOpenConsents` is `PLATFORM_MAX_OPEN_CONSENTS`, unless {@link OTHER_NAMES} has another one.
 */
export const SETTINGS = {
  /** API host, `https://api.example`. */
  baseUrl: z.string({ error: "set it to the API host, such as https://api.example.com" }),
  /** Browser authorization host. */
  authUrl: z.string({
    error: "set it to the browser authorization host, such as https://auth.example.com",
  }),
  host: z.string().default("127.0.0.1"),
  port: portNumber.default(8080),
  /** By which operators know this process. By default its address. */
  processName: z.string().regex(/^[!-~]{1,64}$/, {
    error: "must be 1 to 64 visible characters of ASCII",
  })
    .optional(),
  /** Limit of open connections. */
  maxConnections: z.string().regex(/^[1-9]\d{1,4}$/, {
    error: "set it to a number from 10 to 99999",
  })
    .transform(Number).default(400),
  /** Path of a Deno KV file, `postgres://…`, or `:memory:` in the sandbox. */
  storeUrl: z.string({ error: "set it to the path of a database file, or to postgres://…" }),
  cells: readAs(readCells, "set it to each further cell's banks, such as eu=BANKB,BANKC;us=BANKD")
    .prefault(""),
  /** Name of the cell that this process belongs to. */
  cell: z.string().default(HOME_CELL),
  /** Private JWK set as JSON. */
  keys: z.string({
    error: "set it to the path of the platform's private JWK set (deno task platform-keys makes one)",
  }),
  /** `iss` of software statements, and base URL of the status list and the newest statements. */
  directoryIssuer: z.string({ error: "set it to the issuer of software statements" }),
  /** URL of the directory's keys for software statements. */
  directoryJwksUri: z.string({ error: "set it to the directory's JWKS URL" }),
  /** `host[:port]` values of the servers of participants' key sets. */
  directoryHosts: z.string({
    error: "set it to the hosts (comma separated) that serve participants' key sets",
  }).transform(commaSeparated),
  /** `aud` of registration JWTs, the same for every participant. */
  registrationAudience: z.string({ error: "set it to the aud that registration JWTs carry" }),
  clientCertSource: z.enum(PROXY_CERTIFICATE_SOURCES, {
    error: `set it to one of ${PROXY_CERTIFICATE_SOURCES.join(", ")}`,
  }).default("client-cert"),
  proxySecret: z.string({
    error: "set it to the secret that the TLS proxy sends in x-proxy-secret",
  })
    .min(MIN_SECRET_CHARACTERS, { error: `must have at least ${MIN_SECRET_CHARACTERS} characters` })
    // Every proxy can write these without quoting, and they need no encoding in a header.
    .regex(/^[A-Za-z0-9._~+/=-]*$/, { error: "must be of letters, digits and . _ ~ + / = -" })
    .refine((secret) => new Set(secret).size >= MIN_SECRET_VARIETY, { error: "must be random" }),
  /** Address of the operations API's listener. */
  operationsHost: z.string().default("127.0.0.1"),
  /** Without it that listener does not exist. */
  operationsPort: portNumber.optional(),
  /** Origin of the operators' console as their browsers open it. */
  operationsUrl: z.string().optional(),
  /** The changes of operators that need two of them. */
  fourEyes: namesOrNone("changes", FOUR_EYES_NAMES).optional(),
  environment: z.enum(["Production", "Sandbox"], { error: "set it to Production or Sandbox" })
    .default("Production"),
  logLevel: z.enum(["debug", "info", "warn", "error"], {
    error: "set it to debug, info, warn or error",
  })
    .default("info"),
  rateLimits: readAs(
    readRatePolicies,
    `set it to group=perSecond/burst pairs, comma separated; the groups are ${RATE_GROUPS.join(", ")}`,
  ).prefault(""),
  /** Limit of participants' requests in work. The limits of the other lanes are fractions of it. */
  requestsInWork: wholeNumber(1, 99_999).default(8),
  /** Longest wait of a request for a place in work. */
  requestWaitSeconds: wholeNumber(1, 999).default(2),
  /** How long requests are served after a signal to stop, while proxies find other processes. */
  lameDuckSeconds: z.string().regex(/^(0|[3-9]|[12]\d|30)$/, {
    error: "set it to 0, or to a whole number from 3 to 30",
  }).transform(Number).optional(),
  /** Consents of a client that may await authorisation. */
  maxOpenConsents: wholeNumber(1, 10_000_000).default(20_000),
  /** After how many hours a payment on which its bank has not decided counts as unsettled. */
  unsettledHours: wholeNumber(1, 720).default(24),
  /** How long the personal data of a consent that was never authorised is kept. */
  keepUnauthorisedDays: wholeNumber(1, 365).default(30),
  /** How long traces of requests are kept. 0: none are written. */
  traceDays: wholeNumber(0, 90).default(7),
  /** How long the figures of reports are kept. */
  reportDays: wholeNumber(31, 3660).default(400),
  /** How long an event that its TPP has not acknowledged is kept. */
  eventDays: wholeNumber(1, 30).default(7),
  /** How long the law requires that a case is kept, from its last change of status. */
  keepCasesDays: wholeNumber(0, 29_999).default(1826),
  /** How long a case is kept before the platform erases it. Undefined: until an operator does. */
  eraseCasesDays: wholeNumber(1, 29_999).optional(),
  /** How long the history of an erased case is kept. Undefined: it stays. */
  deleteHistoriesDays: wholeNumber(1, 29_999).optional(),
  /** Where the data keys are: path of a database file, `postgres://…`, or `:memory:` in the sandbox. */
  dataKeysStore: z.string().optional(),
  /** Claims that every payload signature must have. The others are checked if present. */
  signatureClaims: namesOf("claims", ["iat", "iss", "tan"] as const).prefault(""),
  /** ISO 4217 codes of supported currencies. */
  currencies: z.string().transform(readCurrencies).prefault(DEFAULT_CURRENCIES),
  accountSchemes: readAs(
    readAccountSchemes,
    `set it to schemes, comma separated: ${OBIE_SCHEMES_LIST}, or others with their format, such as CO.Redeban.Account=digits:6-20 or CO.Redeban.Key=alphanumeric:4-20`,
  ).default(DEFAULT_SCHEMES),
  /** Below it are the files of this version, for the developer portal. Ends with a slash. */
  repositoryUrl: z.string().regex(/^https:\/\/[^\s?#]{1,500}\/$/, {
    error: "set it to the https address below which this version's files are, with / at its end",
  }).optional(),
};

/** The settings that the configuration has in another form. */
export const PARTS = {
  /** Path of the list of operators. */
  operators: z.string().optional(),
  operationsOidcIssuer: z.string().optional(),
  operationsOidcAudience: z.string().optional(),
  operationsOidcRoles: z.string().default("roles"),
  operationsOidcOrganisation: z.string().optional(),
  operationsOidcAcrValues: z.string().regex(/^[!-~]{1,200}( [!-~]{1,200}){0,9}$/, {
    error: "set it to 1 to 10 values of acr, with a space between them",
  }).transform((values) => values.split(" ")).optional(),
  operationsOidcClientId: z.string().optional(),
  operationsOidcClientSecret: z.string().min(MIN_SECRET_CHARACTERS, {
    error: `must have at least ${MIN_SECRET_CHARACTERS} characters`,
  }).optional(),
  spanUrl: readAs(
    readSpanUrl,
    "set it to the https URL of a collector (http only on loopback), such as http://127.0.0.1:4318/v1/traces",
  ).optional(),
  spanHeaders: readAs(readSpanHeaders, "set it to name=value pairs, comma separated")
    .optional(),
  wrappingKeys: z.string().optional(),
  operatorName: z.string().max(40, { error: "must have at most 40 characters" })
    .refine((name) => isPlain(name) && hasVisibleLetter(name), { error: "must be a name that can be read" })
    .optional(),
  operatorLogo: readAs(readLogo, "set it to the path of a PNG or SVG file of at most 64 KiB")
    .optional(),
  operatorSupport: readAs(
    readSupport,
    "set it to an e-mail address, a telephone number with + or an https address",
  ).optional(),
  operatorTimeZone: z.string().refine(isTimeZone, {
    error: "set it to the IANA name of a time zone, such as America/Bogota",
  }).default("UTC"),
};

type Forms = typeof SETTINGS & typeof PARTS;
/** The settings as they were read. */
export type Values = { readonly [Name in keyof Forms]: z.infer<Forms[Name]> };

const OTHER_NAMES: { readonly [_ in keyof Values]?: string } = {
  host: "HOST",
  port: "PORT",
  spanUrl: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  spanHeaders: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
};

/** Returns the environment variable of a setting. */
export function variableOf(name: keyof Values): string {
  return OTHER_NAMES[name] ??
    `PLATFORM_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Variables whose value may come from a file. A URL of PostgreSQL contains a password. */
export const SECRETS = [
  "PLATFORM_STORE_URL",
  "PLATFORM_DATA_KEYS_STORE",
  "PLATFORM_PROXY_SECRET",
  "PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
] as const;

/** Amounts have two decimals, so a currency with three cannot be paid in full (contract CF23). */
function readCurrencies(text: string, context: z.RefinementCtx): readonly string[] {
  const codes = text.split(",").map((code) => code.trim());
  const unknown = codes.filter((code) => decimalsOf(code) === undefined);
  const unfit = codes.filter((code) => decimalsOf(code) === 3);
  if (unknown.length > 0) {
    const message = `set it to active ISO 4217 codes, comma separated; not one: ${unknown.join(", ")}`;
    context.addIssue({ code: "custom", message });
  }
  if (unfit.length > 0) {
    const message = `leave out currencies with three decimals, because amounts have two: ${unfit.join(", ")}`;
    context.addIssue({ code: "custom", message });
  }
  return codes;
}
