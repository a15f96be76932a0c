/**
 * `deno task signer`: a process that signs and decrypts with keys in PKCS#11 tokens, for the platform and directory of this computer,
 * over a Unix domain socket. Only this program loads a foreign library. Its other commands make, rotate and certify the
 * keys. It ends with status 2 if a PIN is rejected: a supervisor that starts it again would lock the token. It ends with
 * status 1 if its only token is lost, so that a supervisor loads the library anew until the token is there.
 */
import { openLogQueue } from "../../../src/base/observability/log_queue.ts";
import { openLog } from "../../../src/base/observability/log.ts";
import { systemClock } from "../../../src/base/kernel/clock.ts";
import { printError } from "../../command_line/print.ts";
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { directoryKeys } from "../directory_keys/main.ts";
import { platformKeys } from "../platform_keys/main.ts";
import { authorityRequest, inTokens, statementKeysIn } from "./custody.ts";
import type { SignerLog } from "../../../src/base/observability/signer_events.ts";
import { loadPkcs11 } from "./pkcs11.ts";
import { openService } from "./served_keys.ts";
import { wrappingLabel } from "./wrapping_uses.ts";
import { MAKING, openToken, PinRejected, SERVING, type Token } from "./token.ts";
import { oneOf, required } from "../../command_line/option_values.ts";

/** A token and the file with its PIN. */
interface TokenPlace {
  readonly label: string;
  readonly pinFile: string;
}

interface SignerArguments {
  /** Path of the PKCS#11 library. */
  readonly module: string;
  readonly tokens: readonly [TokenPlace, ...TokenPlace[]];
  /** Set for `serve`: the socket and the key file. */
  readonly serve?: { readonly socket: string; readonly file: string };
  /** Whose keys they are. */
  readonly owner: "platform" | "directory";
  /** What remains: a command of `deno task platform-keys` or `directory-keys`. */
  readonly rest: readonly string[];
}

const SIGNER_USAGE = `deno task signer <command> --module <library.so> --token <label>=<file with its PIN>,...

  serve     Answers the platform or directory: --socket <path> --file <platform-keys.json>
  wrapping-key <id>
            Makes a key in the first token that wraps data keys: the line "<id> token" of PLATFORM_WRAPPING_KEYS.
  authority --subject "O=…, CN=…"
            Makes the key of the directory's certificate authority in the first token. Prints its signing request.
  make, show, rotate, retire, request, certify
            As deno task platform-keys, but the private keys are made in the first token and cannot leave it.
            The file has the public ones, their times and certificates. --for directory: the keys of software
            statements, with the commands of deno task directory-keys.
`;

const OWN = ["module", "token", "socket", "for"];

/** @throws {UsageError} */
function readSignerArguments(args: readonly string[]): SignerArguments {
  if (args.length === 0) throw new UsageError(SIGNER_USAGE);
  const own: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [name = "", ...values] = (args[at] ?? "").split("=");
    if (!OWN.some((option) => `--${option}` === name)) rest.push(args[at] ?? "");
    else own[name.slice(2)] = values.length > 0 ? values.join("=") : args[++at] ?? "";
  }
  const [first, ...others] = required(own, "token").split(",").map(tokenPlace);
  if (first === undefined) throw new UsageError("--token is missing.");
  const common = {
    owner: oneOf("for", own["for"] ?? "platform", ["platform", "directory"]),
    module: required(own, "module"),
    tokens: [first, ...others] as const,
    rest,
  };
  if (rest[0] !== "serve") return common;
  return {
    ...common,
    serve: { socket: required(own, "socket"), file: required(optionsOf(rest.slice(1), ["file"]), "file") },
  };
}

function tokenPlace(text: string): TokenPlace {
  const [label = "", ...path] = text.split("=");
  const pinFile = path.join("=");
  if (label === "" || pinFile === "") throw new UsageError("--token must be <label>=<file with its PIN>.");
  return { label, pinFile };
}

const WRAPPING = "wrapping-key";
const AUTHORITY = "authority";
/** Exit status after a rejected PIN. */
const PIN_STATUS = 2;
/** Exit status after the loss of the only token: a supervisor starts the signer again. */
const LOST_STATUS = 1;
const FLUSH_MS = 2000;
/** Bits of a mode that let other users in. */
const OTHERS = 0o007;

