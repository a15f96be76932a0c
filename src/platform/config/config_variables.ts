/** The environment variables of the platform: the form of each, and its default. */
import { z } from "zod";
import { HOME_CELL, readCells } from "./cells.ts";
import { DEFAULT_SCHEMES, OBIE_SCHEMES, readAccountSchemes } from "../../base/values/account.ts";
import { namesOf, namesOrNone, portNumber, readAs, wholeNumber } from "../../base/values/variables.ts";
import { decimalsOf } from "../../base/values/money.ts";
import { hasVisibleLetter, isPlain } from "../../base/kernel/foreign_text.ts";
import { isTimeZone, readLogo, readSupport } from "../../pages/operator.ts";
import { FOUR_EYES_NAMES } from "./operators_config.ts";
import { PROXY_CERTIFICATE_SOURCES } from "../../base/profile.ts";
import { RATE_GROUPS, readRatePolicies } from "./rate_policies.ts";
import { readSpanHeaders, readSpanUrl } from "./span_collector.ts";

const OBIE_SCHEMES_LIST = [...OBIE_SCHEMES.keys()].join(", ");
const DEFAULT_CURRENCIES = "COP,EUR,GBP,USD";
const MIN_SECRET_CHARACTERS = 32;
/** A secret with fewer different characters was probably typed and is not random. */
const MIN_SECRET_VARIETY = 10;

