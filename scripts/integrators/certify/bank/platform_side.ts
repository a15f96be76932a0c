/**
 * The platform's side of a bank's certification: an ecosystem of its own with the certifier between platform and bank,
 * a TPP, and the platform's private keys, which sign what no platform would.
 */
import { importJWK } from "jose";
import { z } from "zod";
import { openTpp, type Tpp } from "../../../../src/client/tpp/tpp.ts";
import { openAuthority } from "../../../../src/sandbox/ecosystem/authority.ts";
import { type Ecosystem, startEcosystem } from "../../../../src/sandbox/ecosystem/ecosystem.ts";
import { type MakeKeyPair, makeKeyPair } from "../../../../src/sandbox/ecosystem/key_files.ts";
import { keySetJson, newPlatformKeys } from "../../../../src/sandbox/ecosystem/site_keys.ts";
import { sandboxFiles, writeSecret } from "../../../../src/sandbox/ecosystem/sandbox_files.ts";
import { type Between, openBetween } from "./between.ts";

const keySetSchema = z.object({
  keys: z.array(z.looseObject({
    kid: z.string(),
    use: z.string(),
    n: z.string(),
    nbf: z.number().optional(),
    exp: z.number().optional(),
  })),
});

/** A private key of the platform as it is in its key file. */
export type PlatformJwk = JsonWebKey & Readonly<z.infer<typeof keySetSchema>["keys"][number]>;

export interface PlatformSide {
  readonly dir: string;
  readonly endpoints: Ecosystem["endpoints"];
  readonly between: Between;
  readonly tpp: Tpp;
  /** The key that signs now. */
  readonly signer: PlatformJwk;
  /** The key that signed before it and is still published, if there is one. */
  readonly formerSigner: PlatformJwk | undefined;
  /** Every key that decrypts. */
  readonly decrypters: readonly PlatformJwk[];
  /** Publishes the next keys beside those in use. */
  publishNextKeys(): Promise<void>;
  /** Lets the next keys sign; the former ones stay published. */
  useNextKeys(): Promise<void>;
  close(): Promise<void>;
}

export interface PlatformSideOptions {
  /** Folder of the ecosystem. */
  readonly dir: string;
  /** First of its six ports. */
  readonly port: number;
  readonly makeKeys?: MakeKeyPair;
  readonly log: (line: string) => void;
}

const DAY_SECONDS = 86_400;

/** @throws {CannotStart} if the folder or a port cannot be used */
export async function openPlatformSide(
  { dir, port, makeKeys = makeKeyPair, log }: PlatformSideOptions,
): Promise<PlatformSide> {
  const between = openBetween();
  const { front, outgoing } = between;
  const ecosystem = await startEcosystem({ dir, port, makeKeys, log, front, outgoing, certifiesBanks: true });
  const { endpoints } = ecosystem;
  const redirectUri = `${endpoints.shop_url}/callback`;
  const tpp = await openTpp({ dir, name: "shop", endpoints, redirectUri });
  const files = sandboxFiles(dir);
  let keys = await readKeys(files.platformKeys);
  const change = async (changed: readonly PlatformJwk[]): Promise<void> => {
    const json = keySetJson(changed);
    await ecosystem.renewPlatformKeys(json);
    await writeSecret(files.platformKeys, json);
    keys = changed;
  };
  return {
    dir,
    endpoints,
    between,
    tpp,
    get signer(): PlatformJwk {
      return signersIn(keys)[0];
    },
    get formerSigner(): PlatformJwk | undefined {
      return signersIn(keys)[1];
    },
    get decrypters(): readonly PlatformJwk[] {
      return keys.filter(({ use }) => use === "enc");
    },
    async publishNextKeys(): Promise<void> {
      const next = await newPlatformKeys(await openAuthority(files, Date.now()), makeKeys, Date.now());
      const nbf = seconds() + DAY_SECONDS;
      await change([...keys, ...keySetSchema.parse({ keys: next }).keys.map((key) => ({ ...key, nbf }))]);
    },
    async useNextKeys(): Promise<void> {
      const [now, exp] = [seconds(), seconds() + DAY_SECONDS];
      await change(keys.map((key) => (key.nbf ?? 0) > now ? { ...key, nbf: now } : { exp, ...key }));
    },
    async close(): Promise<void> {
      tpp.close();
      await ecosystem.stop();
    },
  };
}

/** A key of the platform, imported for one algorithm. */
export async function importPlatformKey(jwk: PlatformJwk, algorithm: string): Promise<CryptoKey> {
  const { use: _use, alg: _alg, ...members } = jwk;
  const key = await importJWK(members, algorithm);
  if (key instanceof Uint8Array) throw new TypeError("an RSA key was expected");
  return key;
}

async function readKeys(path: string): Promise<readonly PlatformJwk[]> {
  return keySetSchema.parse(JSON.parse(await Deno.readTextFile(path))).keys;
}

/** The keys that may sign now, newest first. */
function signersIn(keys: readonly PlatformJwk[]): readonly [PlatformJwk, ...PlatformJwk[]] {
  const now = seconds();
  const [newest, ...former] = keys.filter((key) => key.use === "sig" && (key.nbf ?? 0) <= now)
    .toSorted((a, b) => (b.nbf ?? 0) - (a.nbf ?? 0));
  if (newest === undefined) throw new Error("the platform has no signing key");
  return [newest, ...former];
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
