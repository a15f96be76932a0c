/** The whole ecosystem with keys of the test pool, so that its first start takes a second instead of ten. */
import { KEY_ALGORITHM, type MakeKeyPair, makeKeyPair } from "../../src/sandbox/ecosystem/key_files.ts";
import {
  type Ecosystem,
  type EcosystemOptions,
  startEcosystem,
} from "../../src/sandbox/ecosystem/ecosystem.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { POOL_SIZE } from "testing/generate_keys.ts";
import { testKey } from "testing/keys.ts";

/** Starts all parts with {@link pooledKeys}. */
export function startPooledEcosystem(options: EcosystemOptions): Promise<Ecosystem> {
  return startEcosystem({ ...options, makeKeys: pooledKeys() });
}

/** The ecosystem in a folder of its own. Its end stops it and removes the folder. */
export interface PooledSandbox extends Ecosystem, AsyncDisposable {
  readonly dir: string;
}

export async function openPooledSandbox(options: Partial<EcosystemOptions> = {}): Promise<PooledSandbox> {
  const folder = await Deno.makeTempDir({ prefix: "sandbox-" });
  const dir = `${folder}/sandbox`;
  const ecosystem = await startPooledEcosystem({ port: freeSandboxPorts(), dir, log: () => {}, ...options });
  return {
    ...ecosystem,
    dir,
    async [Symbol.asyncDispose]() {
      await ecosystem.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Makes key pairs. Each key of the pool is used once; further keys are new. */
export function pooledKeys(): MakeKeyPair {
  let next = 0;
  return async () => {
    const number = next++;
    return number < POOL_SIZE ? await pooledPair(number) : await makeKeyPair();
  };
}

async function pooledPair(number: number): Promise<CryptoKeyPair> {
  const { privateJwk, publicJwk } = await testKey(number);
  const imported = (jwk: JsonWebKey, use: KeyUsage): Promise<CryptoKey> =>
    crypto.subtle.importKey("jwk", jwk, KEY_ALGORITHM, true, [use]);
  return {
    privateKey: await imported({ ...privateJwk }, "sign"),
    publicKey: await imported({ ...publicJwk }, "verify"),
  };
}
