/** Writes the generated requests of `examples/bruno` and `examples/postman`. `deno task collections` runs it. */
import { openEnvironment } from "../testing/environment.ts";
import { brunoFiles } from "./bruno.ts";
import { postmanCollection } from "./postman.ts";
import { collectionRequests, type OpenApi } from "./requests.ts";

/** The folder of the collections. */
export const FOLDER = "examples";

/** Every file in them is generated. */
const INNER = ["bruno/payment", "bruno/more"] as const;
const POSTMAN = "postman/payment_initiation.postman_collection.json";

/** Returns the files of the platform as it is, by their names. */
export async function currentFiles(): Promise<Readonly<Record<string, string>>> {
  await using environment = await openEnvironment();
  const { baseUrl, authUrl } = environment.config;
  const answer = await environment.browser(new Request(`${authUrl}/openapi.json`));
  const document = await answer.json() as OpenApi;
  const requests = collectionRequests(document, { base_url: baseUrl, auth_url: authUrl });
  const bruno = Object.entries(brunoFiles(requests)).map(([name, text]) => [`bruno/${name}`, text] as const);
  return { ...Object.fromEntries(bruno), [POSTMAN]: postmanCollection(requests) };
}

/** Returns the files that are there, by their names. */
export async function writtenFiles(): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const inner of INNER) {
    for await (const { name } of Deno.readDir(`${FOLDER}/${inner}`)) {
      files[`${inner}/${name}`] = await Deno.readTextFile(`${FOLDER}/${inner}/${name}`);
    }
  }
  return { ...files, [POSTMAN]: await Deno.readTextFile(`${FOLDER}/${POSTMAN}`) };
}

if (import.meta.main) {
  const files = await currentFiles();
  for (const inner of INNER) {
    await Deno.mkdir(`${FOLDER}/${inner}`, { recursive: true });
    for await (const { name } of Deno.readDir(`${FOLDER}/${inner}`)) {
      await Deno.remove(`${FOLDER}/${inner}/${name}`);
    }
  }
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${FOLDER}/${name}`, text);
}
