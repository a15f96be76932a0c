/** What the pages of a seeded platform cost: their bytes without fonts, and the server's processor time. */
import { cpuUsage } from "node:process";
import { putAccounts, returnPath, toBank } from "../../testing/authorization_flow.ts";
import { ConsoleBrowser } from "../../testing/console_browser.ts";
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { good } from "../../testing/flows.ts";
import { OPERATIONS_URL } from "../../testing/operators.ts";
import { ADMIN_TOKEN } from "../../testing/through_proxy.ts";
import { type Parties, seenBy } from "./parties.ts";

const MAX_BYTES = 300_000;
const MAX_MS = 100;
/** The cheapest visit of a page counts, because the first one also compiles. */
const VISITS = 3;
/** Where crawls begin that no link leads to. */
const PORTAL = ["/docs", "/docs?q=signature", "/docs?q=nothing-like-it", "/service-levels"];

export interface PageCost {
  readonly page: string;
  readonly bytes: number;
  /** Processor time of all threads, ms. */
  readonly milliseconds: number;
}

/** A host as one person sees it. */
export interface Host {
  readonly starts: readonly string[];
  readonly cookie: string;
  readonly get: (path: string) => Promise<Response>;
}

/** Visits each kind of page that links of the consoles and the portal lead to, and the consent page. */
export async function pageCosts(env: EmptyEnvironment, parties: Parties): Promise<readonly PageCost[]> {
  const costs: PageCost[] = [];
  for (const host of await hostsOf(env, parties)) costs.push(...await crawl(host));
  return costs;
}

/** An operator's console, a payer's and a reader's browser host, and an administrator's console of the directory. */
export async function hostsOf(
  env: EmptyEnvironment,
  parties: Parties,
): Promise<readonly [operators: Host, payer: Host, administrators: Host]> {
  const operations = (request: Request): Promise<Response> => env.platform.operations.fetch(request);
  const directory = (request: Request): Promise<Response> => env.directory.fetch(request);
  const operators = await consoleOf(operations, (browser) => browser.signIn("maria"));
  const administrators = await consoleOf(
    directory,
    (browser) => browser.submit("/console/sign-in", { token: ADMIN_TOKEN, next: "/console" }),
  );
  return [operators, await payerAt(env, parties), administrators];
}

/** The sentence of each page that costs too much. */
export function tooDear(costs: readonly PageCost[]): readonly string[] {
  return costs
    .filter(({ bytes, milliseconds }) => bytes > MAX_BYTES || milliseconds > MAX_MS)
    .map(({ page, bytes, milliseconds }) =>
      `${page}: ${bytes} bytes and ${milliseconds} ms, at most ${MAX_BYTES} and ${MAX_MS}`
    );
}

async function consoleOf(
  send: (request: Request) => Promise<Response>,
  signIn: (browser: ConsoleBrowser) => Promise<unknown>,
): Promise<Host> {
  const browser = new ConsoleBrowser(send);
  await signIn(browser);
  const get = (path: string): Promise<Response> =>
    send(
      new Request(`${OPERATIONS_URL}${path}`, {
        headers: { accept: "text/html", cookie: browser.cookies.header() },
      }),
    );
  const cookie = browser.cookies.header();
  return { cookie, starts: ["/console", "/console/search?amount=100&currency=EUR"], get };
}

/** The browser of a customer who has come back from a bank, before the consent screen. */
async function payerAt(env: EmptyEnvironment, { banks, tpps }: Parties): Promise<Host> {
  const [bank, tpp] = [banks[0], tpps[0]];
  if (bank === undefined || tpp === undefined) throw new Error("there are no parties");
  const seen = seenBy(env, { tpp, bank });
  const flow = await toBank(seen, { bank });
  await good(putAccounts(seen, bank, flow.consentId), 200);
  const answer = await flow.browser.open(await returnPath(seen, bank, flow.handover));
  const screen = new URL(answer.headers.get("location") ?? "");
  return {
    cookie: flow.browser.cookies.header(),
    starts: [`${screen.pathname}${screen.search}`, ...PORTAL],
    get: (path) => flow.browser.open(path, { headers: { accept: "text/html" } }),
  };
}

/** Visits pages by their links: one of each kind. */
async function crawl({ starts, get }: Host): Promise<readonly PageCost[]> {
  const [kinds, parts] = [new Set<string>(), new Map<string, number>()];
  const waiting = [...starts];
  const costs: PageCost[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const page = kindOf(path);
    if (kinds.has(page)) continue;
    kinds.add(page);
    const visit = await cheapest(() => get(path));
    if (!visit.type.startsWith("text/html")) continue;
    let bytes = visit.bytes;
    for (
      const [, part = ""] of visit.text.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="(\/[^"]*)"/g)
    ) {
      if (!parts.has(part)) parts.set(part, (await (await get(part)).bytes()).length);
      bytes += parts.get(part) ?? 0;
    }
    costs.push({ page, bytes, milliseconds: visit.milliseconds });
    for (const [, link = ""] of visit.text.matchAll(/<a\b[^>]*?href="(\/[^"#]*)/g)) {
      if (!/[?;]lang=/.test(link)) waiting.push(link.replaceAll("&amp;", "&"));
    }
  }
  return costs;
}

/** A path without what differs from one page to the next of its kind: ids, codes and filters. */
function kindOf(path: string): string {
  const [name = "", query = ""] = path.split("?");
  const own = name.startsWith("/console") ? name.replaceAll(/\/[^/]*[A-Z0-9][^/]*/g, "/*") : name;
  const filters = [...new URLSearchParams(query)]
    .map(([key, value]) => `${key}=${/^[a-z]+$/.test(value) ? value : "*"}`).toSorted();
  return filters.length === 0 ? own : `${own}?${filters.join("&")}`;
}

interface Visited {
  readonly type: string;
  readonly text: string;
  readonly bytes: number;
  readonly milliseconds: number;
}

async function cheapest(get: () => Promise<Response>): Promise<Visited> {
  let least: Visited | undefined;
  for (let visit = 0; visit < VISITS; visit++) {
    const before = cpuUsage();
    const answer = await get();
    const body = await answer.bytes();
    const { user, system } = cpuUsage(before);
    const milliseconds = Math.round((user + system) / 1000);
    if (least !== undefined && least.milliseconds <= milliseconds) continue;
    const type = answer.headers.get("content-type") ?? "";
    least = { type, text: new TextDecoder().decode(body), bytes: body.length, milliseconds };
  }
  if (least === undefined) throw new Error("no visit");
  return least;
}
