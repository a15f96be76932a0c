/** Writes the generated requests of `examples/bruno`. `deno task collections` runs it. */
import { openEnvironment } from "../testing/environment.ts";
import { brunoRequests } from "./bruno.ts";

/** The collection's folder. */
export const FOLDER = "examples/bruno";

/** Every file in them is generated. */
const INNER = ["payment", "more"] as const;

/** Returns the requests of the platform as it is, by their file names. */
export async function currentRequests(): Promise<Readonly<Record<string, string>>> {
  await using environment = await openEnvironment();
  const { baseUrl, authUrl } = environment.config;
  const answer = await environment.browser(new Request(`${authUrl}/openapi.json`));
  return brunoRequests(await answer.json(), { base_url: baseUrl, auth_url: authUrl });
}

/** Returns the requests that are in the folder, by their file names. */
export async function writtenRequests(folder = FOLDER): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const inner of INNER) {
    for await (const { name } of Deno.readDir(`${folder}/${inner}`)) {
      files[`${inner}/${name}`] = await Deno.readTextFile(`${folder}/${inner}/${name}`);
    }
  }
  return files;
}

if (import.meta.main) {
  const requests = await currentRequests();
  for (const inner of INNER) await Deno.mkdir(`${FOLDER}/${inner}`, { recursive: true });
  for (const name of Object.keys(await writtenRequests())) await Deno.remove(`${FOLDER}/${name}`);
  for (const [name, text] of Object.entries(requests)) await Deno.writeTextFile(`${FOLDER}/${name}`, text);
}
