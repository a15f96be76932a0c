/**
 * The floor: a bare process that runs only the WebCrypto operations and the one KV commit of a stage. Reads one job a
 * line from standard input and prints a line when it is done.
 */
import type { Operations } from "./stages.ts";

/** A job. */
export interface FloorJob {
  readonly operations: Operations;
  readonly count: number;
  readonly concurrency: number;
}

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
const PSS = { name: "RSA-PSS", saltLength: 32 };

async function open(path: string): Promise<(operations: Operations) => Promise<void>> {
  const kv = await Deno.openKv(path);
  const signing = await importPair({ ...RSA, name: "RSA-PSS" }, ["sign", "verify"]);
  const sealing = await importPair({ ...RSA, name: "RSA-OAEP" }, ["decrypt", "encrypt"]);
  const text = crypto.getRandomValues(new Uint8Array(1024));
  const signature = await crypto.subtle.sign(PSS, signing.privateKey, text);
  const sealed = await crypto.subtle.encrypt({ name: "RSA-OAEP" }, sealing.publicKey, text.slice(0, 32));
  const times = async (count: number, act: () => Promise<unknown>): Promise<void> => {
    for (let done = 0; done < count; done++) await act();
  };
  return async (operations) => {
    await times(operations.verify, () => crypto.subtle.verify(PSS, signing.publicKey, signature, text));
    await times(operations.sign, () => crypto.subtle.sign(PSS, signing.privateKey, text));
    await times(
      operations.encrypt,
      () => crypto.subtle.encrypt({ name: "RSA-OAEP" }, sealing.publicKey, text.slice(0, 32)),
    );
    await times(
      operations.decrypt,
      () => crypto.subtle.decrypt({ name: "RSA-OAEP" }, sealing.privateKey, sealed),
    );
    await times(operations.hash, () => crypto.subtle.digest("SHA-256", text));
    await commit(kv, operations);
  };
}

/** One commit with as many checks, writes and bytes as the request's; fresh keys, as most of a request's are. */
async function commit(kv: Deno.Kv, { writes, checks, commitBytes }: Operations): Promise<void> {
  const keys = Array.from({ length: writes }, (_, index) => [`floor ${index}`, crypto.randomUUID()]);
  let operation = kv.atomic();
  for (const key of keys.slice(0, checks)) operation = operation.check({ key, versionstamp: null });
  for (const key of keys) operation = operation.set(key, { value: "x".repeat(commitBytes / writes) });
  await operation.commit();
}

/** A fresh key pair by way of its JWKs: Deno works faster with a public key that it was not given the private half of. */
async function importPair(
  algorithm: RsaHashedKeyGenParams,
  [privateUse, publicUse]: readonly [KeyUsage, KeyUsage],
): Promise<{ readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, true, [privateUse, publicUse]);
  const [own, open] = await Promise.all([
    crypto.subtle.exportKey("jwk", privateKey),
    crypto.subtle.exportKey("jwk", publicKey),
  ]);
  return {
    privateKey: await crypto.subtle.importKey("jwk", own, algorithm, false, [privateUse]),
    publicKey: await crypto.subtle.importKey("jwk", open, algorithm, false, [publicUse]),
  };
}

async function work(job: FloorJob, once: (operations: Operations) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < job.count; index = next++) await once(job.operations);
  };
  await Promise.all(Array.from({ length: job.concurrency }, worker));
}

if (import.meta.main) {
  const once = await open(Deno.args[0] ?? ":memory:");
  let rest = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      await work(JSON.parse(line) as FloorJob, once);
      Deno.stdout.writeSync(new TextEncoder().encode("done\n"));
    }
  }
}
