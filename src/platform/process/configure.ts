/** Reads the configuration of a process from its environment and its files. */
import { readFile, stat } from "node:fs/promises";
import process from "node:process";
import { type Config, ConfigError, type Environment, readConfig, VARIABLES } from "../config/config.ts";
import { openKeyRing, type RenewableKeyRing } from "../../base/jose/key_ring.ts";
import { nameFaults } from "../config/environment_file.ts";
import { SECRETS } from "../config/config_variables.ts";
import { isHandedOver, withSecretFiles } from "../../base/http/secret_files.ts";
import { openSigner, type Signer, signerPath } from "../../base/http/signer_client.ts";
import { credentialFile } from "../../base/http/credential_file.ts";
import { type Credentials, openCredentials, readCredentials } from "../../base/http/credentials.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import { findUsedWrapping } from "../evidence/data_keys/rewrap_keys.ts";
import { type FindUsed, openWrappingKeys, type WrappingKeys } from "../evidence/data_keys/wrapping_keys.ts";
import { systemClock } from "../../base/kernel/clock.ts";
import { OPERATORS } from "../guards/security/operator_roles.ts";
import type { Log } from "../observed/log_events.ts";
import type { Runtime } from "./runtime.ts";

/** The file that `--env-file` reads, in the working directory. */
const ENVIRONMENT_FILE = ".env";

type ReadKeys = () => Promise<string>;

export interface Configured {
  readonly environment: Environment;
  readonly config: Config;
  readonly keys: RenewableKeyRing;
  /** Returns the key set again, if PLATFORM_KEYS is a path or a signer. */
  readonly readKeys: ReadKeys | undefined;
  /** The signer that has the private keys, if PLATFORM_KEYS is `signer:` with the path of its socket. */
  readonly signer: Signer | undefined;
  /** Undefined if personal data is not sealed, in the sandbox. */
  readonly wrapping: WrappingKeys | undefined;
  /** Path of the file with the wrapping keys. */
  readonly wrappingFile: string | undefined;
  /** Absent if PLATFORM_OPERATORS is not set. */
  readonly operators: Credentials | undefined;
}

function keyReader(given: string, signer: Signer | undefined): ReadKeys | undefined {
  if (signer !== undefined) return signer.keySet;
  return given === "" || given.trimStart().startsWith("{") ? undefined : () => readSecretFile(given);
}

/**
 * Reads and checks the whole configuration.
 *
 * @throws {ConfigError} with every fault
 */
export async function configure({ mayRead }: Pick<Runtime, "mayRead">): Promise<Configured> {
  const read: Environment = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  const faults = [...await environmentFileFaults(mayRead), ...spanFaults()];
  const secrets = await withSecretFiles(read, SECRETS, (_, path) => readSecretFile(path), faults);
  const environment: Environment = {
    ...secrets,
    PLATFORM_OPERATOR_LOGO: await readLogoFile(read["PLATFORM_OPERATOR_LOGO"]),
  };
  const given = environment["PLATFORM_KEYS"] ?? "";
  const socket = signerPath(given);
  const signer = socket === undefined ? undefined : openSigner(socket);
  const readKeys = keyReader(given, signer);
  const note = (error: Error): undefined => void faults.push(`PLATFORM_KEYS: ${error.message}`);
  const json = readKeys === undefined ? given : await readKeys().catch(note);
  const keys = json === undefined || json === ""
    ? undefined
    : await openKeyRing(json, systemClock, signer).catch(note);
  const wrappingFile = environment["PLATFORM_WRAPPING_KEYS"] || undefined;
  const wrapping = await openWrapping(wrappingFile, signer, faults);
  const operators = await openOperators(environment["PLATFORM_OPERATORS"], faults);
  const config = readConfig({ ...environment, PLATFORM_KEYS: json ?? given }, faults);
  if (keys === undefined) throw new ConfigError(faults); // readConfig has thrown already
  return { environment, config, keys, readKeys, signer, wrapping, wrappingFile, operators };
}

