/** Reads `PLATFORM_STORE_URL=postgres://…`. A URL with several hosts is not a WHATWG URL, so it is taken apart here. */

export interface PostgresSettings {
  /** `HOST:PORT`, in the order in which they are tried. Only a primary is used. */
  readonly hosts: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Whether the connection is encrypted and the server's certificate and name are verified. */
  readonly isVerified: boolean;
  /** Path of the authority's certificates, PEM. By default those that Deno trusts. */
  readonly authorityFile: string | undefined;
  /** Whether statements are prepared. False behind a PgBouncer before 1.21 in transaction mode. */
  readonly prepare: boolean;
  /** Number of connections of one process, at most. */
  readonly connections: number;
}

const FORM = /^postgres(?:ql)?:\/\/([^/?#@:]+)(?::([^/?#@]*))?@([^/?#@]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const HOST = /^([a-z0-9._-]+)(?::(\d{1,5}))?$/i;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}):/;
/** The driver passes no address on to TLS, which would verify "localhost" instead. */
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}:/;
const DEFAULT_PORT = 5432;
const DEFAULT_CONNECTIONS = 10;
const MAX_CONNECTIONS = 100;

/** Whether the URL names a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/i.test(url);
}

/** The URL without its password, for messages. */
export function withoutPassword(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^/?#@:]*):[^@]*@/i, "$1:***@");
}

/**
 * @throws {Error} in one sentence that names the faulty part and never contains the password
 */
export function readPostgresUrl(url: string): PostgresSettings {
  const [, user, password = "", hosts, database, query = ""] = FORM.exec(url) ?? [];
  if (user === undefined || hosts === undefined || database === undefined) {
    throw new Error("must be postgres://USER:PASSWORD@HOST[:PORT][,HOST[:PORT]…]/DATABASE[?PARAMETERS]");
  }
  const parameters = readParameters(query);
  const listed = hosts.split(",").map(readHost);
  return {
    hosts: listed,
    user: decodePart("user", user),
    password: decodePart("password", password),
    database: decodePart("database", database),
    isVerified: isVerified(parameters.get("sslmode"), listed),
    authorityFile: parameters.get("sslrootcert"),
    prepare: readSwitch("prepare", parameters.get("prepare") ?? "true"),
    connections: readConnections(parameters.get("connections") ?? String(DEFAULT_CONNECTIONS)),
  };
}

const PARAMETERS: ReadonlySet<string> = new Set(["sslmode", "sslrootcert", "prepare", "connections"]);

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.has(name)) {
      throw new Error(`the parameter ${name} is unknown; known are ${[...PARAMETERS].join(", ")}`);
    }
    if (parameters.has(name)) throw new Error(`the parameter ${name} is given twice`);
    parameters.set(name, value);
  }
  return parameters;
}

function readHost(text: string): string {
  const [, host, port = String(DEFAULT_PORT)] = HOST.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error(`the host ${text} must be a name or an IPv4 address, and may have a port of 1 to 65535`);
  }
  return `${host}:${Number(port)}`;
}

/** `require` and `prefer` encrypt for any server that answers, so they are refused. */
function isVerified(mode: string | undefined, hosts: readonly string[]): boolean {
  if (mode === undefined || mode === "verify-full") {
    const address = hosts.find((host) => ADDRESS.test(host));
    if (address === undefined) return true;
    throw new Error(`the host ${address} must be a name, because a certificate is verified for a name`);
  }
  if (mode !== "disable") {
    throw new Error(`sslmode must be verify-full; ${mode} does not verify the server's certificate and name`);
  }
  const other = hosts.find((host) => !LOOPBACK.test(host));
  if (other === undefined) return false;
  throw new Error(`sslmode=disable is allowed for a database on this computer only, not for ${other}`);
}

function readSwitch(name: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  throw new Error(`${name} must be true or false`);
}

function readConnections(value: string): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= MAX_CONNECTIONS) return count;
  throw new Error(`connections must be a number from 1 to ${MAX_CONNECTIONS}`);
}

function decodePart(part: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the ${part} must be percent-encoded UTF-8`);
  }
}
