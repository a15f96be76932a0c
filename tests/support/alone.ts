/**
 * A standalone directory and platform, as an operator starts them: two processes by their own tasks, an authority made
 * with OpenSSL, a TLS proxy in front of the API host, all on loopback (hence ENVIRONMENT=Sandbox). The folder is laid
 * out for participants: `ca.pem`, and an `endpoints.json` without an administrator's token.
 */
import { type FrontDoor, openFrontDoor } from "../../src/sandbox/ecosystem/tls_front_door.ts";
import { addAdministrator, runKeys } from "./directory_process.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { type Env, type Running, startProcess } from "./own_bank.ts";
import { areInstalled } from "testing/installed.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { taskCommand } from "testing/served_platform.ts";
import { sendTo } from "testing/served_environment.ts";

const OPENSSL = "/usr/bin/openssl";
/** The directory's own files: where its task may read and write. */
const OWN = ".data/directory";
const PROXY_SECRET = "between-the-proxy-and-the-platform-9876543210";

/** Returns whether OpenSSL is installed. Prints a warning if not, because tests are then skipped. */
export function isOpensslThere(): boolean {
  if (areInstalled(OPENSSL)) return true;
  Deno.stdout.writeSync(new TextEncoder().encode(`\n*** SKIPPED: ${OPENSSL} is missing ***\n\n`));
  return false;
}

/** Runs `openssl` in a folder; returns its output. @throws {Error} with its error output if it fails */
export async function openssl(folder: string, line: string, input = ""): Promise<string> {
  await Deno.writeTextFile(`${folder}/openssl.cnf`, input);
  const command = new Deno.Command(OPENSSL, { args: line.split(" "), cwd: folder });
  const { code, stdout, stderr } = await command.output();
  const [printed, words] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (code !== 0) throw new Error(`openssl ${line}: ${printed}${words}`);
  return printed ?? "";
}

/** The running processes. */
export interface Alone extends AsyncDisposable {
  readonly folder: string;
  /** For the command line of the directory's administrators. */
  readonly adminEnv: Env;
  readonly directoryUrl: string;
  directory: Running;
  platform: Running;
  /** Starts one again after a stop. */
  restart(which: "directory" | "platform"): Promise<void>;
}

/** Starts both, the directory first. */
export async function openAlone(): Promise<Alone> {
  const folder = await Deno.makeTempDir({ prefix: "alone-" });
  const [directoryPort, adminPort, platformPort] = [freePort(), freePort(), freePort()];
  await Deno.mkdir(`${folder}/${OWN}`, { recursive: true, mode: 0o700 });
  await makeAuthority(folder);
  await Deno.writeTextFile(`${folder}/platform-keys.json`, await platformKeySet(), { mode: 0o600 });
  const door = await openDoor(folder, platformPort);
  const directoryUrl = `http://localhost:${directoryPort}`;
  const adminToken = await addAdministrator(`${folder}/${OWN}/administrators.json`, "ana");
  const endpoints = {
    base_url: `https://localhost:${door.port}`,
    auth_url: `http://localhost:${platformPort}`,
    directory_url: directoryUrl,
    registration_audience: `${directoryUrl}/registration-audience`,
  };
  await Deno.writeTextFile(`${folder}/endpoints.json`, JSON.stringify(endpoints));
  const environments = {
    directory: directoryEnv(directoryUrl, directoryPort, adminPort),
    platform: platformEnv(endpoints, platformPort),
  };
  const start = {
    directory: () => startTask(folder, "directory", environments.directory, /"directory.started"/),
    platform: () => startTask(folder, "serve", environments.platform, /"platform.listening"/),
  };
  const directory = await start.directory();
  const alone: Alone = {
    folder,
    directoryUrl,
    adminEnv: { DIRECTORY_URL: `http://localhost:${adminPort}`, DIRECTORY_ADMIN_TOKEN: adminToken },
    directory,
    platform: await start.platform(),
    restart: async (which) => void (alone[which] = await start[which]()),
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([alone.platform.stop("SIGKILL"), alone.directory.stop("SIGKILL"), door.close()]);
      await Deno.remove(folder, { recursive: true });
    },
  };
  return alone;
}

