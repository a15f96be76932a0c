/** Sends a GET and a POST to a URL, as the programs do, and prints how each ended. */
import { denoFetch } from "../../../src/base/http/deno_fetch.ts";

const [uri = ""] = Deno.args;
const lines: string[] = [];
for (const method of ["GET", "POST"]) {
  const ended = await denoFetch(uri, { method }).then(
    async (response) => `${response.status} ${await response.text()}`,
    (error) => String(error.cause ?? error),
  );
  lines.push(`${method} ${ended}`);
}
await Deno.stdout.write(new TextEncoder().encode(lines.join("\n")));
