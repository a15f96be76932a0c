/** Sends three POSTs, one after the other, and prints how each ended. Runs on Node and Bun. */
import process from "node:process";
import { nodeFetch } from "../../../src/base/http/node_fetch.ts";

const [uri = "", body] = process.argv.slice(2);
const ends: unknown[] = [];
for (const count of [1, 2, 3]) {
  await nodeFetch(uri, { method: "POST", body: `${body} ${count}`, redirect: "manual" }).then(
    async (response) => {
      await response.text();
      ends.push(response.status);
    },
    (error) => void ends.push(error.name),
  );
}
process.stdout.write(`${ends.join(" ")}\n`);
