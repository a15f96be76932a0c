import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import { bank, openDirectoryEnvironment, software, thirdParty } from "testing/directory_environment.ts";

Deno.test("POST /participants in production takes no loopback and no addresses in place of names [E1]", async () => {
  await using env = await openDirectoryEnvironment({ environment: "Production", loopbackRedirects: false });
  for (
    const address of [
      "http://localhost:8444/callback",
      "https://localhost/",
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://[::1]/",
      "https://intranet/",
    ]
  ) {
    const request = await thirdParty(
      [0, 1],
      withSoftware({ environment: "Production", redirect_uris: [address] }),
    );
    const { status, body } = await env.admin("POST", "/participants", request);
    assertEquals(status, 400, address);
    assertStringIncludes(body.error_description, "software.redirect_uris.0: must ");
  }
});

Deno.test("POST /participants rejects an org_id that is taken in any case [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  assertEquals((await env.admin("POST", "/participants", await bank([0, 1]))).status, 201);
  const again = await env.admin("POST", "/participants", await bank([2, 3], { org_id: "bankA" }));
  assertEquals([again.status, again.body.error], [409, "conflict"]);
  assertStringIncludes(again.body.error_description, "org_id");
  assertEquals((await env.get("/participants/bankA/jwks")).status, 404);
});

Deno.test("POST /participants gives one org_id to one of two that ask at the same time [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const answers = await Promise.all([
    env.admin("POST", "/participants", await bank([0, 1])),
    env.admin("POST", "/participants", await bank([2, 3])),
  ]);
  assertEquals(answers.map(({ status }) => status).sort(), [201, 409]);
  assertEquals((await env.get("/participants")).body.length, 1);
});

function withSoftware(changes: JsonObject): JsonObject {
  return { software: { ...software(), ...changes } };
}