/** The operator's own authority, a certificate for the proxy, and the keys of software statements. */
async function makeAuthority(folder: string): Promise<void> {
  const anyCa = "[req]\ndistinguished_name=dn\n[dn]\n[ca]\nbasicConstraints=critical,CA:TRUE\n" +
    "keyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n";
  await openssl(
    folder,
    "req -config openssl.cnf -extensions ca -x509 -newkey rsa:3072 -sha256 -nodes -days 3650 " +
      "-subj /O=Operator/CN=Participants-CA -keyout ca.key.pem -out ca.pem",
    anyCa,
  );
  await openssl(
    folder,
    "req -config openssl.cnf -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key.pem -out server.csr",
    anyCa,
  );
  await openssl(
    folder,
    "x509 -req -in server.csr -CA ca.pem -CAkey ca.key.pem -days 90 -extfile openssl.cnf -out server.cert.pem",
    "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n",
  );
  await runKeys(["make", "--file", `${folder}/${OWN}/signing-keys.json`]);
  await Deno.copyFile(`${folder}/ca.pem`, `${folder}/${OWN}/ca.pem`);
  await Deno.copyFile(`${folder}/ca.key.pem`, `${folder}/${OWN}/ca.key.pem`);
}

/** TLS with client certificates of the authority in front of the platform's port. */
async function openDoor(folder: string, platformPort: number): Promise<FrontDoor> {
  const port = freePort();
  const read = (name: string): Promise<string> => Deno.readTextFile(`${folder}/${name}`);
  return await openFrontDoor({
    hostname: "127.0.0.1",
    port,
    baseUrl: `https://localhost:${port}`,
    proxySecret: PROXY_SECRET,
    tls: {
      certificate: await read("server.cert.pem"),
      key: await read("server.key.pem"),
      clientAuthority: await read("ca.pem"),
    },
    handle: (request) => sendTo(`http://127.0.0.1:${platformPort}`, request),
  });
}

function directoryEnv(issuer: string, port: number, adminPort: number): Env {
  return {
    DIRECTORY_ISSUER: issuer,
    DIRECTORY_PORT: String(port),
    DIRECTORY_ADMIN_PORT: String(adminPort),
    DIRECTORY_STORE_URL: `${OWN}/directory.kv`,
    DIRECTORY_ADMINISTRATORS: `${OWN}/administrators.json`,
    DIRECTORY_CA_CERT: `${OWN}/ca.pem`,
    DIRECTORY_CA_KEY: `${OWN}/ca.key.pem`,
    DIRECTORY_SIGNING_KEYS: `${OWN}/signing-keys.json`,
    DIRECTORY_ENVIRONMENT: "Sandbox",
  };
}

function platformEnv(endpoints: Readonly<Record<string, string>>, port: number): Env {
  const { base_url = "", auth_url = "", directory_url = "", registration_audience = "" } = endpoints;
  return {
    PLATFORM_BASE_URL: base_url,
    PLATFORM_AUTH_URL: auth_url,
    PORT: String(port),
    PLATFORM_STORE_URL: "platform.kv",
    PLATFORM_KEYS: "platform-keys.json",
    PLATFORM_DIRECTORY_ISSUER: directory_url,
    PLATFORM_DIRECTORY_JWKS_URI: `${directory_url}/jwks`,
    PLATFORM_DIRECTORY_HOSTS: new URL(directory_url).host,
    PLATFORM_REGISTRATION_AUDIENCE: registration_audience,
    PLATFORM_PROXY_SECRET: PROXY_SECRET,
    PLATFORM_ENVIRONMENT: "Sandbox",
  };
}

async function startTask(folder: string, task: string, env: Env, ready: RegExp): Promise<Running> {
  const [program = "", ...args] = await taskCommand(task);
  const inherited = Object.fromEntries(
    ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const running = startProcess(
    task,
    new Deno.Command(program, {
      args,
      cwd: folder,
      clearEnv: true,
      env: { NO_COLOR: "1", ...inherited, ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }),
  );
  await running.said(ready);
  return running;
}
