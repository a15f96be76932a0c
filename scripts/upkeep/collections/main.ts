/**
 * `deno task collections` writes the generated requests of `examples/bruno`; with `--postman FILE` it writes the same
 * requests as a collection for Postman in place of them.
 */
import { optionsOf, runProgram } from "../../command_line/run.ts";
import { openEnvironment } from "../../testing/environment.ts";
import { brunoFiles } from "./bruno.ts";
import { postmanCollection } from "./postman.ts";
import { type CollectionRequest, collectionRequests, type OpenApi } from "./requests.ts";

const USAGE = `deno task collections [--postman FILE]

  Writes the requests of examples/bruno from the OpenAPI document.

  --postman FILE   writes the same requests as a collection for Postman instead`;

/** The collection for Bruno. */
const FOLDER = "examples/bruno";
/** Every file in them is generated. */
const INNER = ["payment", "more"] as const;

/** Returns the requests of the platform as it is. */
export async function currentRequests(): Promise<readonly CollectionRequest[]> {
  await using environment = await openEnvironment();
  const { baseUrl, authUrl } = environment.config;
  const answer = await environment.browser(new Request(`${authUrl}/openapi.json`));
  const document = await answer.json() as OpenApi;
  return collectionRequests(document, { base_url: baseUrl, auth_url: authUrl });
}

/** Returns the files of the collection for Bruno that are there, by their names. */
export async function writtenFiles(): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const inner of INNER) {
    for await (const { name } of Deno.readDir(`${FOLDER}/${inner}`)) {
      files[`${inner}/${name}`] = await Deno.readTextFile(`${FOLDER}/${inner}/${name}`);
    }
  }
  return files;
}

async function writeBruno(files: Readonly<Record<string, string>>): Promise<void> {
  for (const inner of INNER) {
    await Deno.mkdir(`${FOLDER}/${inner}`, { recursive: true });
    for await (const { name } of Deno.readDir(`${FOLDER}/${inner}`)) {
      await Deno.remove(`${FOLDER}/${inner}/${name}`);
    }
  }
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${FOLDER}/${name}`, text);
}

if (import.meta.main) {
  await runProgram(USAGE, async (args) => {
    const { postman } = optionsOf(args, ["postman"]);
    if (postman === undefined) await writeBruno(brunoFiles(await currentRequests()));
    else await Deno.writeTextFile(postman, postmanCollection(await currentRequests()));
  });
}
