/** Which sessions a sign-out at the provider ends. */
import { assertEquals } from "@std/assert";
import { type Context, Hono } from "hono";
import { openSessions, type SignedIn } from "../../src/console/session.ts";
import { openSeal } from "../../src/base/jose/seal.ts";

Deno.test("a sign-out ends the sessions of its sid, and those of its person of which no sid is known [OP27]", async () => {
  const clock = (): number => 1000;
  const identify = (): Promise<object> => Promise.resolve({});
  const sessions = openSessions({
    seal: openSeal(clock),
    clock,
    identify,
    secure: false,
    cookies: "console",
  });
  const app = new Hono().get("/:sub/:sid?", async (c: Context) => {
    const { sub = "", sid } = c.req.param() as Readonly<Record<string, string>>;
    const person: SignedIn = {
      kind: "provider",
      name: sub,
      roles: [],
      sub,
      ...(sid === undefined ? {} : { sid }),
    };
    await sessions.start(c, person);
    return c.text("");
  }).get("/", async (c) => c.text((await sessions.find(c))?.person.name ?? "none"));
  const cookies: string[] = [];
  for (const path of ["/ana/one", "/ana/two", "/ana", "/ben"]) {
    cookies.push((await app.request(path)).headers.getSetCookie()[0]?.split(";")[0] ?? "");
  }
  const left = (): Promise<string[]> =>
    Promise.all(
      cookies.map(async (cookie) => await (await app.request("/", { headers: { cookie } })).text()),
    );
  assertEquals(await left(), ["ana", "ana", "ana", "ben"]);
  sessions.endAt({ sub: "ana", sid: "one" });
  assertEquals(await left(), ["none", "ana", "none", "ben"]);
  sessions.endAt({ sub: "ana" });
  assertEquals(await left(), ["none", "none", "none", "ben"]);
});
