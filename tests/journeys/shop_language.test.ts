/** The language of the shop follows its customer to the bank's pages [F1]. */
import { assertEquals } from "@std/assert";
import { Cookies } from "testing/cookies.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";

Deno.test("a customer who chose French in the shop meets the bank in French, whatever the browser prefers [F1]", async () => {
  await using sandbox = await openPooledSandbox();
  const { endpoints } = sandbox;
  const cookies = new Cookies([["shop_language", "fr"]]);
  const visit = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = { "accept-language": "es", cookie: cookies.header() };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    cookies.keep(answer.headers);
    return answer;
  };
  const goods = await (await visit(endpoints.shop_url)).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(goods)?.[1] ?? "";
  const body = new URLSearchParams({ item: "lunch", bank: "BANKA", account: "", csrf });
  let answer = await visit(`${endpoints.shop_url}/checkout`, { method: "POST", body });
  for (let hop = 0; answer.status === 303 && hop < 5; hop++) {
    await answer.body?.cancel();
    answer = await visit(new URL(answer.headers.get("location") ?? "", answer.url));
  }
  assertEquals([answer.status, new URL(answer.url).pathname.split("/").slice(1, 3)], [200, [
    "BANKA",
    "sca",
  ]]);
  assertEquals(/<html lang="([a-z]+)"/.exec(await answer.text())?.[1], "fr");
  const chosen = await visit(`${answer.url}?lang=ar`);
  assertEquals(/<html lang="([a-z]+)"/.exec(await chosen.text())?.[1], "ar", "a choice on the page wins");
  const kept = await visit(answer.url);
  assertEquals(/<html lang="([a-z]+)"/.exec(await kept.text())?.[1], "ar", "and stays");
});
