/** Calls the operations API for command-line tools. */
import { UsageError } from "../../command_line/run.ts";
import { jsonIfAny } from "../../../src/base/kernel/json.ts";

/** Dependencies of a command that calls the operations API. */
export interface ApiTools {
  readonly environment: (name: string) => string | undefined;
  readonly fetch: typeof fetch;
  /** How long the platform may take for an answer, ms. */
  readonly deadlineMs?: number;
}

/** Longer than the platform's own limits, also for a bank's answer. */
export const DEADLINE_MS = 60_000;

/** RFC 8288. */
const NEXT = /^<\/operations([^>]+)>; rel="next"$/;

/** The operations listener, and the operator who calls it. */
export interface Operator {
  readonly url: string;
  readonly token: string;
}

/** An answer of the operations API. */
export interface ApiAnswer {
  readonly ok: boolean;
  readonly status: number;
  /** Seconds after which the request may succeed. */
  readonly retryAfter?: string;
  /** Of a table with further pages: the path of the next one, below `/operations`. */
  readonly next?: string;
  readonly text: string;
  /** The text as JSON, or undefined if it is not. */
  readonly json: unknown;
}

/** Returns the listener's address: `url`, or that of `PLATFORM_OPERATIONS_HOST` and `PLATFORM_OPERATIONS_PORT`. */
export function operationsUrl(environment: ApiTools["environment"], url: string | undefined): string {
  if (url !== undefined) return url;
  const host = environment("PLATFORM_OPERATIONS_HOST") || "127.0.0.1";
  return `http://${host.includes(":") ? `[${host}]` : host}:${
    environment("PLATFORM_OPERATIONS_PORT") || "18080"
  }`;
}

/** Returns the operator of `PLATFORM_OPS_TOKEN`. @throws {UsageError} if it is not set */
export function operatorOf({ environment }: ApiTools, url: string | undefined): Operator {
  const token = environment("PLATFORM_OPS_TOKEN");
  if (token === undefined || token === "") {
    throw new UsageError("PLATFORM_OPS_TOKEN is not set: an operator's token.");
  }
  return { url: operationsUrl(environment, url), token };
}

/**
 * Sends a request.
 *
 * @param path below `/operations`, with its query, such as `/log/checkpoint`
 * @throws {Error} in one sentence if there is no answer
 */
export async function callOperations(
  { fetch, deadlineMs = DEADLINE_MS }: Pick<ApiTools, "fetch" | "deadlineMs">,
  { url, token }: Operator,
  path: string,
  { headers = {}, ...init }: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
): Promise<ApiAnswer> {
  const request: RequestInit = {
    ...init,
    headers: { ...headers, authorization: `Bearer ${token}` },
    redirect: "manual", // the answer of another page is none of the platform
    signal: AbortSignal.timeout(deadlineMs),
  };
  try {
    const response = await fetch(`${url}/operations${path}`, request);
    const text = await response.text();
    const wait = response.headers.get("retry-after");
    const retryAfter = wait === null ? {} : { retryAfter: wait };
    const [, next] = NEXT.exec(response.headers.get("link") ?? "") ?? [];
    return {
      ok: response.ok,
      status: response.status,
      ...retryAfter,
      ...(next === undefined ? {} : { next }),
      text,
      json: jsonIfAny(text),
    };
  } catch (error) {
    throw new Error(
      `the platform at ${url} does not answer: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Returns why the platform rejected a request, in its words if it gave any. */
export function reasonOf({ status, retryAfter, json }: ApiAnswer): string {
  const { error_description: why } = Object(json);
  const reason = typeof why === "string" ? why : `the platform answered ${status}`;
  return retryAfter === undefined ? reason : `${reason.replace(/\.$/, "")}; try again in ${retryAfter} s`;
}

/** Longest `Retry-After` that a command waits for, seconds: the evidence log has a new entry within two. */
const MAX_WAIT_SECONDS = 3;
const TRIES = 3;

/**
 * Sends a GET request as the operator of `PLATFORM_OPS_TOKEN`. Tries again if the platform says that it soon answers.
 *
 * @throws {UsageError} if `PLATFORM_OPS_TOKEN` is not set
 * @throws {Error} in one sentence, for an answer other than 200 and 404
 */
export async function getOperation(
  tools: ApiTools,
  url: string | undefined,
  path: string,
): Promise<ApiAnswer> {
  let answer = await callOperations(tools, operatorOf(tools, url), path);
  for (let tries = 1; tries < TRIES && Number(answer.retryAfter ?? Infinity) <= MAX_WAIT_SECONDS; tries++) {
    await new Promise((resolve) => setTimeout(resolve, Number(answer.retryAfter) * 1000));
    answer = await callOperations(tools, operatorOf(tools, url), path);
  }
  if (answer.ok || answer.status === 404) return answer;
  throw new Error(reasonOf(answer));
}