async function openWrapping(
  path: string | undefined,
  signer: Signer | undefined,
  faults: string[],
): Promise<WrappingKeys | undefined> {
  if (path === undefined) return undefined;
  try {
    return await openWrappingKeys(await readSecretFile(path), signer);
  } catch (error) {
    faults.push(`PLATFORM_WRAPPING_KEYS: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** The operators in the file at `path`. A change of the file counts from the next request on. */
async function openOperators(path: string | undefined, faults: string[]): Promise<Credentials | undefined> {
  if (path === undefined || path === "") return undefined;
  try {
    readCredentials(OPERATORS, await readSecretFile(path), systemClock());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    faults.push(`PLATFORM_OPERATORS: ${why} (deno task ops operator add makes the file)`);
  }
  return openCredentials(OPERATORS, credentialFile(path, readSecretFile), systemClock);
}

/** The runtime has read `.env` before this code starts (`--env-file`). It contains secrets, so only its owner may read it. */
async function environmentFileFaults(mayRead: Runtime["mayRead"]): Promise<string[]> {
  if (!await mayRead(ENVIRONMENT_FILE)) return []; // then it is not used
  const { mode } = await stat(ENVIRONMENT_FILE).catch(() => ({ mode: null }));
  if (mode === null) return [];
  const fault = modeFault(ENVIRONMENT_FILE, mode);
  const names = nameFaults(await readFile(ENVIRONMENT_FILE, "utf8"), VARIABLES);
  return [...(fault === undefined ? [] : [fault]), ...names].map((words) => `${ENVIRONMENT_FILE}: ${words}`);
}

/** Where Deno puts the tracer that begins a span for each request (`OTEL_DENO`, which this process may not read). */
const OPEN_TELEMETRY = Symbol.for("opentelemetry.js.api.1");

/** Spans of Deno have whole URLs, and a second value of an attribute does not replace the first (Decision O7). */
function spanFaults(): string[] {
  const api: unknown = Reflect.get(globalThis, OPEN_TELEMETRY);
  if (typeof api !== "object" || api === null || !("trace" in api)) return [];
  return [
    "OTEL_DENO: spans of Deno contain request_uris, codes and handover JWTs; set OTEL_DENO_TRACING=false too",
  ];
}

/** Returns the fault of a secret file's mode. The mode is null on Windows, and if the file does not exist. */
function modeFault(path: string, mode: number | null): string | undefined {
  const forbidden = isHandedOver(path) ? 0o022 : 0o077;
  return mode !== null && (mode & forbidden) !== 0 ? `others may open ${path}; chmod 600 ${path}` : undefined;
}

/** @throws {Error} if the file cannot be read, or if other users may open it */
async function readSecretFile(path: string): Promise<string> {
  const { mode } = await stat(path).catch(() => {
    throw new Error(`the file ${path} cannot be read`);
  });
  const fault = modeFault(path, mode);
  if (fault !== undefined) throw new Error(fault);
  return await readFile(path, "utf8").catch(() => {
    throw new Error(`the file ${path} cannot be read`);
  });
}

/** Returns the logo as a `data:` URL. An unreadable path is returned unchanged, and `readConfig` reports it. */
async function readLogoFile(path: string | undefined): Promise<string | undefined> {
  const type = /\.svg$/i.test(path ?? "") ? "image/svg+xml" : "image/png";
  const bytes = await readFile(path ?? "").catch(() => undefined);
  return bytes === undefined ? path : `data:${type};base64,${bytes.toBase64()}`;
}

/** Reads the key files again. A fault of one file does not keep the keys of the other from their renewal. */
export async function renewKeys(
  configured: Configured,
  caseKeys: CaseKeys | undefined,
  log: Log,
): Promise<void> {
  await Promise.all([renewPlatformKeys(configured, log), renewWrappingKeys(configured, caseKeys, log)]);
}

async function renewPlatformKeys({ environment, keys, readKeys }: Configured, log: Log): Promise<void> {
  try {
    if (readKeys === undefined) throw new Error("PLATFORM_KEYS is no file; start again to change them");
    const json = await readKeys();
    readConfig({ ...environment, PLATFORM_KEYS: json });
    await keys.renew(json);
    const published = keys.publicJwks.keys.length;
    log.info("platform_keys.renewed", { signingKid: keys.signer.kid, published });
  } catch (error) {
    log.error("platform_keys.not_renewed", { why: error instanceof Error ? error.message : String(error) });
  }
}

async function renewWrappingKeys(
  { wrapping, wrappingFile }: Configured,
  caseKeys: CaseKeys | undefined,
  log: Log,
): Promise<void> {
  if (wrapping === undefined || wrappingFile === undefined || caseKeys === undefined) return;
  try {
    const findUsed: FindUsed = (ids) => findUsedWrapping(caseKeys.stored.vault, ids);
    await wrapping.renew(await readSecretFile(wrappingFile), findUsed);
    log.info("wrapping_keys.renewed", { wrappedBy: wrapping.newestId, known: wrapping.known });
  } catch (error) {
    log.error("wrapping_keys.not_renewed", { why: error instanceof Error ? error.message : String(error) });
  }
}
