/** Environment -> a frozen Config. Every fault is named at once, with what to set; nothing unsafe starts. */
import { z } from "zod";
import { PROXY_CERTIFICATE_SOURCES, type ProxyCertificateSource } from "./profile.ts";

/** How this deployment runs. URLs are origins without a trailing slash. */
export interface Config {
  /** API host, `https://api.example`. */
  readonly baseUrl: string;
  /** Browser authorization host. */
  readonly authUrl: string;
  readonly host: string;
  readonly port: number;
  /** Path of a Deno KV file, `:memory:`, or an `https:` KV Connect URL. */
  readonly storeUrl: string;
  /** Private JWK set as JSON. */
  readonly platformKeys: string;
  /** `iss` of software statements. */
  readonly directoryIssuer: string;
  /** Where the directory publishes the keys of software statements. */
  readonly directoryJwksUri: string;
  /** `host[:port]` values from which participants' key sets may be fetched. */
  readonly directoryHosts: readonly string[];
  /** `aud` of registration JWTs, the same for every participant. */
  readonly registrationAudience: string;
  readonly clientCertSource: ProxyCertificateSource;
  readonly proxySecret: string;
  readonly environment: "Production" | "Sandbox";
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** ISO 4217 codes that payments may be in. */
  readonly currencies: readonly string[];
}

/** The environment as read: names to values. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration that must not start; `message` names every fault, one a line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

const DEFAULT_CURRENCIES = "COP,EUR,GBP,USD";
const MIN_SECRET_CHARACTERS = 32;

const schema = z.object({
  BASE_URL: z.string({ error: "set it to the API host, such as https://api.example.com" }),
  AUTH_URL: z.string({ error: "set it to the browser authorization host, such as https://auth.example.com" }),
  HOST: z.string().default("127.0.0.1"),
  PORT: z.coerce.number({ error: "set it to a port number" }).int().min(1).max(65_535).default(8080),
  STORE_URL: z.string({ error: "set it to the path of a Deno KV file or an https: KV Connect URL" }).min(1),
  PLATFORM_KEYS: z.string({
    error: "set it to the path of the platform's private JWK set, or to the JSON itself",
  }).min(1),
  DIRECTORY_ISSUER: z.string({ error: "set it to the issuer of software statements" }),
  DIRECTORY_JWKS_URI: z.string({ error: "set it to the directory's JWKS URL" }),
  DIRECTORY_HOSTS: z.string({
    error: "set it to the hosts (comma separated) that serve participants' key sets",
  }).min(1),
  REGISTRATION_AUDIENCE: z.string({ error: "set it to the aud that registration JWTs carry" }),
  CLIENT_CERT_SOURCE: z.enum(PROXY_CERTIFICATE_SOURCES, {
    error: `set it to one of ${PROXY_CERTIFICATE_SOURCES.join(", ")}`,
  }).default("client-cert"),
  PROXY_SECRET: z.string({ error: "set it to the secret that the TLS proxy sends in x-proxy-secret" })
    .min(MIN_SECRET_CHARACTERS, { error: `must have at least ${MIN_SECRET_CHARACTERS} characters` }),
  ENVIRONMENT: z.enum(["Production", "Sandbox"], { error: "set it to Production or Sandbox" }).default(
    "Production",
  ),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], { error: "set it to debug, info, warn or error" })
    .default("info"),
  CURRENCIES: z.string().default(DEFAULT_CURRENCIES),
});
type Values = z.infer<typeof schema>;

/**
 * Reads and judges the environment.
 *
 * @throws {ConfigError} naming every fault
 */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError([
      ...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`),
      ...urlFaults(given as Partial<Values>),
    ]);
  }
  const faults = [...urlFaults(parsed.data), ...unsafe(parsed.data)];
  if (faults.length > 0) throw new ConfigError(faults);
  return frozen(parsed.data);
}

function frozen(values: Values): Config {
  return Object.freeze({
    baseUrl: values.BASE_URL,
    authUrl: values.AUTH_URL,
    host: values.HOST,
    port: values.PORT,
    storeUrl: values.STORE_URL,
    platformKeys: values.PLATFORM_KEYS,
    directoryIssuer: values.DIRECTORY_ISSUER,
    directoryJwksUri: values.DIRECTORY_JWKS_URI,
    directoryHosts: Object.freeze(commaSeparated(values.DIRECTORY_HOSTS)),
    registrationAudience: values.REGISTRATION_AUDIENCE,
    clientCertSource: values.CLIENT_CERT_SOURCE,
    proxySecret: values.PROXY_SECRET,
    environment: values.ENVIRONMENT,
    logLevel: values.LOG_LEVEL,
    currencies: Object.freeze(commaSeparated(values.CURRENCIES)),
  });
}

function urlFaults(values: Partial<Values>): string[] {
  const sandbox = values.ENVIRONMENT === "Sandbox";
  const origins = (["BASE_URL", "AUTH_URL"] as const).flatMap((name) =>
    originFault(name, values[name], sandbox)
  );
  const urls = (["DIRECTORY_ISSUER", "DIRECTORY_JWKS_URI", "REGISTRATION_AUDIENCE"] as const)
    .flatMap((name) => schemeFault(name, values[name], sandbox));
  return [...origins, ...urls];
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

function unsafe(values: Values): string[] {
  const faults: string[] = [];
  if (values.BASE_URL === values.AUTH_URL) {
    faults.push("BASE_URL and AUTH_URL: must be different hosts, only one asks for client certificates");
  }
  if (values.ENVIRONMENT !== "Production") return faults;
  if (values.STORE_URL === ":memory:") {
    faults.push("STORE_URL: :memory: loses every payment at a restart; set a file or an https: URL");
  }
  if (values.PLATFORM_KEYS.includes('"sandbox"')) {
    faults.push("PLATFORM_KEYS: these are sandbox keys; make keys of your own");
  }
  return faults;
}

function commaSeparated(value: string): string[] {
  return value.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
