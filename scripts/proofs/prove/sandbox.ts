/** The whole ecosystem in one sandbox process, with the platform's store in a file: everything is killed at once. */
import { z } from "zod";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { freeSandboxPorts } from "../../command_line/free_ports.ts";
import { operationsApi, type ProvedSystem } from "./system.ts";
import { startSandboxProcess } from "./sandbox_process.ts";

const operationsSchema = z.object({ operations_url: z.url(), directory_admin_token: z.string() });

/**
 * Starts it.
 *
 * @param caFile of the authority that the platform trusts as a client
 * @param denoConfig another configuration file than the project's
 */
export async function startProvedSandbox(
  engine: "kv" | "sqlite",
  caFile: string,
  denoConfig?: string,
): Promise<ProvedSystem> {
  const dir = await Deno.makeTempDir({ prefix: "sandbox-proof-" });
  const [records, dataKeys] = [`${dir}/platform.${engine}`, `${dir}/data-keys.${engine}`];
  const remove = (): Promise<void> => Deno.remove(dir, { recursive: true });
  try {
    const sandbox = await startSandboxProcess({
      dir,
      port: freeSandboxPorts(),
      denoConfig,
      env: { DENO_CERT: caFile, SANDBOX_STORE_URL: records, SANDBOX_DATA_KEYS_STORE: dataKeys },
    });
    const { operations_url: url, directory_admin_token: token } = operationsSchema.parse(
      JSON.parse(await Deno.readTextFile(`${dir}/endpoints.json`)),
    );
    return {
      dir,
      endpoints: sandbox.endpoints,
      operations: [operationsApi({ url, token })],
      targets: ["sandbox"],
      losses: [],
      ready: sandbox.ready,
      kill: sandbox.killAndRestart,
      stop: sandbox.stop,
      openStore: () => (engine === "kv" ? openDenoKv : openSqliteStore)(records),
      async [Symbol.asyncDispose](): Promise<void> {
        await sandbox.end();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
