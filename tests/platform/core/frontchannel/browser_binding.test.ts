import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { Hono } from "hono";
import { openBrowserBinding } from "../../../../src/platform/core/frontchannel/browser_binding.ts";
import type { AuthorizationSession } from "../../../../src/platform/core/frontchannel/authorization_session.ts";

const ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

Deno.test("openBrowserBinding sets a __Host- cookie over https, and drops the prefix and Secure on plain http [F2] [AZ11]", async () => {
  assertEquals(await cookieOf(true), {
    name: `__Host-sca-${ID}`,
    attributes: ["HttpOnly", "Max-Age=87300", "Path=/", "SameSite=Lax", "Secure"],
  });
  assertEquals(await cookieOf(false), {
    name: `sca-${ID}`,
    attributes: ["HttpOnly", "Max-Age=87300", "Path=/", "SameSite=Lax"],
  });
});

Deno.test("openBrowserBinding knows the browser by its own cookie alone, on plain http too [AZ11] [BR9]", async () => {
  const binding = openBrowserBinding(false);
  const { secret, hash } = await binding.fresh();
  const held = async (cookie: string): Promise<string> => {
    const app = new Hono().get("/", async (c) => {
      const session = { correlationId: ID, bindingHash: hash } as AuthorizationSession;
      return c.text(String(await binding.asking(c).holds(session)));
    });
    return await (await app.request("/", { headers: { cookie } })).text();
  };
  assertEquals(await held(`sca-${ID}=${secret}`), "true");
  assertEquals(await held(`__Host-sca-${ID}=${secret}`), "false");
  assertEquals(await held(`sca-${ID}=${hash}`), "false");
  assertEquals(await held(`sca-${crypto.randomUUID()}=${secret}`), "false");
  assertEquals(await held(""), "false");
});

Deno.test("openBrowserBinding.fresh gives 256 random bits and their hash [FAPI-G7] [FAPI-G21]", async () => {
  const binding = openBrowserBinding(true);
  const [one, two] = [await binding.fresh(), await binding.fresh()];
  assertMatch(one.secret, /^[A-Za-z0-9_-]{43}$/);
  assertNotEquals(one.secret, two.secret);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(one.secret));
  const expected = new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
  assertEquals(one.hash, expected);
});

Deno.test("The form token of openBrowserBinding cannot be had without the cookie [AZ13]", async () => {
  const binding = openBrowserBinding(true);
  const tokenWith = async (cookie: string): Promise<string> => {
    const app = new Hono().get("/", async (c) => c.text(await binding.asking(c).formToken(ID)));
    return await (await app.request("https://x/", { headers: { cookie } })).text();
  };
  const own = `__Host-sca-${ID}=secret`;
  assertEquals(await tokenWith(own), await tokenWith(own));
  assertNotEquals(await tokenWith(own), await tokenWith(`__Host-sca-${ID}=other`));
  assertNotEquals(await tokenWith(""), await tokenWith(""));
});

async function cookieOf(secure: boolean): Promise<{ name: string; attributes: string[] }> {
  const binding = openBrowserBinding(secure);
  const app = new Hono().get("/", (c) => {
    binding.set(c, ID, "secret");
    return c.text("");
  });
  const [pair = "", ...attributes] = ((await app.request("/")).headers.get("set-cookie") ?? "").split("; ");
  const [name = "", value] = pair.split("=");
  assertEquals(value, "secret");
  return { name, attributes: attributes.toSorted() };
}
