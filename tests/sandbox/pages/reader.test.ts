/** The language of a sandbox page, and the path that its language switch leads to. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { bodyOf } from "testing/answers.ts";
import { type Reader, readerOf } from "../../../src/sandbox/pages/reader.ts";

Deno.test("A reader gets the language chosen, then the one remembered, then the browser's, then English", async () => {
  const app = new Hono();
  app.get("/*", (c) => c.json(readerOf(c, "language")));
  const ask = async (url: string, headers: HeadersInit = {}): Promise<[string, string | null]> => {
    const answer = await app.request(url, { headers });
    return [(await bodyOf<Reader>(answer)).language, answer.headers.get("set-cookie")];
  };
  const wanted = { "accept-language": "de, es-CO;q=0.8, fr;q=0.9, en;q=0.1" };
  assertEquals(await ask("/a", wanted), ["fr", null]);
  assertEquals(await ask("/a", { "accept-language": "fr;q=0, de" }), ["en", null]);
  assertEquals(await ask("/a"), ["en", null]);
  assertEquals(await ask("/a", { ...wanted, cookie: "language=ar" }), ["ar", null]);
  assertEquals(await ask("/a", { ...wanted, cookie: "language=tlh" }), ["fr", null]);
  assertEquals(await ask("/a?lang=tlh", wanted), ["fr", null]);
  const [language, cookie] = await ask("/a?lang=es", { ...wanted, cookie: "language=ar" });
  assertEquals([language, cookie], ["es", "language=es; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax"]);
});

Deno.test("The language switch stays on its own host, whatever path was asked for", async () => {
  const app = new Hono();
  app.get("/*", (c) => c.json(readerOf(c, "language").path));
  for (const path of ["//evil.example/", "///evil.example/a", "/\\\\evil.example"]) {
    const own = await bodyOf<string>(await app.request(`http://localhost${path}`));
    assertEquals(/^\/[^/]/.test(own), true, path);
  }
});