export const schema = z.object({
  PLATFORM_BASE_URL: z.string({ error: "set it to the API host, such as https://api.example.com" }),
  PLATFORM_AUTH_URL: z.string({
    error: "set it to the browser authorization host, such as https://auth.example.com",
  }),
  HOST: z.string().default("127.0.0.1"),
  PORT: portNumber.default(8080),
  PLATFORM_PROCESS_NAME: z.string().regex(/^[!-~]{1,64}$/, {
    error: "must be 1 to 64 visible characters of ASCII",
  })
    .optional(),
  PLATFORM_MAX_CONNECTIONS: z.string().regex(/^[1-9]\d{1,4}$/, {
    error: "set it to a number from 10 to 99999",
  })
    .transform(Number).default(400),
  PLATFORM_STORE_URL: z.string({ error: "set it to the path of a database file, or to postgres://…" }),
  PLATFORM_CELLS: readAs(readCells, "set it to each further cell's banks, such as eu=BANKB,BANKC;us=BANKD")
    .prefault(""),
  PLATFORM_CELL: z.string().default(HOME_CELL),
  PLATFORM_KEYS: z.string({
    error: "set it to the path of the platform's private JWK set (deno task platform-keys makes one)",
  }),
  PLATFORM_DIRECTORY_ISSUER: z.string({ error: "set it to the issuer of software statements" }),
  PLATFORM_DIRECTORY_JWKS_URI: z.string({ error: "set it to the directory's JWKS URL" }),
  PLATFORM_DIRECTORY_HOSTS: z.string({
    error: "set it to the hosts (comma separated) that serve participants' key sets",
  }),
  PLATFORM_REGISTRATION_AUDIENCE: z.string({ error: "set it to the aud that registration JWTs carry" }),
  PLATFORM_CLIENT_CERT_SOURCE: z.enum(PROXY_CERTIFICATE_SOURCES, {
    error: `set it to one of ${PROXY_CERTIFICATE_SOURCES.join(", ")}`,
  }).default("client-cert"),
  PLATFORM_PROXY_SECRET: z.string({
    error: "set it to the secret that the TLS proxy sends in x-proxy-secret",
  })
    .min(MIN_SECRET_CHARACTERS, { error: `must have at least ${MIN_SECRET_CHARACTERS} characters` })
    // Every proxy can write these without quoting, and they need no encoding in a header.
    .regex(/^[A-Za-z0-9._~+/=-]*$/, { error: "must be of letters, digits and . _ ~ + / = -" })
    .refine((secret) => new Set(secret).size >= MIN_SECRET_VARIETY, { error: "must be random" }),
  PLATFORM_OPERATIONS_HOST: z.string().default("127.0.0.1"),
  PLATFORM_OPERATIONS_PORT: portNumber.optional(),
  PLATFORM_OPERATIONS_URL: z.string().optional(),
  PLATFORM_OPERATORS: z.string().optional(),
  PLATFORM_OPERATIONS_OIDC_ISSUER: z.string().optional(),
  PLATFORM_OPERATIONS_OIDC_AUDIENCE: z.string().optional(),
  PLATFORM_FOUR_EYES: namesOrNone("changes", FOUR_EYES_NAMES).optional(),
  PLATFORM_OPERATIONS_OIDC_ROLES: z.string().default("roles"),
  PLATFORM_OPERATIONS_OIDC_ORGANISATION: z.string().optional(),
  PLATFORM_OPERATIONS_OIDC_ACR_VALUES: z.string().regex(/^[!-~]{1,200}( [!-~]{1,200}){0,9}$/, {
    error: "set it to 1 to 10 values of acr, with a space between them",
  }).transform((values) => values.split(" ")).optional(),
  PLATFORM_OPERATIONS_OIDC_CLIENT_ID: z.string().optional(),
  PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: z.string().min(MIN_SECRET_CHARACTERS, {
    error: `must have at least ${MIN_SECRET_CHARACTERS} characters`,
  }).optional(),
  PLATFORM_ENVIRONMENT: z.enum(["Production", "Sandbox"], { error: "set it to Production or Sandbox" })
    .default("Production"),
  PLATFORM_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], {
    error: "set it to debug, info, warn or error",
  })
    .default("info"),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: readAs(
    readSpanUrl,
    "set it to the https URL of a collector (http only on loopback), such as http://127.0.0.1:4318/v1/traces",
  ).optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: readAs(readSpanHeaders, "set it to name=value pairs, comma separated")
    .optional(),
  PLATFORM_RATE_LIMITS: readAs(
    readRatePolicies,
    `set it to group=perSecond/burst pairs, comma separated; the groups are ${RATE_GROUPS.join(", ")}`,
  ).prefault(""),
  PLATFORM_REQUESTS_IN_WORK: wholeNumber(1, 99_999).default(8),
  PLATFORM_REQUEST_WAIT_SECONDS: wholeNumber(1, 999).default(2),
  PLATFORM_LAME_DUCK_SECONDS: z.string().regex(/^(0|[3-9]|[12]\d|30)$/, {
    error: "set it to 0, or to a whole number from 3 to 30",
  }).transform(Number).optional(),
  PLATFORM_MAX_OPEN_CONSENTS: wholeNumber(1, 10_000_000).default(20_000),
  PLATFORM_UNSETTLED_HOURS: wholeNumber(1, 720).default(24),
  PLATFORM_KEEP_UNAUTHORISED_DAYS: wholeNumber(1, 365).default(30),
  PLATFORM_TRACE_DAYS: wholeNumber(0, 90).default(7),
  PLATFORM_REPORT_DAYS: wholeNumber(31, 3660).default(400),
  PLATFORM_EVENT_DAYS: wholeNumber(1, 30).default(7),
  PLATFORM_KEEP_CASES_DAYS: wholeNumber(0, 29_999).default(1826),
  PLATFORM_ERASE_CASES_DAYS: wholeNumber(1, 29_999).optional(),
  PLATFORM_DELETE_HISTORIES_DAYS: wholeNumber(1, 29_999).optional(),
  PLATFORM_DATA_KEYS_STORE: z.string().optional(),
  PLATFORM_WRAPPING_KEYS: z.string().optional(),
  PLATFORM_SIGNATURE_CLAIMS: namesOf("claims", ["iat", "iss", "tan"] as const).prefault(""),
  PLATFORM_CURRENCIES: z.string().transform(readCurrencies).prefault(DEFAULT_CURRENCIES),
  PLATFORM_ACCOUNT_SCHEMES: readAs(
    readAccountSchemes,
    `set it to schemes, comma separated: ${OBIE_SCHEMES_LIST}, or others with their format, such as CO.Redeban.Account=digits:6-20 or CO.Redeban.Key=alphanumeric:4-20`,
  ).default(DEFAULT_SCHEMES),
  PLATFORM_REPOSITORY_URL: z.string().regex(/^https:\/\/[^\s?#]{1,500}\/$/, {
    error: "set it to the https address below which this version's files are, with / at its end",
  }).optional(),
  PLATFORM_OPERATOR_NAME: z.string().max(40, { error: "must have at most 40 characters" })
    .refine((name) => isPlain(name) && hasVisibleLetter(name), { error: "must be a name that can be read" })
    .optional(),
  PLATFORM_OPERATOR_LOGO: readAs(readLogo, "set it to the path of a PNG or SVG file of at most 64 KiB")
    .optional(),
  PLATFORM_OPERATOR_SUPPORT: readAs(
    readSupport,
    "set it to an e-mail address, a telephone number with + or an https address",
  ).optional(),
  PLATFORM_OPERATOR_TIME_ZONE: z.string().refine(isTimeZone, {
    error: "set it to the IANA name of a time zone, such as America/Bogota",
  }).default("UTC"),
});
export type Values = z.infer<typeof schema>;

/** Variables whose value may come from a file. A URL of PostgreSQL contains a password. */
export const SECRETS = [
  "PLATFORM_STORE_URL",
  "PLATFORM_DATA_KEYS_STORE",
  "PLATFORM_PROXY_SECRET",
  "PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
] as const satisfies readonly (keyof Values)[];

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
