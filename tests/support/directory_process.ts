/**
 * `deno task directory` as an operator starts it: a process with its own files, its task's permissions and its two
 * ports.
 */
import { directoryAdmin } from "../../scripts/operators/directory_admin/main.ts";
import { directoryKeys } from "../../scripts/operators/directory_keys/main.ts";
import { privatePem, testAuthority } from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { inShell, type ServedPlatform, startCommand, taskCommand } from "testing/served_platform.ts";

/** The folder that the task may read and write. */
const OWN = ".data/directory";

/** A folder with all files that a directory needs. */
export interface DirectoryFixture extends AsyncDisposable {
  /** The working directory. */
  readonly folder: string;
  /** Where the directory's files are. */
  readonly own: string;
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly adminUrl: string;
  /** Ana's token. */
  readonly token: string;
  /** Starts the directory with the task's permissions. */
  start(changes?: Readonly<Record<string, string>>, shell?: string): Promise<ServedPlatform>;
  /** Runs `deno task directory-keys`; returns its output. */
  keys(line: string): Promise<string>;
  /** Runs `deno task directory-admin`; returns its output. */
  admin(line: string): Promise<string>;
}

export async function openDirectoryFixture(): Promise<DirectoryFixture> {
  const folder = await Deno.makeTempDir({ prefix: "directory-" });
  const own = `${folder}/${OWN}`;
  const file = `${own}/administrators.json`;
  const token = await addAdministrator(file, "ana");
  const { certificatePem, privateKeyPem } = await testAuthority();
  await Deno.writeTextFile(`${own}/ca.pem`, certificatePem);
  await Deno.writeTextFile(`${own}/ca.key.pem`, privateKeyPem, { mode: 0o600 });
  const signingKeys = `${own}/signing-keys.json`;
  await Deno.writeTextFile(`${folder}/statements.key.pem`, await privatePem(await testKey(14)), {
    mode: 0o600,
  });
  await runKeys(["make", "--file", signingKeys, "--from", `${folder}/statements.key.pem`]);
  const [port, adminPort] = [freePort(), freePort()];
  const env = {
    DIRECTORY_ISSUER: "https://directory.example",
    DIRECTORY_PORT: String(port),
    DIRECTORY_ADMIN_PORT: String(adminPort),
    DIRECTORY_STORE_URL: `${OWN}/directory.kv`,
    DIRECTORY_ADMINISTRATORS: `${OWN}/administrators.json`,
    DIRECTORY_CA_CERT: `${OWN}/ca.pem`,
    DIRECTORY_CA_KEY: `${OWN}/ca.key.pem`,
    DIRECTORY_SIGNING_KEYS: `${OWN}/signing-keys.json`,
    DIRECTORY_FOUR_EYES: "none",
  };
  return {
    folder,
    own,
    env,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    token,
    start: (changes = {}, shell) => startDirectory(folder, { ...env, ...changes }, shell),
    keys: (line) => runKeys([...line.split(" "), "--file", signingKeys]),
    admin: (line) => runAdmin([...line.split(" "), "--file", file]),
    async [Symbol.asyncDispose](): Promise<void> {
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Starts the task in a folder. */
export async function startDirectory(
  folder: string,
  env: Readonly<Record<string, string>>,
  shell = 'exec "$@"',
): Promise<ServedPlatform> {
  return startCommand(inShell(shell)(await taskCommand("directory")), folder, env, "directory.started");
}

/** Adds an administrator to the list in a file; returns the token. */
export function addAdministrator(file: string, name: string): Promise<string> {
  return runAdmin(["add", "--name", name, "--file", file]);
}

/** Runs `deno task directory-keys`; returns its output. */
export async function runKeys(args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  await directoryKeys(args, { print: (line) => void lines.push(line), now: Date.now() });
  return lines.join("\n");
}

async function runAdmin(args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  await directoryAdmin(args, { env: {}, print: (line) => void lines.push(line), now: Date.now() });
  return lines.join("\n");
}
