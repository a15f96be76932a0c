/**
 * Settings of the reference proxies: from the platform's environment if both must agree, else from the command line.
 * Every value is validated, so that it cannot inject a directive.
 */
import { readCells } from "../../../src/platform/config/cells.ts";
import { type Options, UsageError, wordsAndOptions } from "../../command_line/run.ts";

/** The proxies that there are templates for. */
export const PROXIES = ["nginx", "haproxy"] as const;
/** One of {@link PROXIES}. */
export type ProxyName = typeof PROXIES[number];

/** A value for each placeholder of a template, by its name. */
export type Settings = Readonly<Record<string, string>>;

/** A command line that names no configuration; `message` names every fault. */
export class SettingsError extends UsageError {
  constructor(faults: readonly string[]) {
    super(`The proxy's configuration cannot be made:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
}

/** The files to create and their folder. */
export interface ProxyOrder {
  readonly proxy: ProxyName;
  /** The folder for the files. */
  readonly out: string;
  /** Whether files that exist may be replaced. */
  readonly overwrite: boolean;
  readonly settings: Settings;
  /** Of the home cell. */
  readonly backends: Backends;
  readonly cells: readonly CellSettings[];
}

/** `host:port` of each process that serves a host. A process that serves both is in both lists. */
export interface Backends {
  readonly api: readonly string[];
  readonly browser: readonly string[];
}

/** A further cell: where the requests of its banks go. */
export interface CellSettings {
  readonly name: string;
  readonly banks: readonly string[];
  readonly backends: Backends;
}

/** The text of `--help`. */
export const USAGE = `deno task proxy-config <nginx|haproxy> --out <folder> [options]

Makes the configuration of a proxy in front of deno task serve. Host names and the secret come from the
platform's own PLATFORM_BASE_URL, PLATFORM_AUTH_URL and PLATFORM_PROXY_SECRET, the addresses of its
processes from PLATFORM_BACKENDS (host:port, comma separated), or from HOST and PORT if it has one process.
Further cells have their banks from PLATFORM_CELLS, and their processes behind those of the home cell in
PLATFORM_BACKENDS: 10.0.0.5:8080,10.0.0.6:8080;eu=10.0.1.5:8080,10.0.1.6:8080. A process of serve --only is
api@10.0.0.5:8080 or browser@10.0.0.6:8080.

  --overwrite         replace files that exist
  --listen            address and port            0.0.0.0:443
  --api-certificate   PEM, the chain              /etc/payment-platform/tls/api.pem
  --api-key           PEM, nginx                  /etc/payment-platform/tls/api.pem.key
  --auth-certificate  PEM, the chain              /etc/payment-platform/tls/auth.pem
  --auth-key          PEM, nginx                  /etc/payment-platform/tls/auth.pem.key
  --participants-ca   PEM, the directory's CA     /etc/payment-platform/tls/participants-ca.pem
  --user              who the workers run as      www-data, haproxy
  --run-dir           pid file, nginx             /run
  --temp-dir          buffers, nginx              /var/lib/nginx
  --log-dir           log files, nginx            /var/log/nginx
  --log-target        syslog address, HAProxy     /dev/log
  --metrics-listen    for Prometheus, HAProxy     127.0.0.1:8405
`;

/** The allowed form of a value and its description. */
interface Rule {
  readonly of: RegExp;
  readonly must: string;
}

const PATH: Rule = {
  of: /^\/[A-Za-z0-9._/-]*$/,
  must: "must be an absolute path of letters, digits and . _ - /",
};
const NAME: Rule = { of: /^[a-z_][a-z0-9_-]*$/, must: "must be the name of a user" };
const ADDRESS: Rule = {
  of: /^([0-9.]+|\[[0-9a-f:]+\]|[a-z0-9.-]+):[0-9]{1,5}$/,
  must: "must be an address and a port, such as 0.0.0.0:443",
};
const HOST: Rule = { of: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, must: "must be a host name" };
const SECRET: Rule = { of: /^[A-Za-z0-9._~+/=-]{32,}$/, must: "must be the secret that the platform has" };
const LOG_TARGET: Rule = { of: /^[A-Za-z0-9._/:-]+$/, must: "must be a syslog address, or stdout" };

const RULES = {
  listen: ADDRESS,
  "api-certificate": PATH,
  "api-key": PATH,
  "auth-certificate": PATH,
  "auth-key": PATH,
  "participants-ca": PATH,
  user: NAME,
  "run-dir": PATH,
  "temp-dir": PATH,
  "log-dir": PATH,
  "log-target": LOG_TARGET,
  "metrics-listen": ADDRESS,
} as const;

const OPTIONS = { names: ["out", ...Object.keys(RULES)], switches: ["overwrite"] };

const USUAL = {
  listen: "0.0.0.0:443",
  "api-certificate": "/etc/payment-platform/tls/api.pem",
  "api-key": "/etc/payment-platform/tls/api.pem.key",
  "auth-certificate": "/etc/payment-platform/tls/auth.pem",
  "auth-key": "/etc/payment-platform/tls/auth.pem.key",
  "participants-ca": "/etc/payment-platform/tls/participants-ca.pem",
  "run-dir": "/run",
  "temp-dir": "/var/lib/nginx",
  "log-dir": "/var/log/nginx",
  "log-target": "/dev/log",
  "metrics-listen": "127.0.0.1:8405",
} as const;

const DEFAULT_USER: Readonly<Record<ProxyName, string>> = { nginx: "www-data", haproxy: "haproxy" };

/**
 * Reads the command line and the environment.
 *
 * @throws {SettingsError} naming every fault, never the secret
 */
export function readOrder(args: readonly string[], env: Env): ProxyOrder {
  const faults: string[] = [];
  const { words: positionals, given } = wordsAndOptions(args, OPTIONS);
  const { overwrite = false, ...values } = given as Options<string, "overwrite">;
  const proxy = PROXIES.find((name) => name === positionals[0]);
  if (proxy === undefined || positionals.length !== 1) {
    throw new SettingsError([`say ${PROXIES.join(" or ")}`]);
  }
  const out = values["out"] ?? "";
  if (!PATH.of.test(out)) faults.push(`--out: ${PATH.must}`);
  const settings: Record<string, string> = { CONFIG_DIR: out };
  const usual = { ...USUAL, user: DEFAULT_USER[proxy] };
  const [home = "", ...others] = (env["PLATFORM_BACKENDS"] || ownAddress(env)).split(";");
  const backends = backendsOf(home, faults);
  const cells = readCellSettings(env["PLATFORM_CELLS"] ?? "", others, faults);
  const all = [home, ...others.map((group) => group.replace(/^[^=]*=/, ""))].flatMap(addressesOf);
  if (!all.every((one) => ADDRESS.of.test(one)) || new Set(all).size < all.length) {
    faults.push(
      "PLATFORM_BACKENDS: must be different addresses with ports, comma separated, such as 10.0.0.5:8080",
    );
  }
  for (const [name, rule] of Object.entries(RULES) as [keyof typeof RULES, Rule][]) {
    const value = values[name] ?? usual[name];
    if (!rule.of.test(value)) faults.push(`--${name}: ${rule.must}`);
    settings[name.toUpperCase().replaceAll("-", "_")] = value;
  }
  for (const [variable, placeholder, value, rule] of fromPlatform(env)) {
    if (!rule.of.test(value)) faults.push(`${variable}: ${rule.must}`);
    settings[placeholder] = value;
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return { proxy, out, overwrite, settings, backends, cells };
}

/** A process that serves one host has its name in front, as in `api@10.0.0.5:8080`. */
const SERVED = /^(api|browser)@/;

function addressesOf(list: string): string[] {
  return list.split(",").map((one) => one.trim().replace(SERVED, ""));
}

function backendsOf(list: string, faults: string[]): Backends {
  const serving = (host: string): string[] =>
    addressesOf(list.split(",").filter((one) => (SERVED.exec(one.trim())?.[1] ?? host) === host).join());
  const backends = { api: serving("api"), browser: serving("browser") };
  for (const [host, addresses] of Object.entries(backends)) {
    if (addresses.join() === "") faults.push(`PLATFORM_BACKENDS: must have a process that serves ${host}`);
  }
  return backends;
}

/** `groups` are `name=addresses`, one for each cell of PLATFORM_CELLS. */
function readCellSettings(cells: string, groups: readonly string[], faults: string[]): CellSettings[] {
  const banks = readCells(cells);
  const processes = new Map(groups.map((group) => {
    const [name = "", list = ""] = group.split("=");
    return [name.trim(), backendsOf(list, faults)];
  }));
  if (banks === undefined) {
    faults.push("PLATFORM_CELLS: must be each further cell's banks, such as eu=BANKB,BANKC;us=BANKD");
    return [];
  }
  if (groups.length !== processes.size || !isSame(new Set(processes.keys()), new Set(banks.keys()))) {
    faults.push(
      "PLATFORM_BACKENDS: must have the processes of each cell of PLATFORM_CELLS, such as 10.0.0.5:8080;eu=10.0.1.5:8080",
    );
  }
  const none: Backends = { api: [], browser: [] };
  return [...banks].map(([name, codes]) => ({ name, banks: codes, backends: processes.get(name) ?? none }));
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
}

type Env = Readonly<Record<string, string | undefined>>;

/** Settings that both sides must agree on: variable, placeholder, value, rule. */
function fromPlatform(env: Env): readonly (readonly [string, string, string, Rule])[] {
  const host = (name: string): string => URL.parse(env[name] ?? "")?.hostname ?? "";
  return [
    ["PLATFORM_BASE_URL", "API_HOST", host("PLATFORM_BASE_URL"), HOST],
    ["PLATFORM_AUTH_URL", "AUTH_HOST", host("PLATFORM_AUTH_URL"), HOST],
    ["PLATFORM_PROXY_SECRET", "PROXY_SECRET", env["PLATFORM_PROXY_SECRET"] ?? "", SECRET],
  ];
}

/** Where one process listens, as seen from this computer. */
function ownAddress(env: Env): string {
  const host = env["HOST"] || "127.0.0.1";
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${reachable.includes(":") ? `[${reachable}]` : reachable}:${env["PORT"] || "8080"}`;
}
