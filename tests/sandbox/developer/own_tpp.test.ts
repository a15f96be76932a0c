/** The pages sign for a developer's own TPP: one that they made, and one that `participant onboard` made. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { tryPath } from "../../../src/sandbox/developer/operations.ts";
import { decodeEndpoints } from "../../../src/sandbox/shop/sandbox_endpoints.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";

const INDEX = "/developer/try";
const described = z.object({ client_id: z.string(), redirect_uris: z.array(z.string()) });

Deno.test("a TPP that a developer makes signs its own requests, in his session alone [SB12]", async () => {
  await using running = await openPooledSandbox();
  const { dir } = running;
  const { shop_url, auth_url } = decodeEndpoints(running.endpoints);
  const mine = openBrowser(shop_url);
  const other = openBrowser(shop_url);
  for (const name of ["Mine", "../mine", "shop", "bank-a"]) {
    assertStringIncludes(await mine.post(INDEX, { name, make: "yes" }), "Not sent", name);
  }
  const make = () => mine.post(INDEX, { name: "mine", make: "yes" });
  for (const made of await Promise.all([make(), make()])) assertStringIncludes(made, "Signs for mine"); // a double click
  const own = described.parse(
    JSON.parse(await Deno.readTextFile(`${dir}/participants/mine/participant.json`)),
  );
  assertEquals(own.redirect_uris[0], `${shop_url}/callback`);
  assertStringIncludes(await other.get(INDEX), "Signs for shop");

  const token = tryPath("BANKA", "issueAccessToken");
  const body = "grant_type=client_credentials\nscope=payments";
  const answered = await mine.post(token, { body });
  assertStringIncludes(answered, "200 OK");
  assertStringIncludes(answered, own.client_id);
  const trace = /\/docs\/traces\?id=[\w-]+/.exec(answered)?.[0] ?? "";
  assertStringIncludes(await (await fetch(auth_url + trace)).text(), own.client_id);
  const shops = await other.post(token, { body });
  assert(shops.includes("200 OK") && !shops.includes(own.client_id));
  const consent = tryPath("BANKA", "createDomesticPaymentConsent");
  const fields = { body: await mine.field(consent, "body"), key: crypto.randomUUID() };
  const asked = await mine.post(consent, { ...fields, token: "client_credentials" });
  assertStringIncludes(asked, "201 Created");
  assert((await mine.post(INDEX, { name: "shop" })).includes("Signs for shop"));
  const folder = `${dir}/participants/mine`;
  await Deno.copyFile(`${folder}/transport.key.pem`, `${folder}/signing.key.pem`);
  assertStringIncludes(await mine.post(INDEX, { name: "mine" }), "Signs for mine");
  const rejected = await mine.post(token, { body }); // and so is the request for its trace
  assertStringIncludes(rejected, "401 Unauthorized");
  assertStringIncludes(rejected, "/docs/traces?id=");
  await Deno.remove(`${folder}/transport.key.pem`);
  assertStringIncludes(await mine.post(INDEX, { name: "mine" }), "Not sent");
  assertStringIncludes(await mine.get(INDEX), "Signs for mine", "the former choice stays");
  assertStringIncludes(await mine.post(INDEX, { name: "shop" }), "Signs for shop");
  assertStringIncludes(await mine.post(INDEX, { name: "mine" }), "Not sent");
  assertStringIncludes(await mine.get(INDEX), "Signs for shop");
  assert(!(await mine.get(token)).includes(own.client_id), "the shop's page has the other TPP's answer");
});

/** A browser with cookies and the forms' tokens. */
function openBrowser(origin: string): {
  get(path: string): Promise<string>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<string>;
  field(path: string, name: string): Promise<string>;
} {
  let cookie = "";
  const get = async (path: string): Promise<string> => {
    const answer = await fetch(origin + path, { headers: { cookie } });
    cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return await answer.text();
  };
  return {
    get,
    async post(path, fields) {
      const csrf = /name="csrf" value="([^"]+)"/.exec(await get(path))?.[1] ?? "";
      const answer = await fetch(origin + path, {
        method: "POST",
        headers: { cookie, origin },
        body: new URLSearchParams({ csrf, ...fields }),
        redirect: "manual",
      });
      const text = await answer.text();
      return answer.status === 303 ? await get(answer.headers.get("location")?.split("#")[0] ?? "") : text;
    },
    async field(path, name) {
      const html = await get(path);
      const value = new RegExp(`name="${name}"[^>]*>\\n?([^<]*)<`).exec(html)?.[1] ?? "";
      return value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    },
  };
}
