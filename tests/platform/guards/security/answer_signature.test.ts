/** When an answer's signature is made anew [SG6]. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import type { NamedKey } from "../../../../src/base/jose/sealed_jwt.ts";
import type { RequestVariables } from "../../../../src/base/http/context.ts";
import { answerSignature } from "../../../../src/platform/guards/security/payload_signature.ts";
import { testKey } from "testing/keys.ts";

Deno.test("a signature is reused for the same body and key alone, whatever was requested, and for a minute [SG6]", async () => {
  let [signer, body, elapsed]: [NamedKey, string, number] = [await namedKey(0), "{}", 0];
  const app = new Hono<{ Variables: RequestVariables }>();
  app.use(async (c, next) => {
    c.set("surface", "resource");
    await next();
  });
  app.use(answerSignature({
    clock: Date.now,
    monotonic: () => elapsed,
    signer: {
      get kid() {
        return signer.kid;
      },
      get key() {
        return signer.key;
      },
    },
    issuer: "https://auth.example",
    trustAnchor: "directory.example",
  }));
  app.all("*", (c) => c.body(body, 200, { "content-type": "application/json" }));
  const seen = new Set<string>();
  const isNew = async (path = "/one", method = "GET"): Promise<boolean> => {
    const response = await app.request(path, { method });
    const before = seen.size;
    return seen.add(response.headers.get("x-jws-signature") ?? "").size > before;
  };
  assertEquals([await isNew(), await isNew()], [true, false]);
  assertEquals([await isNew("/two"), await isNew("/one", "POST")], [false, false]);
  body = `{"a":1}`;
  assertEquals([await isNew(), await isNew()], [true, false]);
  signer = await namedKey(1);
  assertEquals([await isNew(), await isNew()], [true, false]);
  elapsed = 59_999;
  assertEquals(await isNew(), false);
  elapsed = 60_000;
  assertEquals([await isNew(), await isNew()], [true, false]);
});

async function namedKey(slot: number): Promise<NamedKey> {
  return { kid: `key-${slot}`, key: await (await testKey(slot)).privateKey("sign") };
}
