/**
 * Reads the configuration of a standalone directory from the environment. Reports all errors at once. Rejects files
 * that are missing, malformed, readable by other users, or made for a sandbox.
 */
import { fileVariables, withSecretFiles } from "../../base/http/secret_files.ts";
import { isUrl, storeUrlFaults } from "../../base/store/store_url.ts";
import { strictJson } from "../../base/kernel/json.ts";
import { z } from "zod";
import { ADMINISTRATORS, readCredentials } from "../../base/http/credentials.ts";
import type { CertificationTerms } from "../certification/certification.ts";
import { type AuthorityParts, openCertificateAuthority } from "../keys/certificate_authority.ts";
import type { ConsoleSettings } from "../console/compose_console.ts";
import { consoleFaults, consoleSettings, MIN_SECRET_CHARACTERS } from "../console/console_config.ts";
import { readCertification } from "../certification/certification_config.ts";
import { type ConfigSource, fileFaults, readChecked } from "../config/file_modes.ts";
import { FOUR_EYES_NAMES, fourEyesFaults, type FourEyesName, fourEyesOf } from "../changes/four_eyes.ts";
import { namesOrNone } from "../../base/values/variables.ts";
import { type PublicLimit, USUAL_PUBLIC_LIMIT } from "../http/public_limit.ts";
import { MAIL_VARIABLES, type MailSettings, readMail } from "../reminders/mail_config.ts";
import { openSigner, type Signer, signerPath } from "../../base/http/signer_client.ts";
import { openStatementKeys } from "../statements/statement_keys.ts";
import { isLoopback } from "../../base/http/outgoing.ts";

export interface DirectoryConfig {
  /** Its public address without a trailing slash. */
  readonly issuer: string;
  /** Address of the public listener. */
  readonly listen: Listen;
  /** Address of the administrators' listener. */
  readonly adminListen: Listen;
  /** Maximum of open connections for each of the two listeners. */
  readonly maxConnections: number;
  /** Path of a Deno KV file, `postgres://…`, or `:memory:`. */
  readonly storeUrl: string;
  /** Path of the list that `deno task directory-admin` writes. */
  readonly administratorsFile: string;
  readonly ca: AuthorityParts;
  /** Private JWK set as JSON. */
  readonly signingKeys: string;
  /** The file it was read from, if any. */
  readonly signingKeysFile: string | undefined;
  /** The signer that has the private keys, if DIRECTORY_SIGNING_KEYS is `signer:` and the path of its socket. */
  readonly signer?: Signer;
  readonly publicLimit: PublicLimit;
  readonly certification: CertificationTerms;
  /** The changes that need two administrators. */
  readonly fourEyes: readonly FourEyesName[];
  readonly console: ConsoleSettings;
  /** Absent if no mail is sent. */
  readonly mail?: MailSettings | undefined;
  readonly environment: "Production" | "Sandbox";
}

/** An address of this computer and a port. */
export interface Listen {
  readonly hostname: string;
  readonly port: number;
}

