/** The rights of a participant's people at the directory's console. They end with the organisation. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import type { DirectoryHistory, KeySet } from "testing/directory_answers.ts";
import { firstOf } from "testing/answers.ts";
import { formTokenIn, type Page } from "testing/console_browser.ts";
import { bank, type DirectoryEnvironment, signingRequest } from "testing/directory_environment.ts";
import { everything } from "testing/store_contents.ts";
import { stepsOf } from "support/steps.ts";
import { mayCall } from "../../../src/directory/console/people.ts";
import { onboarded } from "../changes/onboarded.ts";
import { browserOf, issue, signedIn, signIn } from "./visited.ts";

const OWN = "/console/own";
const REASON = "The participant has asked for it.";

/** What the store has beside the history of what people attempt. */
const besideAttempts = async (env: DirectoryEnvironment): Promise<readonly unknown[]> =>
  (await everything(env.store)).filter(({ key: [, record, subject] }) =>
    record !== "people_head" && subject !== "@people"
  );

const history = async (env: DirectoryEnvironment): Promise<DirectoryHistory["history"]> =>
  (await env.admin("GET", "/participants/SHOP/history")).body.history;

Deno.test("an administrator issues a login in the console, whose token is shown once [DRC4, E7]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const at = "/console/participants/SHOP/logins";
  const form_token = formTokenIn((await browser.get(at)).html);
  const issueIt = (): Promise<Page> => browser.post(at, { form_token, login_name: "luis" });
  const made = await issueIt();
  assertEquals([made.status, made.headers.get("cache-control")], [200, "no-store"]);
  const token = /id="token"[^>]*>([^<]+)</.exec(made.html)?.[1] ?? "";
  assertMatch(token, /^part-SHOP-[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/);
  const secret = token.split(".")[1] ?? "";
  assert(!JSON.stringify(await everything(env.store)).includes(secret), "the store has a hash alone");
  const { html } = await browser.get("/console/participants/SHOP");
  assert(html.includes("<bdi>luis</bdi>") && !html.includes(secret));
  assertEquals((await issueIt()).html, made.html, "the answer to the same form, sent twice");
  env.now += 10_000;
  assertEquals((await issueIt()).status, 409, "one login a name, whose token is not shown again");
  assertEquals((await browser.submit(at, { login_name: "Luis Gómez" })).status, 400);
  const { who, what, details } = firstOf((await history(env)).slice(-1));
  assertEquals([who, what, details.name], ["ana", "login.issued", "luis"]);
  const person = await signIn(env, token);
  assertEquals((await person.get("/console")).headers.get("location"), OWN);
});

Deno.test("a participant's person sends requests, revokes a key and downloads the files [DRC5, E7]", async () => {
  await using env = await onboarded();
  const person = await signIn(env, (await issue(env)).token);
  const added = await person.submit(`${OWN}/certificates`, { csr_signing: await signingRequest(4) });
  assertEquals([added.status, added.headers.get("location")], [303, `${OWN}?done=certificates`]);
  const { keys, software_client_id } = (await env.admin("GET", "/participants/SHOP")).body;
  const signing = keys.find(({ use }) => use === "sig");
  const revoked = await person.submit(`${OWN}/keys/${signing?.kid}/revoke`, { reason: REASON });
  assertEquals(revoked.status, 303);
  env.now += 60_000;
  assertEquals((await person.submit(`${OWN}/statement`)).status, 303);
  const entries = (await history(env)).slice(-3);
  assertEquals(entries.map(({ who, what }) => [who, what]), [
    ["SHOP/luis", "certificates.issued"],
    ["SHOP/luis", "key.revoked"],
    ["SHOP/luis", "statement.issued"],
  ]);
  const { html } = await person.get(OWN);
  assertStringIncludes(html, "Shop Limited");
  for (const words of ["History", "Issue a login", "Set the status", "Onboard"]) {
    assert(!html.includes(words), words);
  }
  const statement = await person.get(`${OWN}/files/statement`);
  assertEquals(decodeJwt(statement.html)["iat"], env.now / 1000);
  assertEquals(
    statement.headers.get("content-disposition"),
    `attachment; filename="${software_client_id}.jks"`,
  );
  const jwks = JSON.parse((await person.get(`${OWN}/files/keys`)).html) as KeySet;
  assertEquals(jwks.keys.length, 2);
  const description = JSON.parse((await person.get(`${OWN}/files/description`)).html);
  const kidOf = (use: string): string => jwks.keys.find((key) => key.use === use)?.kid ?? "";
  assertEquals(description, {
    name: "shop",
    org_id: "SHOP",
    org_name: "Shop Limited",
    role: "PISP",
    software_client_id,
    client_id: software_client_id,
    redirect_uris: ["https://shop.example/callback", "http://localhost:8444/callback"],
    signing_kid: kidOf("sig"),
    transport_kid: kidOf("tls"),
  });
  const certificate = await person.get(`${OWN}/files/certificates/${kidOf("sig")}`);
  assertMatch(certificate.html, /^-----BEGIN CERTIFICATE-----\n/);
});

