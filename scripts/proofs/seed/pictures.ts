/** Screenshots of each kind of page of a seeded platform, to look at: on a phone, on a desk, dark, right to left, with large text. */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { openChromium } from "../../testing/chromium.ts";
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { crawl, type Host, hostsOf } from "./page_costs.ts";
import type { Parties } from "./parties.ts";

interface Way {
  readonly context: BrowserContextOptions;
  /** Of the page's text, percent. */
  readonly text?: number;
}

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const WAYS: Readonly<Record<string, Way>> = {
  phone: { context: { viewport: PHONE } },
  desk: { context: { viewport: DESK } },
  dark: { context: { viewport: DESK, colorScheme: "dark" } },
  arabic: { context: { viewport: PHONE, locale: "ar" } },
  "arabic-desk": { context: { viewport: DESK, locale: "ar" } },
  large: { context: { viewport: DESK }, text: 200 },
};
/** Pages that are alike: of each of these so many. */
const ALIKE = [/^\/docs\//, /^\/console\/reports\/funnel/];
const OF_ALIKE = 6;
/** A picture shows so much of a page, CSS pixels. */
const MOST_HEIGHT = 2600;

/**
 * Writes `<folder>/<way>/<who>-<page>.png`.
 *
 * @param origins of the hosts
 * @returns how many pages were pictured, each in every way
 */
export async function takePictures(
  env: EmptyEnvironment,
  parties: Parties,
  { origins, folder, say }: {
    readonly origins: Readonly<Record<Host["at"], string>>;
    readonly folder: string;
    readonly say: (line: string) => void;
  },
): Promise<number> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  const browser = await openChromium();
  let pages = 0;
  try {
    for (const host of await hostsOf(env, parties)) {
      const paths = pictured((await crawl(host)).map(({ path }) => path));
      pages += paths.length;
      say(`${host.name}: ${paths.length} pages`);
      for (const [name, way] of Object.entries(WAYS)) {
        await Deno.mkdir(`${folder}/${name}`, { recursive: true });
        await picture(browser, way, { host, origin: origins[host.at], paths, to: `${folder}/${name}` });
      }
    }
  } finally {
    await browser.close();
  }
  return pages;
}

function pictured(paths: readonly string[]): readonly string[] {
  return [
    ...paths.filter((path) => !ALIKE.some((kind) => kind.test(path))),
    ...ALIKE.flatMap((kind) => paths.filter((path) => kind.test(path)).slice(0, OF_ALIKE)),
  ];
}

async function picture(
  browser: Browser,
  { context: options, text = 100 }: Way,
  { host, origin, paths, to }: {
    readonly host: Host;
    readonly origin: string;
    readonly paths: readonly string[];
    readonly to: string;
  },
): Promise<void> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  await context.setExtraHTTPHeaders({ cookie: host.cookie });
  const page = await context.newPage();
  const width = options.viewport?.width ?? DESK.width;
  for (const [number, path] of paths.entries()) {
    await page.goto(`${origin}${path}`);
    await page.evaluate(`document.documentElement.style.fontSize = "${text}%"`);
    const height = Math.min(
      MOST_HEIGHT,
      Number(await page.evaluate("document.documentElement.scrollHeight")),
    );
    const name = `${host.name}-${String(number).padStart(2, "0")}${
      path.replaceAll(/\W+/g, "-").slice(0, 60)
    }`;
    await page.screenshot({ path: `${to}/${name}.png`, fullPage: true, clip: { x: 0, y: 0, width, height } });
  }
  await context.close();
}
