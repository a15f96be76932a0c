/** Calls the operations API for command-line tools. */
import { z } from "zod";
import { UsageError } from "../command_line/run.ts";

/** Dependencies of a command that calls the operations API. */
export interface ApiTools {
  readonly environment: (name: string) => string | undefined;
  readonly fetch: typeof fetch;
}

/** An answer of the operations API. */
export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a GET request as the operator of `OPS_TOKEN`, to `url` or to `OPERATIONS_HOST` and `OPERATIONS_PORT`.
 *
 * @param path with its query, such as `/log/checkpoint`
 * @throws {UsageError} if `OPS_TOKEN` is not set
 * @throws {Error} in one sentence, for an answer other than 200 and 404
 */
export async function getOperation(
  tools: ApiTools,
  url: string | undefined,
  path: string,
): Promise<ApiAnswer> {
  const token = tools.environment("OPS_TOKEN");
  if (token === undefined || token === "") throw new UsageError("OPS_TOKEN is not set: an operator's token.");
  const host = tools.environment("OPERATIONS_HOST") ?? "127.0.0.1";
  const port = tools.environment("OPERATIONS_PORT") ?? "8081";
  const base = url ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const headers = { authorization: `Bearer ${token}` };
  const response = await tools.fetch(`${base}/operations${path}`, { headers }).catch((error: Error) => {
    throw new Error(`the platform at ${base} does not answer: ${error.message}`);
  });
  const text = await response.text();
  if (response.status === 200 || response.status === 404) return { status: response.status, text };
  const said = z.object({ error_description: z.string() }).safeParse(parsed(text));
  throw new Error(said.success ? said.data.error_description : `the platform answered ${response.status}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