Deno.test("a participant that was onboarded without keys gets them from its own people [DRC5, E7]", async () => {
  await using env = await onboarded();
  const { csrs: _, ...details } = await bank([2, 3]);
  const { status, body } = await env.admin("POST", "/participants", details);
  assertEquals([status, body.jwks, body.certificates], [201, { keys: [] }, {}]);
  const person = await signIn(env, (await issue(env, "ana", "BANKA")).token);
  const sent = { csr_signing: await signingRequest(4), csr_transport: await signingRequest(5) };
  assertEquals((await person.submit(`${OWN}/certificates`, sent)).status, 303);
  assertEquals((await env.get("/participants/BANKA/jwks")).body.keys.length, 2);
});

const FOREIGN = [
  ["get", "/console"],
  ["get", "/console/onboard"],
  ["get", "/console/participants/SHOP"],
  ["get", "/console/participants/BANKA"],
  ["get", "/console/participants/BANKA/files/description"],
  ["post", "/console/onboard"],
  ["post", "/console/participants/SHOP/status"],
  ["post", "/console/participants/SHOP/logins"],
  ["post", "/console/participants/SHOP/statement"],
  ["post", "/console/participants/BANKA/certificates"],
  ["post", "/console/restored/confirm"],
] as const;

Deno.test("a participant's person reaches no other participant and no change of administrators [DRC5]", async (t) => {
  await using env = await onboarded();
  await env.admin("POST", "/participants", await bank([2, 3]));
  const { token } = await issue(env);
  const { keys } = (await env.admin("GET", "/participants/BANKA")).body;
  const person = await signIn(env, token);
  const { html } = await person.get(`${OWN}/statement`);
  const form_token = [...html.matchAll(/name="form_token" value="([^"]+)"/g)].at(-1)?.[1] ?? "";
  const csr = await signingRequest(4);
  const fields = { form_token, status: "Suspended", reason: REASON, login_name: "eve", csr_signing: csr };
  const before = await besideAttempts(env);
  await stepsOf(t, FOREIGN, ([method, path]) => `${method} ${path}`, async ([method, path]) => {
    const page = method === "get" ? await person.get(path) : await person.post(path, fields);
    assertEquals(page.status, path === "/console" ? 303 : 403);
  });
  await t.step("a key of another participant", async () => {
    const foreign = await person.post(`${OWN}/keys/${keys[0]?.kid}/revoke`, { form_token, reason: REASON });
    assertEquals(foreign.status, 404);
    assertEquals((await person.get(`${OWN}/files/certificates/${keys[0]?.kid}`)).status, 404);
  });
  await t.step("the administrators' endpoints", async () => {
    for (const path of ["/participants/SHOP", "/participants/SHOP/history"]) {
      const answer = await env.admin("GET", path, undefined, { authorization: `Bearer ${token}` });
      assertEquals(answer.status, 401);
    }
  });
  await t.step("an administrator has no own organisation", async () => {
    assertEquals((await (await signedIn(env)).get(OWN)).status, 403);
  });
  assertEquals(await besideAttempts(env), before);
});

Deno.test("a login ends with its revocation and after 90 days, for its sessions too [DRC4]", async () => {
  await using env = await onboarded();
  const first = await issue(env);
  const person = await signIn(env, first.token);
  assertEquals((await person.get(OWN)).status, 200);
  const admin = await signedIn(env);
  const revoke = `/console/participants/SHOP/logins/${first.login_id}/revoke`;
  assertEquals((await admin.submit(revoke, { reason: REASON })).status, 303);
  assertEquals((await person.get(OWN)).status, 303);
  assertEquals((await browserOf(env).submit("/console/sign-in", { token: first.token })).status, 403);
  const second = await issue(env);
  env.now += 90 * 86_400_000 - 1;
  assertEquals((await (await signIn(env, second.token)).get(OWN)).status, 200);
  env.now += 1;
  assertEquals((await browserOf(env).submit("/console/sign-in", { token: second.token })).status, 403);
  const { logins } = (await env.admin("GET", "/participants/SHOP")).body;
  assertEquals(logins.map(({ status }) => status), ["Expired", "Revoked"]);
});

