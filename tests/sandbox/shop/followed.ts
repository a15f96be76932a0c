/** A page of the shop that is followed to its end. */
import { assertEquals } from "@std/assert";
import { get, type ShopEnvironment } from "support/shop_environment.ts";

export async function follow(env: ShopEnvironment, response: Response, cookie: string): Promise<string> {
  assertEquals(response.status, 303);
  return await (await env.fetch(get(response.headers.get("location") ?? "", cookie))).text();
}
