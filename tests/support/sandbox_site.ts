/**
 * Every page of the sandbox's banks and shop, in every state, on a loopback port: drawn by their own code and sent with
 * their own headers, without a platform behind them. Cheap enough to look at each page in each language.
 */
import { type Ask, bankPages } from "./sandbox_bank_pages.ts";
import { shopPages } from "./sandbox_shop_pages.ts";
import { get, openShop } from "./shop_environment.ts";

/** A running site. */
export interface SandboxSite {
  readonly origin: string;
  /** Names of the pages; each is at `/{name}?lang={language}`. */
  readonly pages: readonly string[];
  readonly stop: () => Promise<void>;
}

/** The site, as it is right after each customer got to his page. */
export async function openSandboxSite(): Promise<SandboxSite> {
  const [banks, shop, ofShop] = await Promise.all([bankPages(), openShop(), shopPages()]);
  const pages: ReadonlyMap<string, Ask> = new Map([...banks.pages, ...ofShop]);
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: what the platform's double answers next is meant for one page. */
  const inTurn = (ask: Ask, language: string): Promise<Response> => {
    const answer = last.then(() => ask(language));
    last = answer.catch(() => {});
    return answer;
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const ask = pages.get(pathname.slice(1));
    if (ask !== undefined) return withoutCookies(await inTurn(ask, searchParams.get("lang") ?? "en"));
    return /^\/assets\/(shop|order)\./.test(pathname)
      ? await shop.fetch(get(pathname))
      : await banks.env.banks.fetch(new Request(request.url));
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    pages: [...pages.keys()],
    stop: async () => {
      await server.shutdown();
      await banks[Symbol.asyncDispose]();
    },
  };
}

/** All these customers share one browser. */
function withoutCookies(answer: Response): Response {
  answer.headers.delete("set-cookie");
  return answer;
}
