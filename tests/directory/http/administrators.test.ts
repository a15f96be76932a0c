/** Administrators' requests: who may send them, what bodies are read, what is never logged. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { ADMIN_TOKEN, ISSUER, openDirectoryEnvironment, thirdParty } from "testing/directory_environment.ts";
import { onboarded } from "../changes/onboarded.ts";

const ADMIN_ROUTES = [
  ["POST", "/participants"],
  ["GET", "/participants/SHOP"],
  ["GET", "/participants/SHOP/history"],
  ["POST", "/participants/SHOP/statement"],
  ["POST", "/participants/SHOP/certificates"],
  ["POST", `/participants/SHOP/keys/${"A".repeat(27)}/revoke`],
  ["PUT", "/participants/SHOP/software/status"],
  ["PUT", "/participants/SHOP/status"],
  ["GET", "/restored"],
  ["POST", "/restored/confirm"],
] as const;

for (const [method, path] of ADMIN_ROUTES) {
  Deno.test(`${method} ${path} is for administrators alone [E3]`, async () => {
    await using env = await onboarded();
    for (
      const authorization of [
        undefined,
        "Bearer ",
        "Bearer wrong",
        `Bearer ${ADMIN_TOKEN}x`,
        `Basic ${ADMIN_TOKEN}`,
        `Bearer  ${ADMIN_TOKEN}`,
        `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
      ]
    ) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const request = new Request(`${ISSUER}${path}`, {
        method,
        headers,
        ...(method === "GET" ? {} : { body: "{}" }),
      });
      const answer = await env.fetch(request);
      assertEquals([answer.status, (await rejectionOf(answer)).error], [401, "invalid_token"], authorization);
      assertEquals(answer.headers.get("www-authenticate"), 'Bearer realm="directory"');
      assertEquals(answer.headers.get("cache-control"), "no-store");
    }
  });
}

Deno.test("the history names the credential's holder, whatever a header says [E3]", async () => {
  await using env = await onboarded();
  const body = { status: "Inactive", reason: "test" };
  const headers = { "x-operator": "luis", "x-forwarded-user": "luis" };
  assertEquals((await env.admin("PUT", "/participants/SHOP/software/status", body, headers)).status, 200);
  const history = (await env.admin("GET", "/participants/SHOP/history")).body.history;
  assertEquals(history.map(({ who }) => who), ["ana", "ana"]);
});

Deno.test("wrong tokens are slowed down, and right ones are not [E3]", async () => {
  const lines: string[] = [];
  const note = (event: string): void => void lines.push(event);
  await using env = await openDirectoryEnvironment({ log: { info: () => {}, warn: note, error: note } });
  const guess = async (token: string): Promise<[number, string | null]> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await env.fetch(new Request(`${ISSUER}/participants/SHOP`, { headers }));
    await answer.body?.cancel();
    return [answer.status, answer.headers.get("retry-after")];
  };
  for (let count = 0; count < 10; count++) assertEquals(await guess(`guess-${count}`), [401, null]);
  for (let count = 0; count < 200; count++) assertEquals((await guess(`dira-${count}.x`))[0], 429);
  assertEquals(await guess("one-more"), [429, "6"]);
  assertEquals((await env.admin("GET", "/participants/SHOP")).status, 404, "the right one goes on");
  assertEquals(lines.length, 10, "a flood does not fill the log");
  env.now += 6000;
  assertEquals((await guess("later"))[0], 401);
});

Deno.test("POST bodies are bounded, strict JSON [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const post = async (body: BodyInit, headers: Record<string, string>): Promise<[number, string]> => {
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    const request = new Request(`${ISSUER}/participants`, {
      method: "POST",
      body,
      headers: { authorization, ...headers },
    });
    const answer = await env.fetch(request);
    const { error_description } = await rejectionOf(answer);
    return [answer.status, error_description];
  };
  const json = { "content-type": "application/json" };
  assertEquals((await post("{}", { "content-type": "text/plain" }))[0], 415);
  assertEquals((await post("{}", { "content-type": "application/json; charset=latin1" }))[0], 415);
  assertEquals((await post("{}", { ...json, "content-encoding": "gzip" }))[0], 415);
  assertEquals((await post(`"${"x".repeat(65_536)}"`, json))[0], 413);
  assertEquals((await post(new Blob(["x".repeat(70_000)]).stream(), json))[0], 413);
  assertEquals(await post("{", json), [400, "body: is not one JSON value"]);
  assertEquals(await post("", json), [400, "body: is not one JSON value"]);
  assertEquals(await post('{"role":"PISP","role":"ASPSP"}', json), [400, "body: has a duplicate member"]);
  assertEquals(await post(new Uint8Array([0x22, 0xff, 0x22]), json), [400, "body: is not UTF-8"]);
  assertEquals(await post("[".repeat(40) + "]".repeat(40), json), [400, "body: is nested too deeply"]);
  assertEquals(await post("null", { "content-type": "Application/JSON; charset=UTF-8" }), [
    400,
    "body: must be an object",
  ]);
});

Deno.test("the log never has the administration token, contacts or keys [E3]", async () => {
  const lines: string[] = [];
  const note = (event: string, fields = {}): void => void lines.push(`${event} ${JSON.stringify(fields)}`);
  await using env = await openDirectoryEnvironment({ log: { info: note, warn: note, error: note } });
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  await env.admin("POST", "/participants", { contacts: [{ email: "secret@shop.example" }] });
  const log = lines.join("\n");
  assertStringIncludes(log, '"status":201');
  for (const secret of [ADMIN_TOKEN, "@shop.example", "BEGIN", "Pérez"]) {
    assert(!log.includes(secret), secret);
  }
});
