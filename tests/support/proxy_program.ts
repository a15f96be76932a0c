/** Debian's nginx and HAProxy as processes of a test, set up from the reference configuration of `scripts/operators/proxy`. */
import { render } from "../../scripts/operators/proxy/render.ts";
import { type ProxyName, readOrder } from "../../scripts/operators/proxy/settings.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { serverIdentity, type TlsIdentity } from "testing/web_authority.ts";
import { AUTH_URL, BASE_URL } from "testing/environment.ts";
import { waitForListener } from "testing/waiting.ts";

export const API_HOST = new URL(BASE_URL).hostname;
export const AUTH_HOST = new URL(AUTH_URL).hostname;

/** A proxy and its program, where it is installed. */
export interface ProxyUnderTest {
  readonly name: ProxyName;
  readonly program: string | undefined;
}

/** Looks for the program; says so where it is missing, since its tests are then left out. */
export async function findProxy(name: ProxyName): Promise<ProxyUnderTest> {
  for (const folder of ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]) {
    const program = `${folder}/${name}`;
    if (await Deno.stat(program).then(() => true, () => false)) return { name, program };
  }
  const words = `${name} is not installed: NO ATTACK ON IT IS TRIED. Debian: apt-get install ${name}\n`;
  Deno.stderr.writeSync(new TextEncoder().encode(words));
  return { name, program: undefined };
}

/** A test with a proxy, left out where it is not installed. */
export function proxyTest(
  { name, program }: ProxyUnderTest,
  what: string,
  fn: (program: string, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test({ name: `${name} ${what}`, ignore: program === undefined, fn: (t) => fn(program ?? "", t) });
}

/** A running proxy. */
export interface RunningProxy {
  /** The proxy's access log. */
  accessLog(): Promise<string>;
  /** Where HAProxy's figures are. */
  readonly metricsUrl: string;
  stop(): Promise<void>;
}

/** Where a proxy finds its files and whom it trusts. */
export interface ProxyFixture {
  readonly folder: string;
  readonly participantsCa: Pick<TlsIdentity, "certificatePem">;
}

/** Starts one on loopback before the platform that `env` is of; resolves when it listens at the address. */
export async function startProxy(
  name: ProxyName,
  program: string,
  fixture: ProxyFixture,
  env: Readonly<Record<string, string>>,
  port: number,
  address = "127.0.0.1",
): Promise<RunningProxy> {
  const { folder } = fixture;
  const metricsPort = freePort();
  for (const [file, host] of [["api", API_HOST], ["auth", AUTH_HOST]] as const) {
    const identity = await serverIdentity([host]);
    await Deno.writeTextFile(`${folder}/${file}.pem`, identity.certificatePem);
    await Deno.writeTextFile(`${folder}/${file}.pem.key`, identity.privateKeyPem, { mode: 0o600 });
  }
  await Deno.writeTextFile(`${folder}/participants-ca.pem`, fixture.participantsCa.certificatePem);
  const user = (await new Deno.Command("id", { args: ["-un"] }).output()).stdout;
  const options: Readonly<Record<string, string>> = {
    out: folder,
    listen: `${address}:${port}`,
    "api-certificate": `${folder}/api.pem`,
    "api-key": `${folder}/api.pem.key`,
    "auth-certificate": `${folder}/auth.pem`,
    "auth-key": `${folder}/auth.pem.key`,
    "participants-ca": `${folder}/participants-ca.pem`,
    user: new TextDecoder().decode(user).trim(),
    "run-dir": folder,
    "temp-dir": folder,
    "log-dir": folder,
    "log-target": "stdout",
    "metrics-listen": `127.0.0.1:${metricsPort}`,
  };
  const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
  await render(readOrder([name, ...args], env));
  const proxy = name === "nginx" ? startNginx(program, folder) : startHaproxy(program, folder);
  await waitForListener(port, { hostname: address.replace(/^\[(.*)\]$/, "$1") });
  return { ...proxy, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}

function startNginx(program: string, folder: string): Omit<RunningProxy, "metricsUrl"> {
  const child = new Deno.Command(program, {
    args: ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`, "-g", "daemon off;"],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  return {
    accessLog: () => Deno.readTextFile(`${folder}/platform_access.log`),
    async stop(): Promise<void> {
      child.kill("SIGTERM"); // the master ends its workers
      await child.status;
    },
  };
}

function startHaproxy(program: string, folder: string): Omit<RunningProxy, "metricsUrl"> {
  const child = new Deno.Command(program, {
    args: ["-db", "-f", `${folder}/haproxy.cfg`],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let log = "";
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) log += part;
  })();
  const words = new Response(child.stderr).text();
  let running = true;
  void child.status.then(() => running = false);
  return {
    accessLog: () => Promise.resolve(log),
    async stop(): Promise<void> {
      if (running) child.kill("SIGTERM");
      await Promise.all([child.status, reading, words]);
    },
  };
}
