/** What the pages of a seeded platform cost: their bytes without fonts, and the server's processor time. */
import { cpuUsage } from "node:process";
import { putAccounts, returnPath, toBank } from "../../testing/authorization_flow.ts";
import { ConsoleBrowser } from "../../testing/console_browser.ts";
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { good } from "../../testing/flows.ts";
import { OPERATIONS_URL, OPERATOR_TOKENS } from "../../testing/operators.ts";
import { personOf } from "../../testing/participants_people.ts";
import { ADMIN_TOKEN } from "../../testing/through_proxy.ts";
import { type Parties, seenBy } from "./parties.ts";

const MAX_BYTES = 300_000;
const MAX_MS = 100;
/** The cheapest visit of a page counts, because the first one also compiles. */
const VISITS = 3;
/** What a payer with several accounts has. */
const ACCOUNTS = ["GB94BARC10201530093459", "DE89370400440532013000", "FR1420041010050500013M02606"].map(
  (Identification, at) => ({
    SchemeName: "UK.OBIE.IBAN",
    Identification,
    Balance: `${12 ** (4 - at)}.50`,
    Currency: "EUR",
  }),
);
/** A page of an error. */
export const NOWHERE = "/nowhere";
/** Where crawls begin that no link leads to. */
const OPERATORS = ["/console", "/console/search?amount=100&currency=EUR", "/console/nowhere"];
const PORTAL = [
  "/docs",
  "/docs?q=signature",
  "/docs?q=nothing-like-it",
  "/service-levels",
  "/receipt",
  NOWHERE,
];
const DIRECTORY = ["/console", "/participants", NOWHERE];

export interface PageCost {
  /** Its kind. */
  readonly page: string;
  /** The one that was visited. */
  readonly path: string;
  readonly bytes: number;
  /** Processor time of all threads, ms. */
  readonly milliseconds: number;
}

/** A host as one person sees it. */
export interface Host {
  readonly at: "operations" | "browser" | "directory";
  /** Who sees it. */
  readonly name: string;
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

/**
 * An operator's console, a payer's and a reader's browser host, an administrator's console of the directory, the views of a
 * bank's and a TPP's people, and a payer with several accounts.
 */
export async function hostsOf(
  env: EmptyEnvironment,
  parties: Parties,
): Promise<readonly [operators: Host, payer: Host, administrators: Host, ...others: Host[]]> {
  const operations = (request: Request): Promise<Response> => env.platform.operations.fetch(request);
  const directory = (request: Request): Promise<Response> => env.directory.fetch(request);
  const signedIn = async (
    name: string,
    { token, at, starts }: {
      readonly token: string;
      readonly at: Host["at"];
      readonly starts: readonly string[];
    },
  ): Promise<Host> => {
    const browser = new ConsoleBrowser(at === "directory" ? directory : operations);
    await browser.submit("/console/sign-in", { token, next: starts[0] ?? "/console" });
    const cookie = browser.cookies.header();
    const get = (path: string): Promise<Response> =>
      browser.send(new Request(`${OPERATIONS_URL}${path}`, { headers: { accept: "text/html", cookie } }));
    return { at, name, cookie, starts, get };
  };
  const ownViews = [parties.banks[0], parties.tpps[0]].map((one) => {
    const token = personOf(one?.orgId ?? "").authorization.replace("Bearer ", "");
    return signedIn(one === parties.banks[0] ? "bank" : "tpp", {
      token,
      at: "operations",
      starts: ["/console/own"],
    });
  });
  return [
    await signedIn("operator", { token: OPERATOR_TOKENS.maria, at: "operations", starts: OPERATORS }),
    await payerAt(env, parties, { name: "payer", accounts: 1, starts: PORTAL }),
    await signedIn("administrator", { token: ADMIN_TOKEN, at: "directory", starts: DIRECTORY }),
    ...await Promise.all(ownViews),
    await payerAt(env, parties, { name: "payer-of-several", accounts: 3, starts: [] }),
  ];
}

/** The sentence of each page that costs too much. */
export function tooDear(costs: readonly Omit<PageCost, "path">[]): readonly string[] {
  return costs
    .filter(({ bytes, milliseconds }) => bytes > MAX_BYTES || milliseconds > MAX_MS)
    .map(({ page, bytes, milliseconds }) =>
      `${page}: ${bytes} bytes and ${milliseconds} ms, at most ${MAX_BYTES} and ${MAX_MS}`
    );
}

/** The browser of a customer who has come back from a bank, before the consent screen. */
async function payerAt(
  env: EmptyEnvironment,
  { banks, tpps }: Parties,
  { name, accounts, starts }: {
    readonly name: string;
    readonly accounts: number;
    readonly starts: readonly string[];
  },
): Promise<Host> {
  const [bank, tpp] = [banks[0], tpps[0]];
  if (bank === undefined || tpp === undefined) throw new Error("there are no parties");
  const seen = seenBy(env, { tpp, bank });
  const flow = await toBank(seen, { bank });
  await good(putAccounts(seen, bank, flow.consentId, ACCOUNTS.slice(0, accounts)), 200);
  const answer = await flow.browser.open(await returnPath(seen, bank, flow.handover));
  const screen = new URL(answer.headers.get("location") ?? "");
  return {
    at: "browser",
    name,
    cookie: flow.browser.cookies.header(),
    starts: [`${screen.pathname}${screen.search}`, ...starts],
    get: (path) => flow.browser.open(path, { headers: { accept: "text/html" } }),
  };
}

/** Visits pages by their links: one of each kind. */
export async function crawl({ starts, get }: Host): Promise<readonly PageCost[]> {
  const [kinds, parts] = [new Set<string>(), new Map<string, number>()];
  const waiting = [...starts];
  const costs: PageCost[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const page = pageKind(path);
    if (kinds.has(page)) continue;
    kinds.add(page);
    const visit = await cheapest(() => get(path));
    if (!visit.type.startsWith("text/html")) continue;
    let bytes = visit.bytes;
    for (
      const [, part = ""] of visit.text.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="(\/[^"]*)"/g)
    ) {
      if (part.endsWith(".woff2")) continue;
      if (!parts.has(part)) parts.set(part, (await (await get(part)).bytes()).length);
      bytes += parts.get(part) ?? 0;
    }
    costs.push({ page, path, bytes, milliseconds: visit.milliseconds });
    for (const [, link = ""] of visit.text.matchAll(/<a\b[^>]*?href="(\/[^"#]*)/g)) {
      if (!/[?;]lang=/.test(link)) waiting.push(link.replaceAll("&amp;", "&"));
    }
  }
  return costs;
}

/** A path without what differs from one page to the next of its kind: ids, codes and filters. */
function pageKind(path: string): string {
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
