/** A request as plain data: it can be mutated, sent repeatedly, and printed so that a person can send it again. */
import { OPERATIONS_URL } from "../../testing/operators.ts";
import { ISSUER as DIRECTORY_URL } from "../../testing/directory_environment.ts";
import { AUTH_URL, BASE_URL, type Environment, throughProxy } from "../../testing/environment.ts";
import type { Participant } from "../../testing/participants.ts";

/** The app that a request is sent to. */
export type Host = "api" | "browser" | "operations" | "directory";

/** One request, with the headers that the proxy added. */
export interface Attempt {
  readonly host: Host;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array<ArrayBuffer>;
}

const ORIGIN: Readonly<Record<Host, string>> = {
  api: BASE_URL,
  browser: AUTH_URL,
  operations: OPERATIONS_URL,
  directory: DIRECTORY_URL,
};

const KNOWN = /^(DELETE|GET|HEAD|OPTIONS|POST|PUT)$/i;

/** Normalises a request to one that HTTP can carry. A server rejects any other before an app sees it. */
export function toSendable({ body, ...bare }: Attempt): Attempt {
  const { path, headers } = bare;
  const method = KNOWN.test(bare.method) ? bare.method.toUpperCase() : bare.method; // as `Request` does
  const bodiless = /^(GET|HEAD)$/i.test(method);
  return {
    ...(bodiless || body === undefined ? bare : { ...bare, body }),
    method: /^[A-Za-z]{1,20}$/.test(method) && !/^(CONNECT|TRACE|TRACK)$/i.test(method) ? method : "PATCH",
    path: `/${path.replace(/^[/\\]+/, "").toWellFormed()}`,
    headers: headers.map(([name, value]) => [
      /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ? name : "x-odd",
      value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "~").trim(),
    ]),
  };
}

/** The attempt as a request. */
export function requestOf(attempt: Attempt): Request {
  const headers = headersFrom(attempt.headers);
  const init = { method: attempt.method, headers, redirect: "manual" } as const;
  return new Request(
    ORIGIN[attempt.host] + attempt.path,
    attempt.body === undefined ? init : { ...init, body: attempt.body },
  );
}

/** The request as an attempt. */
export async function attemptOf(host: Host, request: Request): Promise<Attempt> {
  const { pathname, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  return {
    host,
    method: request.method,
    path: pathname + search,
    headers: [...request.headers],
    ...(body.length === 0 ? {} : { body }),
  };
}

/** The last request that an act would send. The act receives an empty response instead. */
export async function record(
  env: Environment,
  act: (env: Environment) => Promise<unknown>,
): Promise<Attempt> {
  const attempts: Promise<Attempt>[] = [];
  const catching = (host: Host, request: Request): Promise<Response> => {
    attempts.push(attemptOf(host, request));
    return Promise.resolve(new Response());
  };
  const api = { fetch: (request: Request) => catching("api", request) };
  const browser = { fetch: (request: Request) => catching("browser", request) };
  await act(Object.assign(Object.create(env), {
    api: (request: Request, as?: Participant) => api.fetch(throughProxy(request, as)),
    browser: browser.fetch,
    platform: { ...env.platform, api, browser },
  }));
  const last = attempts.at(-1);
  if (last === undefined) throw new Error("nothing was sent");
  return await last;
}

/** The attempt with a header's value replaced. */
export function withHeader(attempt: Attempt, name: string, value: string): Attempt {
  return {
    ...attempt,
    headers: attempt.headers.map((header) => header[0] === name ? [name, value] : header),
  };
}

/** A header's value as its reader sees it, with repeated values joined; undefined if absent. */
export function headerOf({ headers }: Attempt, name: string): string | undefined {
  const found = headers.filter((header) => header[0].toLowerCase() === name);
  return headersFrom(found).get(name) ?? undefined;
}

/** Copied once as in a real request, which removes white space at the ends. */
function headersFrom(pairs: Attempt["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) headers.append(name, value);
  return new Headers(headers);
}

/** The body as text. */
export function bodyText({ body }: Attempt): string {
  return new TextDecoder().decode(body);
}

/** The attempt with this body. */
export function withBody(attempt: Attempt, body: string | Uint8Array): Attempt {
  return {
    ...attempt,
    body: typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body),
  };
}

/** The path without query, with harmless escapes decoded; unchanged if it contains harmful ones. */
export function pathnameOf({ path }: Pick<Attempt, "path">): string {
  const { pathname } = new URL(path, BASE_URL);
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

/** A form's or query's parameter; undefined unless it occurs exactly once. */
export function parameterOf(text: string, name: string): string | undefined {
  const [value, ...more] = new URLSearchParams(text).getAll(name);
  return more.length === 0 ? value : undefined;
}

/** The query's text. */
export function queryOf({ path }: Pick<Attempt, "path">): string {
  return new URL(path, BASE_URL).search.slice(1);
}
