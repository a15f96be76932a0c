/** A platform whose every response is checked against its own OpenAPI document. A deviation fails the test. */
import type { Handler, Platform } from "../../src/platform/process/compose.ts";
import { bodyOf, type OpenApi } from "./answers.ts";
import { type Contract, contractOf } from "./api_contract.ts";
import { MARIA, OPERATIONS_URL } from "./operators.ts";

interface Hosts {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** Paths outside the documents: pages with their assets, and health on the operations host. */
const UNDOCUMENTED = {
  api: [],
  browser: [
    /^\/$/,
    /^\/docs(\/|$)/,
    /^\/assets\//,
    /^\/llms\.txt$/,
    /^\/problem$/,
    /^\/receipt$/,
    /^\/service-levels$/,
    /\/authorization\.consent\.oauth2$/,
  ],
  operations: [/^\/(health\/|$)/, /^\/console(\/|$)/],
};

type HostName = keyof typeof UNDOCUMENTED;

const contracts = new Map<string, Promise<Readonly<Record<HostName, Contract>>>>();

/** The platform with the responses of both hosts checked. One document serves all platforms with the same hosts. */
export async function describedPlatform(platform: Platform, hosts: Hosts): Promise<Platform> {
  const key = `${hosts.baseUrl} ${hosts.authUrl}`;
  const reading = contracts.get(key) ?? readContracts(platform, hosts);
  contracts.set(key, reading);
  const { api, browser, operations } = await reading;
  return {
    ...platform,
    api: { fetch: (request) => held(platform.api, api, request) },
    browser: { fetch: (request) => held(platform.browser, browser, request) },
    operations: { fetch: (request) => held(platform.operations, operations, request) },
  };
}

async function readContracts(
  platform: Platform,
  { baseUrl, authUrl }: Hosts,
): Promise<Readonly<Record<HostName, Contract>>> {
  const document = await bodyOf<OpenApi>(platform.browser.fetch(new Request(`${authUrl}/openapi.json`)));
  return {
    api: contractOf(document, baseUrl, UNDOCUMENTED.api),
    browser: contractOf(document, authUrl, UNDOCUMENTED.browser),
    operations: contractOf(await operationsDocumentOf(platform), "/", UNDOCUMENTED.operations),
  };
}

/** An empty document if the platform has no operators: then every path but health must answer 404. */
async function operationsDocumentOf(platform: Platform): Promise<object> {
  const answer = await platform.operations.fetch(
    new Request(`${OPERATIONS_URL}/operations/openapi.json`, { headers: MARIA }),
  );
  const document = await bodyOf<OpenApi>(answer);
  return answer.ok ? document : { paths: {} };
}

async function held(host: Handler, contract: Contract, request: Request): Promise<Response> {
  const { method, url } = request;
  const response = await host.fetch(request);
  const faults = await contract.faults({ method, pathname: new URL(url).pathname, response });
  if (faults.length === 0) return response;
  const body = await response.clone().text();
  throw new Error(
    `The OpenAPI document does not describe this answer of ${method} ${url}:\n- ${faults.join("\n- ")}\n` +
      `${response.status} ${JSON.stringify(Object.fromEntries(response.headers))}\n${body.slice(0, 2000)}`,
  );
}
