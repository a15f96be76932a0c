/** `deno task sign`: prints one thing that a participant signs, for scripts and for comparing with one's own. */
import { exportJWK } from "jose";
import { generateKeyPair } from "oauth4webapi";
import { SIGNATURE_ALG } from "../../../src/client/party/profile.ts";
import { type KnownPlatform, openPlatform } from "../../command_line/platform.ts";
import { oneOf, required } from "../../command_line/option_values.ts";
import { optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { writeSecretFile } from "../../command_line/secret_file.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { signAssertion, signBankResult, signBody, signProof, signRegistration } from "./sign.ts";

const USAGE = `deno task sign <what> --name <folder> [options]

  assertion     --bank <code>                    client assertion for a bank's issuer
  dpop          --method <GET> --url <url> [--token <access token>] [--key <file.jwk>]
                                                 DPoP proof; the key is made if the file is missing
  payload       --body <file> [--profile a|b]    x-jws-signature over the bytes of the file
  registration                                   registration JWT with the software statement
  bank-result   --handover <oAuthUrl> [--sub <id>] [--status-code success|failure|insufficient_funds]
                                                 the address to which a bank returns its customer

  --name is a folder below participants/ of SANDBOX_DIR (default .data/sandbox).`;

const OPTIONS = [
  "name",
  "bank",
  "method",
  "url",
  "token",
  "key",
  "body",
  "profile",
  "handover",
  "sub",
  "status-code",
] as const;
type Given = { readonly [name in typeof OPTIONS[number]]?: string };

const KINDS = ["assertion", "dpop", "payload", "registration", "bank-result"];
const STATUS_CODES = ["success", "failure", "insufficient_funds"] as const;

async function sign(what: string, given: Given, platform: KnownPlatform, dir: string): Promise<string> {
  const folder = (): string => `${dir}/participants/${required(given, "name")}`;
  switch (what) {
    case "assertion":
      return await signAssertion(platform, folder(), required(given, "bank"));
    case "dpop": {
      const target = { method: given.method ?? "GET", url: required(given, "url"), accessToken: given.token };
      return await signProof(platform, await proofKeys(given.key ?? `${dir}/dpop.jwk`), target);
    }
    case "payload": {
      const body = await Deno.readFile(required(given, "body"));
      return await signBody(platform, folder(), body, oneOf("profile", given.profile ?? "b", ["a", "b"]));
    }
    case "registration":
      return await signRegistration(platform, folder());
    case "bank-result": {
      const statusCode = oneOf("status-code", given["status-code"] ?? "success", STATUS_CODES);
      const result = { sub: given.sub ?? "customer-1", statusCode };
      return await signBankResult(platform, folder(), required(given, "handover"), result);
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** As the file has it; a private one beside these members. */
type RsaKey = JsonWebKey & { readonly kty: string; readonly n: string; readonly e: string };

/** Reads the pair that tokens are bound to, or makes it. */
async function proofKeys(file: string): Promise<CryptoKeyPair> {
  const text = await Deno.readTextFile(file).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  if (text === undefined) {
    const made = await generateKeyPair(SIGNATURE_ALG, { extractable: true });
    await writeSecretFile(file, JSON.stringify(await exportJWK(made.privateKey)), { replace: false });
    return made;
  }
  const { kty, n, e, ...secret } = JSON.parse(text) as RsaKey;
  const imported = (jwk: JsonWebKey, use: KeyUsage): Promise<CryptoKey> =>
    crypto.subtle.importKey("jwk", jwk, { name: "RSA-PSS", hash: "SHA-256" }, true, [use]);
  const [publicKey, privateKey] = await Promise.all([
    imported({ kty, n, e }, "verify"),
    imported({ kty, n, e, ...secret }, "sign"),
  ]);
  return { publicKey, privateKey };
}

await runProgram(USAGE, async (args, print) => {
  const [what = "", ...rest] = args[0]?.startsWith("-") ? ["", ...args] : args;
  const given = optionsOf(rest, OPTIONS);
  if (what !== "" && !KINDS.includes(what)) throw unknownCommand(what, KINDS);
  const dir = sandboxFolder(Deno.env.toObject());
  print(await sign(what, given, await openPlatform(dir), dir));
});
