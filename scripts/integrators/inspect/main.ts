/** `deno task inspect`: decodes a JWT or a payload signature, shows its times, and verifies it with the keys at hand. */
import { openPlatform } from "../../command_line/platform.ts";
import { type Options, runProgram, UsageError, wordsAndOptions } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { inspect } from "./inspect.ts";

const USAGE = `deno task inspect <token | address with oAuthUrl | -> [--name <folder>] [--body <file>]

  Decodes a JWT, an encrypted JWT or an x-jws-signature. "-" reads it from standard input.
  The keys of the platform and of the directory verify it, if a sandbox runs (SANDBOX_DIR, default .data/sandbox).

  Exit status 1 if it is not accepted: another algorithm, another signature, or encrypted to another key.

  --name  a participant's folder: its keys verify, and a bank's decrypt
  --body  the file with the body that a payload signature is for`;

const OPTIONS = { names: ["name", "body"], switches: [] } as const;

await runProgram(USAGE, async (args, print) => {
  const { words: [given, ...more], given: options } = wordsAndOptions(args, OPTIONS);
  const { name, body } = options as Options<"name" | "body", never>;
  if (given === undefined || more.length > 0) throw new UsageError(USAGE);
  const text = (given === "-" ? await new Response(Deno.stdin.readable).text() : given).trim();
  const dir = sandboxFolder(Deno.env.toObject());
  const lines = await inspect(URL.parse(text)?.searchParams.get("oAuthUrl") ?? text, {
    platform: await openPlatform(dir).catch(() => undefined), // without one, less is verified
    folder: name === undefined ? undefined : `${dir}/participants/${name}`,
    body: body === undefined ? undefined : await Deno.readFile(body),
  });
  for (const line of lines) print(line);
  return !lines.at(-1)?.startsWith("NOT ");
});
