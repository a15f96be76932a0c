/** Lighthouse's scores of pages of a seeded platform, with Debian's Chromium and Lighthouse from npm. */
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { type Host, hostsOf, NOWHERE } from "./page_costs.ts";
import type { Parties } from "./parties.ts";

const LIGHTHOUSE = "lighthouse@12.8.2";
const CHROMIUM = "/usr/bin/chromium";
const LEAST = 95;
/** The best visit of a page counts, because a busy computer delays it and Chromium sometimes records no trace. */
const VISITS = 3;
/** Our policy lets no page fetch anything, so Lighthouse cannot read robots.txt. */
const SKIPPED = "robots-txt";
/** Pages of a person are not for search engines, so they say that they are not to be listed. */
const SKIPPED_PRIVATE = `${SKIPPED},is-crawlable`;

export interface Score {
  readonly page: string;
  readonly category: string;
  readonly score: number;
  /** The audits that cost points. */
  readonly faults: readonly string[];
}

/** Visits the pages at the hosts' ports: the operators' console, payers and documentation, the directory's console. */
export async function lighthouseScores(
  env: EmptyEnvironment,
  parties: Parties,
  ports: readonly number[],
  say: (line: string) => void,
): Promise<readonly Score[]> {
  const [operators, payer, administrators] = await hostsOf(env, parties);
  const found = await (await operators.get("/console/search?q=ORDER-000001")).text();
  const caseOf = /href="(\/console\/cases\/[^"?]+)"/.exec(found)?.[1] ?? "/console/search";
  const console = [
    "/console?live=0",
    caseOf,
    "/console/orders?state=dead",
    "/console/reports",
    "/console/banks",
  ];
  const [consent = "", ...portal] = payer.starts.filter((path) => path !== NOWHERE); // a 404 is not loaded
  const visits: readonly (readonly [Host, number | undefined, readonly string[], isPublic: boolean])[] = [
    [operators, ports[0], console, false],
    [payer, ports[1], [consent], false],
    [payer, ports[1], [...portal, "/docs/tpp", "/docs/errors", "/docs/reference/back-channel"], true],
    [administrators, ports[2], administrators.starts.slice(0, 1), false],
  ];
  const scores: Score[] = [];
  for (const [{ cookie }, port, paths, isPublic] of visits) {
    for (const path of paths) {
      const isListed = isPublic && path.startsWith("/docs");
      const found = await visited(`http://127.0.0.1:${port}${path}`, cookie, isListed);
      say(`${found.map(({ category, score }) => `${category} ${score}`).join(", ")}: ${found[0]?.page}`);
      scores.push(...found);
    }
  }
  return scores;
}

/** The sentence of each score that is too low. */
export function tooLow(scores: readonly Score[]): readonly string[] {
  return scores.filter(({ score }) => score < LEAST)
    .map(({ page, category, score, faults }) =>
      `${page}: ${category} ${score}, at least ${LEAST} (${faults.join("; ")})`
    );
}

interface LighthouseReport {
  readonly categories: Readonly<
    Record<
      string,
      {
        readonly score: number;
        readonly auditRefs: readonly { readonly id: string; readonly weight: number }[];
      }
    >
  >;
  readonly audits: Readonly<Record<string, { readonly score: number | null; readonly title: string }>>;
}

async function visited(address: string, cookie: string, isListed: boolean): Promise<readonly Score[]> {
  let best: readonly Score[] = [];
  let failure: unknown;
  const isEnough = (): boolean => best.length > 0 && tooLow(best).length === 0;
  for (let visit = 0; visit < VISITS && !isEnough(); visit++) {
    const found = await visitOnce(address, cookie, isListed).catch((error: unknown) =>
      void (failure = error)
    );
    if (found === undefined) continue;
    best = found.map((score, place) =>
      score.score > (best[place]?.score ?? -1) ? score : best[place] ?? score
    );
  }
  if (best.length === 0) throw failure;
  return best;
}

async function visitOnce(address: string, cookie: string, isListed: boolean): Promise<readonly Score[]> {
  const args = [
    "-y",
    LIGHTHOUSE,
    address,
    "--quiet",
    "--output=json",
    "--preset=desktop",
    "--only-categories=performance,accessibility,best-practices,seo",
    "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
    `--extra-headers=${JSON.stringify({ cookie })}`,
    `--skip-audits=${isListed ? SKIPPED : SKIPPED_PRIVATE}`,
  ];
  const command = new Deno.Command("npx", { args, env: { CHROME_PATH: CHROMIUM } });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`Lighthouse failed at ${address}: ${new TextDecoder().decode(stderr)}`);
  const { categories, audits } = JSON.parse(new TextDecoder().decode(stdout)) as LighthouseReport;
  return Object.entries(categories).map(([category, { score, auditRefs }]) => ({
    page: new URL(address).pathname,
    category,
    score: Math.round(score * 100),
    faults: auditRefs.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
      .map(({ id }) => audits[id]?.title ?? id),
  }));
}