/** An invalid configuration. `message` lists every error, one a line, and quotes no secret. */
export class DirectoryConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      `The directory's configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.name = "DirectoryConfigError";
  }
}

const pemOrPath = (what: string): z.ZodType<string> =>
  z.string(`set it to ${what}: the path of a PEM file, or the PEM itself`);
const port = (usual: number) =>
  z.string().regex(/^[1-9]\d{0,4}$/, "must be a port number").transform(Number)
    .refine((number) => number <= 65_535, "must be a port number").default(usual);

const schema = z.object({
  DIRECTORY_ISSUER: z.string(
    "set it to the directory's public address, such as https://directory.example.com",
  ),
  DIRECTORY_HOST: z.string().default("127.0.0.1"),
  DIRECTORY_PORT: port(8090),
  DIRECTORY_ADMIN_HOST: z.string().default("127.0.0.1"),
  DIRECTORY_ADMIN_PORT: port(8091),
  DIRECTORY_MAX_CONNECTIONS: z.string().regex(/^[1-9]\d{1,4}$/, "set it to a number from 10 to 99999")
    .transform(Number).default(400),
  DIRECTORY_STORE_URL: z.string("set it to the path of a database file, or to postgres://…"),
  DIRECTORY_ADMINISTRATORS: z.string(
    "set it to the path of the administrators' list (deno task directory-admin add makes it)",
  ),
  DIRECTORY_CA_CERT: pemOrPath("the CA's certificate, followed by those above it"),
  DIRECTORY_CA_KEY: pemOrPath("the CA's private key (PKCS 8), or signer: and the path of a signer's socket"),
  DIRECTORY_SIGNING_KEYS: z.string(
    "set it to the path of the private JWK set that signs software statements (deno task directory-keys make makes one)",
  ),
  DIRECTORY_RATE_LIMIT: z.string().regex(
    /^[1-9]\d{0,6}\/[1-9]\d{0,6}$/,
    "set it to the requests of one client a second and at once, such as 50/200",
  ).default(`${USUAL_PUBLIC_LIMIT.perSecond}/${USUAL_PUBLIC_LIMIT.burst}`),
  DIRECTORY_CERTIFIERS: z.string().optional(),
  DIRECTORY_REQUIRE_CERTIFICATION: z.string().regex(
    /^[1-9]\d{0,3}$/,
    "set it to the days that a passed report lets statements be issued, from 1 to 9999",
  ).transform(Number).optional(),
  DIRECTORY_FOUR_EYES: namesOrNone("changes", FOUR_EYES_NAMES).optional(),
  DIRECTORY_CONSOLE_URL: z.string().optional(),
  DIRECTORY_OIDC_ISSUER: z.string().optional(),
  DIRECTORY_OIDC_ROLES: z.string().default("roles"),
  DIRECTORY_OIDC_ORGANISATION: z.string().optional(),
  DIRECTORY_OIDC_ACR_VALUES: z.string().regex(/^[!-~]{1,200}( [!-~]{1,200}){0,9}$/, {
    error: "set it to 1 to 10 values of acr, with a space between them",
  }).transform((values) => values.split(" ")).optional(),
  DIRECTORY_OIDC_CLIENT_ID: z.string().optional(),
  DIRECTORY_OIDC_CLIENT_SECRET: z.string().min(
    MIN_SECRET_CHARACTERS,
    `must have at least ${MIN_SECRET_CHARACTERS} characters`,
  ).optional(),
  ...MAIL_VARIABLES,
  DIRECTORY_ENVIRONMENT: z.enum(["Production", "Sandbox"], "must be Production or Sandbox").default(
    "Production",
  ),
});
type Values = z.infer<typeof schema>;

/** Variables whose value may come from a file. A URL of PostgreSQL contains a password. */
const SECRETS = [
  "DIRECTORY_STORE_URL",
  "DIRECTORY_OIDC_CLIENT_SECRET",
  "DIRECTORY_SMTP_PASSWORD",
] as const satisfies readonly (keyof Values)[];

/** Every variable that is read. */
export const DIRECTORY_VARIABLES: readonly string[] = Object.freeze([
  ...Object.keys(schema.shape),
  ...fileVariables(SECRETS),
]);

/**
 * Reads and validates the configuration, including the keys.
 *
 * @throws {DirectoryConfigError} naming every error
 */
export async function readDirectoryConfig(source: ConfigSource): Promise<DirectoryConfig> {
  const faults: string[] = [];
  const read = (name: string, path: string): Promise<string> => readSecret(name, path, source);
  const env = await withSecretFiles(source.env, SECRETS, read, faults);
  const given = set(env);
  const parsed = schema.safeParse(given);
  const values: Partial<Values> = parsed.data ?? given;
  faults.push(...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  faults.push(
    ...source.elsewhere ?? [],
    ...issuerFaults(values),
    ...listenFaults(values),
    ...await storeFaults(values, source),
  );
  faults.push(...consoleFaults(values), ...fourEyesFaults(values));
  faults.push(...await administratorsFaults(values, source));
  const signers = new Map<string, Signer>();
  const ca = await readAuthority(values, source, signers, faults);
  const signing = await readSigningKeys(values, source, signers, faults);
  const certification = await readCertification(values, source, faults);
  const mail = await readMail(values, source, faults);
  if (!parsed.success || faults.length > 0) throw new DirectoryConfigError(faults);
  const { data } = parsed;
  return {
    issuer: data.DIRECTORY_ISSUER,
    listen: { hostname: data.DIRECTORY_HOST, port: data.DIRECTORY_PORT },
    adminListen: { hostname: data.DIRECTORY_ADMIN_HOST, port: data.DIRECTORY_ADMIN_PORT },
    maxConnections: data.DIRECTORY_MAX_CONNECTIONS,
    storeUrl: data.DIRECTORY_STORE_URL,
    administratorsFile: data.DIRECTORY_ADMINISTRATORS,
    ca,
    ...signing,
    publicLimit: publicLimit(data.DIRECTORY_RATE_LIMIT),
    certification,
    fourEyes: fourEyesOf(data),
    console: consoleSettings(data),
    mail,
    environment: data.DIRECTORY_ENVIRONMENT,
  };
}

/** The variables that have a value. */
function set(env: ConfigSource["env"]): Record<string, string | undefined> {
  return Object.fromEntries(
    DIRECTORY_VARIABLES.map((name) => [name, env[name]] as const).filter(([, value]) => (value ?? "") !== ""),
  );
}

/** @throws {Error} without the name of the variable */
async function readSecret(name: string, path: string, source: ConfigSource): Promise<string> {
  const faults: string[] = [];
  const text = await readChecked(name, path, source, faults, "secret");
  if (faults[0] !== undefined) throw new Error(faults[0].slice(`${name}: `.length));
  return text;
}

function publicLimit(text: string): PublicLimit {
  const [perSecond, burst] = text.split("/").map(Number);
  return { perSecond: perSecond ?? 0, burst: burst ?? 0 };
}

function issuerFaults(
  { DIRECTORY_ISSUER: issuer, DIRECTORY_ENVIRONMENT: environment }: Partial<Values>,
): string[] {
  if (issuer === undefined) return [];
  const url = URL.parse(issuer);
  const name = "DIRECTORY_ISSUER";
  if (url === null) return [`${name}: must be an absolute web address`];
  if (/\/$|[?#@]/.test(issuer)) return [`${name}: must have no trailing slash, query, fragment or user name`];
  // Decision A9: http only for loopback, only in the sandbox.
  const sandbox = environment === "Sandbox";
  if (url.protocol === "https:" || (sandbox && url.protocol === "http:" && isLoopback(url.hostname))) {
    return [];
  }
  return [`${name}: must be https${sandbox ? " (http only on loopback)" : ""}`];
}

// The public listener is reachable from the internet, so administrators must not share it.
function listenFaults(values: Partial<Values>): string[] {
  const { DIRECTORY_PORT: open, DIRECTORY_ADMIN_PORT: administrators } = values;
  if (open === undefined || open !== administrators) return [];
  return ["DIRECTORY_ADMIN_PORT: must be another port than DIRECTORY_PORT"];
}

async function storeFaults(
  { DIRECTORY_STORE_URL: storeUrl, DIRECTORY_ENVIRONMENT: environment }: Partial<Values>,
  source: ConfigSource,
): Promise<string[]> {
  const name = "DIRECTORY_STORE_URL";
  if (storeUrl === ":memory:") {
    return environment === "Sandbox"
      ? []
      : [`${name}: :memory: forgets every participant at a restart; set the path of a file`];
  }
  if (storeUrl === undefined) return [];
  if (isUrl(storeUrl)) return storeUrlFaults(storeUrl, environment).map((fault) => `${name}: ${fault}`);
  try {
    return fileFaults(name, storeUrl, "secret", await source.modesOf(storeUrl));
  } catch {
    return [`${name}: this process may not open ${storeUrl} or its folder`];
  }
}

async function administratorsFaults(
  { DIRECTORY_ADMINISTRATORS: path }: Partial<Values>,
  source: ConfigSource,
): Promise<string[]> {
  if (path === undefined) return [];
  const name = "DIRECTORY_ADMINISTRATORS";
  const faults: string[] = [];
  const json = await readChecked(name, path, source, faults, "secret");
  if (json === "") return faults.map((fault) => `${fault} (deno task directory-admin add makes it)`);
  try {
    readCredentials(ADMINISTRATORS, json, source.now);
  } catch (error) {
    faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return faults;
}

/** Returns the signer that a variable names, the same one for the same socket. */
function signerOf(value: string, signers: Map<string, Signer>): Signer | undefined {
  const path = signerPath(value);
  if (path === undefined) return undefined;
  const signer = signers.get(path) ?? openSigner(path);
  signers.set(path, signer);
  return signer;
}

type Signing = Pick<DirectoryConfig, "signingKeys" | "signingKeysFile" | "signer">;

async function readSigningKeys(
  { DIRECTORY_SIGNING_KEYS: value = "", DIRECTORY_ENVIRONMENT: environment }: Partial<Values>,
  source: ConfigSource,
  signers: Map<string, Signer>,
  faults: string[],
): Promise<Signing> {
  const name = "DIRECTORY_SIGNING_KEYS";
  const signer = signerOf(value, signers);
  const file = signer !== undefined || isInline(value) || value === "" ? undefined : value;
  let json = "";
  try {
    json = await (signer?.keySet() ??
      (file === undefined ? value : readChecked(name, file, source, faults, "secret")));
    if (json !== "") await openStatementKeys(json, () => source.now, signer);
    requireOwnKeys(json, environment);
  } catch (error) {
    faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { signingKeys: json, signingKeysFile: file, ...(signer === undefined ? {} : { signer }) };
}

function isInline(value: string): boolean {
  return value.trimStart().startsWith("{");
}

/** @throws {Error} if they are a sandbox's, and this is none; with a message to be appended to the name of the variable */
export function requireOwnKeys(json: string, environment: string | undefined): void {
  const set = strictJson(json);
  const isSandbox = set.ok && Object(set.value)["environment"] === "sandbox";
  if (!isSandbox || environment === "Sandbox") return;
  throw new Error("these are sandbox keys; make keys of your own with deno task directory-keys make");
}

const PEM_NAMES = ["DIRECTORY_CA_CERT", "DIRECTORY_CA_KEY"] as const;

async function readAuthority(
  values: Partial<Values>,
  source: ConfigSource,
  signers: Map<string, Signer>,
  faults: string[],
): Promise<AuthorityParts> {
  const token = signerOf(values.DIRECTORY_CA_KEY ?? "", signers);
  const [certificatePem, privateKeyPem] = await Promise.all([
    readPem("DIRECTORY_CA_CERT", values.DIRECTORY_CA_CERT, source, faults),
    token === undefined ? readPem("DIRECTORY_CA_KEY", values.DIRECTORY_CA_KEY, source, faults) : "",
  ]);
  const parts = token === undefined ? { certificatePem, privateKeyPem } : { certificatePem, token };
  if (certificatePem === "" || (token === undefined && privateKeyPem === "")) return parts;
  await openCertificateAuthority(parts, source.now)
    .then(({ certificate }) => {
      if (values.DIRECTORY_ENVIRONMENT !== "Sandbox" && SANDBOX_AUTHORITY.test(certificate.subject)) {
        faults.push("DIRECTORY_CA_CERT: is a sandbox's authority; make one of your own");
      }
    }, (error: Error) => faults.push(`DIRECTORY_CA_CERT and DIRECTORY_CA_KEY: the ${error.message}`));
  return parts;
}

/** The name in sandbox certificates (`sandbox/ecosystem/authority.ts`). */
const SANDBOX_AUTHORITY = /\bSandbox\b/;

async function readPem(
  name: typeof PEM_NAMES[number],
  value: string | undefined,
  source: ConfigSource,
  faults: string[],
): Promise<string> {
  if (value === undefined || value.trimStart().startsWith("-----BEGIN ")) return value ?? "";
  return await readChecked(name, value, source, faults, name === "DIRECTORY_CA_CERT" ? "trusted" : "secret");
}