Deno.test("people of a participant that is not active only revoke keys, and of a withdrawn one do nothing [DRC4, DRC5, E7]", async () => {
  await using env = await onboarded();
  const { token } = await issue(env);
  const person = await signIn(env, token);
  const { kid } = firstOf((await env.admin("GET", "/participants/SHOP")).body.keys);
  const set = async (path: string, status: string): Promise<void> =>
    assertEquals(
      (await env.admin("PUT", `/participants/SHOP${path}`, { status, reason: "audit" })).status,
      200,
    );
  const csr = { csr_signing: await signingRequest(4) };
  const rejected = async (): Promise<void> => {
    const before = await everything(env.store);
    for (const [path, sent] of [["certificates", csr], ["statement", {}]] as const) {
      const page = await person.submit(`${OWN}/${path}`, sent);
      assertEquals(page.status, 409, path);
      assertStringIncludes(page.html, "The participant and its software must be Active.");
    }
    assertEquals(await everything(env.store), before);
  };
  await set("/software/status", "Inactive");
  await rejected();
  await set("/status", "Suspended");
  await rejected();
  assertEquals((await person.submit(`${OWN}/keys/${kid}/revoke`, { reason: REASON })).status, 303);
  const csrs = { signing: csr.csr_signing };
  assertEquals((await env.admin("POST", "/participants/SHOP/certificates", { csrs })).status, 201);
  await set("/status", "Withdrawn");
  for (const path of [OWN, `${OWN}/files/statement`, `${OWN}/files/certificates/${kid}`]) {
    assertEquals((await person.get(path)).status, 303, path);
  }
  assertEquals((await browserOf(env).submit("/console/sign-in", { token })).status, 403);
});

Deno.test("wrong tokens of logins sign nobody in and are slowed down [DRC4]", async () => {
  await using env = await onboarded();
  const { token } = await issue(env);
  const wrong = [
    `${token}x`,
    token.replace("SHOP", "shop"),
    token.replace("SHOP", "BANKA"),
    token.toUpperCase(),
  ];
  for (const one of wrong) {
    assertEquals((await browserOf(env).submit("/console/sign-in", { token: one })).status, 403, one);
  }
  const guess = `${token.slice(0, -43)}${"A".repeat(43)}`;
  const statuses: number[] = [];
  for (let count = 0; count < 12; count++) {
    statuses.push((await browserOf(env).submit("/console/sign-in", { token: guess })).status);
  }
  assertEquals(statuses, [...Array(10).fill(403), 429, 429]);
  assertEquals((await (await signIn(env, token)).get(OWN)).status, 200);
});

Deno.test("a participant has a bounded number of logins, and none once it is withdrawn [DRC4]", async () => {
  await using env = await onboarded();
  for (let count = 0; count < 20; count++) await issue(env, `person-${count}`);
  assertEquals((await env.admin("POST", "/participants/SHOP/logins", { name: "more" })).status, 409);
  env.now += 91 * 86_400_000;
  for (let count = 0; count < 20; count++) await issue(env, `person-${count}`);
  env.now += 91 * 86_400_000;
  await issue(env);
  const { logins } = (await env.admin("GET", "/participants/SHOP")).body;
  assertEquals(logins.length, 21, "one in force, and 20 that have ended");
  await env.admin("PUT", "/participants/SHOP/status", { status: "Withdrawn", reason: "audit" });
  assertEquals((await env.admin("POST", "/participants/SHOP/logins", { name: "more" })).status, 409);
});

Deno.test("the console's way to the administrators' endpoints is bounded by the person's organisation [DRC5]", async (t) => {
  const person = { name: "SHOP/luis", roles: ["participant"], organisation: "SHOP" };
  const kid = "A".repeat(27);
  const own = ["GET ", "POST /certificates", "POST /statement", `POST /keys/${kid}/revoke`];
  const others = [
    "GET /history",
    "POST ",
    "PUT /status",
    "POST /status",
    "POST /logins",
    "POST /certifications",
    "POST /keys/x/revoke",
  ];
  const may = (call: string, orgId: string): boolean => {
    const [method = "", rest = ""] = call.split(" ");
    return mayCall(person, { method, url: `http://api.invalid/participants/${orgId}${rest}` });
  };
  await stepsOf(t, own, (call) => call, (call) => {
    assert(may(call, "SHOP"));
    for (const orgId of ["BANKA", "SHOP2", "shop", "SHOP/../BANKA", "SHOP%2F..%2FBANKA"]) {
      assert(!may(call, orgId), orgId);
    }
  });
  await stepsOf(t, others, (call) => call, (call) => assert(!may(call, "SHOP")));
});