async function signer(args: readonly string[], print: (line: string) => void): Promise<number> {
  const given = readSignerArguments(args);
  try {
    const tokens = await openTokens(given);
    if (given.serve !== undefined) return await serve(given.serve, tokens);
    else if (given.rest[0] === AUTHORITY) await makeAuthority(given.rest.slice(1), tokens, print);
    else if (given.rest[0] === WRAPPING) await makeWrappingKey(given.rest.slice(1), tokens, print);
    else {
      const now = Date.now();
      const custody = inTokens(tokens, { owner: given.owner, now });
      if (given.owner === "platform") await platformKeys(given.rest, { print, now, custody });
      else await directoryKeys(given.rest, { print, now, token: statementKeysIn(custody) });
    }
    return 0;
  } catch (error) {
    if (!(error instanceof PinRejected)) throw error;
    printError(error.message);
    return PIN_STATUS;
  }
}

/** An id names one key, whatever the order of the tokens: what one key has wrapped, another one cannot unwrap. */
async function makeWrappingKey(
  args: readonly string[],
  tokens: readonly [Token, ...Token[]],
  print: (line: string) => void,
): Promise<void> {
  const [first] = tokens;
  const [id, ...more] = args;
  if (id === undefined || more.length > 0) throw new UsageError(`${WRAPPING} takes an id, such as 2027-01.`);
  const name = wrappingLabel(id);
  for (const { find, label } of tokens) {
    if (await find(name) !== "absent") throw new Error(`the token ${label} has a key ${name}`);
  }
  await first.makeWrapping(name);
  print(`The key is in the token ${first.label} and cannot leave it. Its line of PLATFORM_WRAPPING_KEYS:`);
  print(`${id} token`);
}

async function makeAuthority(
  args: readonly string[],
  [first]: readonly [Token, ...Token[]],
  print: (line: string) => void,
): Promise<void> {
  const { subject } = optionsOf(args, ["subject"]);
  if (subject === undefined) {
    throw new UsageError('--subject is missing, such as "O=Example, CN=Authority 1".');
  }
  print((await authorityRequest(first, subject, Date.now())).trimEnd());
}

async function openTokens({ module, tokens, serve }: SignerArguments): Promise<readonly [Token, ...Token[]]> {
  const call = await loadPkcs11(module);
  const open = async ({ label, pinFile }: TokenPlace): Promise<Token> => {
    await rejectOthers(pinFile);
    const pin = (await Deno.readTextFile(pinFile)).trimEnd();
    return await openToken(call, { label, pin }, serve === undefined ? MAKING : SERVING);
  };
  const [first, ...others] = tokens;
  return [await open(first), ...await Promise.all(others.map(open))];
}

async function serve(
  { socket, file }: { readonly socket: string; readonly file: string },
  tokens: readonly Token[],
): Promise<number> {
  await rejectOthers(socket.replace(/[^/]*$/, ""));
  await removeLeftSocket(socket);
  const output = openLogQueue({ clock: systemClock, write: (bytes) => Deno.stdout.write(bytes) });
  const log: SignerLog = openLog({ clock: systemClock, sink: output.sink, level: "info" });
  const lost = Promise.withResolvers<number>();
  // If there are others, their keys go on.
  const onLost = (): void => tokens.length === 1 ? lost.resolve(LOST_STATUS) : undefined;
  const service = await openService({ tokens, log, readKeys: () => Deno.readTextFile(file), onLost });
  const server = Deno.serve({ path: socket, onListen: () => {} }, (request) => service.answer(request));
  await Deno.chmod(socket, 0o660);
  for (const name of ["write", "net"] as const) await Deno.permissions.revoke({ name });
  log.info("signer.listening", { socket, keys: service.keyCount });
  const status = await Promise.race([stopRequested(), lost.promise]);
  await server.shutdown();
  log.info("signer.stopped");
  await output.flush(FLUSH_MS);
  return status;
}

/** @throws {Error} if other users may open the file or folder: who reaches it can sign */
async function rejectOthers(path: string): Promise<void> {
  const { mode } = await Deno.stat(path).catch(() => {
    throw new Error(`${path} cannot be read`);
  });
  if (((mode ?? 0) & OTHERS) !== 0) throw new Error(`others may open ${path}; chmod o= ${path}`);
}

/** Removes the socket of a signer that was killed. @throws {Error} if another signer answers there, or it is a file */
async function removeLeftSocket(path: string): Promise<void> {
  const left = await Deno.lstat(path).catch(() => undefined);
  if (left === undefined) return;
  if (left.isSocket !== true) throw new Error(`${path} is not a socket; remove it, or name another --socket`);
  const answers = await Deno.connect({ transport: "unix", path }).then(
    (connection) => (connection.close(), true),
    () => false,
  );
  if (answers) throw new Error(`another process answers at ${path}`);
  await Deno.remove(path);
}

function stopRequested(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => resolve(0));
  return promise;
}

if (import.meta.main) await runProgram(SIGNER_USAGE, signer);
