/**
 * Several platform processes behind HAProxy, on a PostgreSQL primary with a synchronous standby; the directory, the
 * banks and the shop in a sandbox process. Each part is killed on its own.
 */
import { z } from "zod";
import { openConnections } from "../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../src/base/store/postgres/postgres_store.ts";
import { migrate } from "../../../src/base/store/postgres/schema.ts";
import { readPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { openProvedDatabase, type ProvedDatabase } from "./databases.ts";
import { OPERATOR_TOKENS, operatorsFile } from "../../testing/operators.ts";
import { startLoadBalancer } from "./load_balancer.ts";
import { operationsApi, type ProvedSystem } from "./system.ts";
import { type PlatformProcess, startPlatformProcess } from "./platform_process.ts";
import { freePort, freeSandboxPorts } from "../../command_line/free_ports.ts";
import { type SandboxProcess, startSandboxProcess } from "./sandbox_process.ts";
import type { ProveOptions } from "./options.ts";
import { type ProvedSigner, startProvedSigner } from "./signer_process.ts";

/** The platform's databases: URLs. */
interface Stores {
  readonly storeUrl: string;
  readonly dataKeysStore: string;
}

/** Who may read cases. Each read is in the history of its operator, so the processes do not read as the same one. */
const READERS = ["auditor", "support", "maria"] as const;

const secretsSchema = z.object({ proxySecret: z.string() });

/**
 * Starts it.
 *
 * @param caFile of the authority that the platform trusts as a client
 */
export async function startProvedCluster(
  options: Pick<ProveOptions, "processes" | "keys" | "pooler" | "failover">,
  caFile: string,
): Promise<ProvedSystem> {
  const { processes, keys } = options;
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await openProvedDatabase(options));
  const [own, ownKeys] = [await database.newDatabase(), await database.newDatabase()];
  for (const { servers } of [own, ownKeys]) await withConnections(servers, migrate);
  const [storeUrl, dataKeysStore] = [own.platform, ownKeys.platform];
  const dir = await Deno.makeTempDir({ prefix: "cluster-proof-" });
  parts.defer(() => Deno.remove(dir, { recursive: true }));
  const port = freeSandboxPorts();
  const stores = { storeUrl, dataKeysStore };
  await onboard(dir, port, stores);
  const ports = Array.from({ length: processes }, () => freePort());
  const operationsPorts = ports.map(() => freePort(20_000));
  const env = await platformEnv(dir, port, stores);
  const signer = keys === "file" ? undefined : parts.use(await startProvedSigner(env));
  await Deno.writeTextFile(env["PLATFORM_OPERATORS"] ?? "", await operatorsFile(), { mode: 0o600 });
  const platforms: PlatformProcess[] = [];
  for (const [index, PORT] of ports.entries()) {
    const OPERATIONS_PORT = String(operationsPorts[index]);
    const platform = await startPlatformProcess(dir, {
      ...env,
      PORT: String(PORT),
      PLATFORM_OPERATIONS_PORT: OPERATIONS_PORT,
      DENO_CERT: caFile,
    });
    parts.defer(() => platform.end());
    platforms.push(platform);
  }
  const balancer = await startLoadBalancer({
    dir,
    port,
    platformPorts: ports,
    proxySecret: env["PLATFORM_PROXY_SECRET"] ?? "",
  });
  parts.defer(() => balancer.stop());
  const parties = await startSandboxProcess({ dir, port, env: { SANDBOX_PLATFORM: "elsewhere" } });
  parts.defer(() => parties.end());
  const running = parts.move();
  return {
    ...killing(database, platforms, parties, signer),
    dir,
    endpoints: parties.endpoints,
    operations: operationsPorts.map((at, index) =>
      operationsApi({
        url: `http://127.0.0.1:${at}`,
        token: OPERATOR_TOKENS[READERS[index % READERS.length] ?? "auditor"],
      })
    ),
    ready: parties.ready,
    async stop(): Promise<void> {
      await Promise.all([parties.stop(), ...platforms.map((platform) => platform.stop())]);
    },
    openStore: async (): Promise<Store> =>
      openPostgresStore(await openConnections(readPostgresUrl(own.servers))),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function withConnections(
  storeUrl: string,
  act: (connections: Awaited<ReturnType<typeof openConnections>>) => Promise<unknown>,
): Promise<void> {
  const connections = await openConnections(readPostgresUrl(storeUrl));
  try {
    await act(connections);
  } finally {
    await connections.close();
  }
}

/** The first start, with a platform in the sandbox's own process. */
async function onboard(dir: string, port: number, { storeUrl, dataKeysStore }: Stores): Promise<void> {
  const env = { SANDBOX_STORE_URL: storeUrl, SANDBOX_DATA_KEYS_STORE: dataKeysStore };
  const first = await startSandboxProcess({ dir, port, env });
  await first.stop();
}

function killing(
  database: ProvedDatabase,
  platforms: readonly PlatformProcess[],
  parties: SandboxProcess,
  signer: ProvedSigner | undefined,
): Pick<ProvedSystem, "targets" | "losses" | "kill"> {
  const losses: number[] = [];
  let failover: Promise<void> = Promise.resolve();
  const failOver = async (): Promise<void> => {
    losses.push(Date.now());
    await database.loseThePrimary();
  };
  const acts: Readonly<Record<string, () => Promise<void>>> = {
    ...Object.fromEntries(platforms.map((platform, index) => [`platform ${index + 1}`, platform.kill])),
    database: () => failover = failover.then(failOver),
    banks: parties.killAndRestart,
    ...(signer === undefined ? {} : { signer: signer.killAndRestart }),
  };
  return {
    targets: [...Object.keys(acts), "database"],
    losses,
    kill: async (target) => await acts[target]?.(),
  };
}

/** As `src/sandbox/ecosystem/platform_and_directory.ts` configures the platform of a sandbox. */
async function platformEnv(
  dir: string,
  port: number,
  { storeUrl, dataKeysStore }: Stores,
): Promise<Record<string, string>> {
  const { proxySecret } = secretsSchema.parse(JSON.parse(await Deno.readTextFile(`${dir}/secrets.json`)));
  const directory = `http://localhost:${port + 2}`;
  return {
    PLATFORM_BASE_URL: `https://localhost:${port}`,
    PLATFORM_AUTH_URL: `http://localhost:${port + 1}`,
    HOST: "127.0.0.1",
    PLATFORM_STORE_URL: storeUrl,
    PLATFORM_DATA_KEYS_STORE: dataKeysStore,
    PLATFORM_WRAPPING_KEYS: `${dir}/wrapping.keys`,
    PLATFORM_KEYS: `${dir}/platform-keys.json`,
    PLATFORM_DIRECTORY_ISSUER: directory,
    PLATFORM_DIRECTORY_JWKS_URI: `${directory}/jwks`,
    PLATFORM_DIRECTORY_HOSTS: `localhost:${port + 2}`,
    PLATFORM_REGISTRATION_AUDIENCE: `${directory}/registration-audience`,
    PLATFORM_CLIENT_CERT_SOURCE: "client-cert",
    PLATFORM_PROXY_SECRET: proxySecret,
    PLATFORM_OPERATORS: `${dir}/operators.json`,
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_LOG_LEVEL: "error",
  };
}
