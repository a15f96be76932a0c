/** Environment -> the configuration of a directory that runs alone. Every fault is named at once; nothing unsafe starts. */
import { z } from "zod";
import { MIN_ADMIN_TOKEN_CHARACTERS } from "./administrator.ts";
import { openCertificateAuthority } from "./certificate_authority.ts";
import { openStatementSigner } from "./software_statement.ts";
import { isLoopback } from "./web_address.ts";

/** How this directory runs. */
export interface DirectoryConfig {
  /** Its public address without a trailing slash. */
  readonly issuer: string;
  readonly host: string;
  readonly port: number;
  /** Path of a Deno KV file, `:memory:`, or an `https:` KV Connect URL. */
  readonly storeUrl: string;
  readonly adminToken: string;
  readonly ca: { readonly certificatePem: string; readonly privateKeyPem: string };
  readonly signingKeyPem: string;
  readonly environment: "Production" | "Sandbox";
}

/** What configuration is read from: variables, files and the time. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file's text. */
  readonly readFile: (path: string) => Promise<string>;
  /** Milliseconds. */
  readonly now: number;
}

/** A configuration that must not start; `message` names every fault, one a line, and quotes no secret. */
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

const schema = z.object({
  DIRECTORY_ISSUER: z.string(
    "set it to the directory's public address, such as https://directory.example.com",
  ),
  DIRECTORY_HOST: z.string().default("127.0.0.1"),
  DIRECTORY_PORT: z.string().regex(/^[1-9]\d{0,4}$/, "must be a port number").transform(Number)
    .refine((port) => port <= 65_535, "must be a port number").default(8090),
  DIRECTORY_STORE_URL: z.string("set it to the path of a Deno KV file or an https: KV Connect URL"),
  DIRECTORY_ADMIN_TOKEN: z.string(
    `set it to a random text of at least ${MIN_ADMIN_TOKEN_CHARACTERS} characters`,
  )
    .min(MIN_ADMIN_TOKEN_CHARACTERS, `must have at least ${MIN_ADMIN_TOKEN_CHARACTERS} characters`)
    .regex(/^[A-Za-z0-9._~+/-]+=*$/, "must be of letters, digits and . _ ~ + / - (RFC 6750 2.1)"),
  DIRECTORY_CA_CERT: pemOrPath("the CA's certificate"),
  DIRECTORY_CA_KEY: pemOrPath("the CA's private key (PKCS 8)"),
  DIRECTORY_SIGNING_KEY: pemOrPath("the RSA key that signs software statements (PKCS 8)"),
  ENVIRONMENT: z.enum(["Production", "Sandbox"], "must be Production or Sandbox").default("Production"),
});
type Values = z.infer<typeof schema>;

/**
 * Reads and judges the configuration, the keys included.
 *
 * @throws {DirectoryConfigError} naming every fault
 */
export async function readDirectoryConfig(source: ConfigSource): Promise<DirectoryConfig> {
  const given = Object.fromEntries(
    Object.entries(source.env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(given);
  const values: Partial<Values> = parsed.data ?? given;
  const faults = (parsed.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  faults.push(...issuerFaults(values), ...storeFaults(values));
  const pems = await readPems(values, source, faults);
  if (!parsed.success || faults.length > 0) throw new DirectoryConfigError(faults);
  return {
    issuer: parsed.data.DIRECTORY_ISSUER,
    host: parsed.data.DIRECTORY_HOST,
    port: parsed.data.DIRECTORY_PORT,
    storeUrl: parsed.data.DIRECTORY_STORE_URL,
    adminToken: parsed.data.DIRECTORY_ADMIN_TOKEN,
    ca: { certificatePem: pems.DIRECTORY_CA_CERT, privateKeyPem: pems.DIRECTORY_CA_KEY },
    signingKeyPem: pems.DIRECTORY_SIGNING_KEY,
    environment: parsed.data.ENVIRONMENT,
  };
}

function issuerFaults({ DIRECTORY_ISSUER: issuer, ENVIRONMENT: environment }: Partial<Values>): string[] {
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

function storeFaults({ DIRECTORY_STORE_URL: storeUrl, ENVIRONMENT: environment }: Partial<Values>): string[] {
  if (storeUrl !== ":memory:" || environment === "Sandbox") return [];
  return [
    "DIRECTORY_STORE_URL: :memory: forgets every participant at a restart; set a file or an https: URL",
  ];
}

const PEM_NAMES = ["DIRECTORY_CA_CERT", "DIRECTORY_CA_KEY", "DIRECTORY_SIGNING_KEY"] as const;
type Pems = Readonly<Record<typeof PEM_NAMES[number], string>>;

async function readPems(values: Partial<Values>, source: ConfigSource, faults: string[]): Promise<Pems> {
  const texts = await Promise.all(PEM_NAMES.map((name) => readPem(name, values[name], source, faults)));
  const [certificatePem = "", privateKeyPem = "", signingKeyPem = ""] = texts;
  if (certificatePem !== "" && privateKeyPem !== "") {
    await openCertificateAuthority({ certificatePem, privateKeyPem }, source.now)
      .catch((error: Error) => faults.push(`DIRECTORY_CA_CERT and DIRECTORY_CA_KEY: the ${error.message}`));
  }
  if (signingKeyPem !== "") {
    await openStatementSigner(signingKeyPem)
      .catch((error: Error) => faults.push(`DIRECTORY_SIGNING_KEY: the ${error.message}`));
  }
  return {
    DIRECTORY_CA_CERT: certificatePem,
    DIRECTORY_CA_KEY: privateKeyPem,
    DIRECTORY_SIGNING_KEY: signingKeyPem,
  };
}

async function readPem(
  name: string,
  value: string | undefined,
  source: ConfigSource,
  faults: string[],
): Promise<string> {
  if (value === undefined || value.trimStart().startsWith("-----BEGIN ")) return value ?? "";
  try {
    return await source.readFile(value);
  } catch {
    faults.push(`${name}: the file that it names cannot be read`);
    return "";
  }
}
