/** POST /participants/{org_id}/certifications: whose reports are kept, and what is kept of them. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { JSONWebKeySet } from "jose";
import { openCertifiers } from "../../../src/directory/certification/certifiers.ts";
import type { Certification } from "testing/directory_answers.ts";
import { type Answer, bank, type DirectoryEnvironment } from "testing/directory_environment.ts";
import { everything } from "testing/store_contents.ts";
import { stepsOf } from "support/steps.ts";
import { CERTIFIER, certifierKeys, openCertified, type ReportChanges, reportOf } from "./certified.ts";

const PATH = "/participants/SHOP/certifications";
const CASE = { id: "TPP-H01", requirement: "RP-N3", passed: true, seen: "a consent" };
const FAILED = { passed: false, cases: [CASE, { ...CASE, id: "TPP-H02", passed: false }] };

const post = (env: DirectoryEnvironment, report: unknown): Promise<Answer<Certification>> =>
  env.admin("POST", PATH, { report });

Deno.test("POST certifications keeps a report, its summary and a history entry [DR8, E5]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const report = await reportOf(env, onboarded.software_client_id, { claims: FAILED });
  const { status, body, headers } = await post(env, report);
  assertEquals([status, headers.get("cache-control")], [201, "no-store"]);
  const { certification_id, ...rest } = body;
  assertMatch(certification_id, /^[A-Za-z0-9_-]{43}$/);
  assertEquals(rest, {
    certifier: CERTIFIER,
    suite: "tpp 1.0",
    passed: false,
    cases: 2,
    failed: 1,
    issued_at: "2026-02-01T10:00:00.000Z",
    received_at: "2026-02-01T10:00:00.000Z",
  });
  assertEquals((await env.admin("GET", "/participants/SHOP")).body.certifications, [body]);
  assertEquals((await env.admin("GET", `${PATH}/${certification_id}`)).body, { ...body, report });
  const entry = (await env.admin("GET", "/participants/SHOP/history")).body.history.at(-1);
  assertEquals([entry?.who, entry?.what], ["ana", "certification.reported"]);
  assertEquals(entry?.details, {
    id: certification_id,
    suite: "tpp 1.0",
    passed: false,
    certifier: CERTIFIER,
  });
});

Deno.test("reports are for administrators alone [DR8]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const { body } = await post(env, await reportOf(env, onboarded.software_client_id));
  for (const path of ["/participants", "/status"]) {
    assert(!JSON.stringify((await env.get(path)).body).includes("certif"), path);
  }
  assertEquals((await env.get(`${PATH}/${body.certification_id}`)).status, 401);
  assertEquals((await env.admin("GET", `${PATH}/${"A".repeat(43)}`)).status, 404);
  assertEquals((await env.admin("POST", "/participants/NOBODY/certifications", { report: "x" })).status, 404);
});

Deno.test("POST certifications verifies a bank's report, which names no software [DR8]", async () => {
  const { env: opened } = await openCertified();
  await using env = opened;
  await env.admin("POST", "/participants", await bank([2, 3]));
  const claims = { sub: "BANKA", role: "ASPSP" };
  const send = async (software: string | undefined): Promise<Answer<Certification>> =>
    await env.admin("POST", "/participants/BANKA/certifications", {
      report: await reportOf(env, software, { claims }),
    });
  assertEquals((await send(undefined)).status, 201);
  assertStringIncludes((await send("SC-x")).body.error_description, "report software_id: must be absent");
});

const REJECTED: readonly (readonly [string, ReportChanges, string])[] = [
  ["another type", { header: { typ: "JWT" } }, "header typ"],
  ["no type", { header: { typ: undefined } }, "header typ"],
  ["a header member that changes the processing", { header: { b64: true } }, "header b64"],
  ["a key that is not configured", { header: { kid: "other" } }, "header kid"],
  ["no kid", { header: { kid: undefined } }, "header kid"],
  ["another key under the certifier's kid", { key: 12 }, "signature"],
  ["another certifier's address", { claims: { iss: "https://other.example" } }, "report iss"],
  ["another participant", { claims: { sub: "BANKA" } }, "report sub"],
  ["another spelling of the participant", { claims: { sub: "shop" } }, "report sub"],
  ["another role", { claims: { role: "ASPSP" } }, "report role"],
  [
    "other software",
    { claims: { software_id: "SC-00000000-0000-4000-8000-000000000000" } },
    "report software_id",
  ],
  ["no software", { claims: { software_id: undefined } }, "report software_id"],
  ["no jti", { claims: { jti: undefined } }, "report jti"],
  ["a jti that is too long", { claims: { jti: "x".repeat(129) } }, "report jti"],
  ["no iat", { claims: { iat: undefined } }, "iat"],
  ["an iat in the future", { claims: { iat: Date.UTC(2026, 1, 1, 10, 1) / 1000 } }, "iat"],
  ["an end that has passed", { claims: { exp: Date.UTC(2026, 0, 1) / 1000 } }, "exp"],
  ["a suite with control characters", { claims: { suite: "tpp\u202e1" } }, "report suite"],
  ["no cases", { claims: { cases: [] } }, "report cases"],
  ["too many cases", { claims: { cases: Array(501).fill({ id: "A", passed: true }) } }, "report cases"],
  ["a case without a result", { claims: { cases: [{ id: "TPP-H01" }] } }, "report cases.0.passed"],
  ["passed with a failed case", { claims: { ...FAILED, passed: true } }, "report passed"],
  ["failed without a failed case", { claims: { passed: false } }, "report passed"],
];

Deno.test("POST certifications rejects a report that its certifier has not made about this participant [DR8]", async (t) => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const before = await everything(env.store);
  await stepsOf(t, REJECTED, ([name]) => name, async ([, changes, words]) => {
    const report = await reportOf(env, onboarded.software_client_id, changes);
    const { status, body } = await post(env, report);
    assertEquals([status, body.error], [400, "invalid_request"]);
    assertStringIncludes(body.error_description, words);
    assertEquals(await everything(env.store), before);
  });
});

Deno.test("POST certifications verifies before it reads, and bounds what it reads [DR8]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const report = await reportOf(env, onboarded.software_client_id);
  const [header, , signature] = report.split(".");
  const notJson = `${header}.${btoa("{not json")}.${signature}`.replaceAll("=", "");
  assertStringIncludes((await post(env, notJson)).body.error_description, "report signature");
  for (const wrong of ["", "a.b", `${report}=`, 7]) {
    assertEquals((await post(env, wrong)).status, 400, String(wrong));
  }
  const seen = "x".repeat(60_001 * 3 / 4);
  const long = await reportOf(env, onboarded.software_client_id, { claims: { cases: [{ ...CASE, seen }] } });
  assertStringIncludes((await post(env, long)).body.error_description, "at most 60000 characters");
  const largest = await reportOf(env, onboarded.software_client_id, {
    claims: { cases: [{ ...CASE, seen: "x".repeat(44_200) }] },
  });
  assert(largest.length > 59_500 && largest.length <= 60_000, String(largest.length));
  assertEquals((await post(env, largest)).status, 201);
});

Deno.test("a repeated report changes nothing, and another one with its jti is rejected [DR9]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const claims = { jti: "one" };
  const report = await reportOf(env, onboarded.software_client_id, { claims });
  const first = await post(env, report);
  const before = await everything(env.store);
  env.now += 60_000;
  assertEquals((await post(env, report)).body, first.body);
  const other = await reportOf(env, onboarded.software_client_id, { claims });
  assertEquals((await post(env, other)).status, 409);
  assertEquals(await everything(env.store), before);
});

Deno.test("the ten newest reports are kept, by the time of the certifier [DR9]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const iat = Math.floor(env.now / 1000);
  const at = (age: number): Promise<string> =>
    reportOf(env, onboarded.software_client_id, { claims: { iat: iat - age, jti: `${age}` } });
  const oldest = (await post(env, await at(11))).body.certification_id;
  for (let age = 10; age > 1; age--) assertEquals((await post(env, await at(age))).status, 201);
  assertEquals((await post(env, await at(20))).status, 409, "older than all that are kept");
  assertEquals((await env.admin("GET", `${PATH}/${oldest}`)).status, 200);
  assertEquals((await post(env, await at(1))).status, 201);
  const { certifications } = (await env.admin("GET", "/participants/SHOP")).body;
  const ages = certifications.map((one) => iat - Date.parse(one.issued_at) / 1000);
  assertEquals(ages, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assertEquals((await env.admin("GET", `${PATH}/${oldest}`)).status, 404);
  const stored = JSON.parse(await everything(env.store).then((all) => JSON.stringify(all)));
  assertEquals(JSON.stringify(stored).split("certification_report").length - 1, 10);
});

Deno.test("simultaneous reports are all kept [DR9]", async () => {
  const { env: opened, onboarded } = await openCertified();
  await using env = opened;
  const reports = await Promise.all([1, 2, 3, 4].map(() => reportOf(env, onboarded.software_client_id)));
  const answers = await Promise.all([...reports, ...reports].map((report) => post(env, report)));
  assertEquals(answers.map(({ status }) => status), Array(8).fill(201));
  assertEquals((await env.admin("GET", "/participants/SHOP")).body.certifications.length, 4);
  assertEquals((await env.admin("GET", "/participants/SHOP/history")).body.history.length, 5);
});

Deno.test("openCertifiers rejects key sets that name no certifier, or one twice [E5]", async () => {
  const { keys: [jwk] } = JSON.parse(await certifierKeys()) as JSONWebKeySet;
  const unfit: readonly [string, string][] = [
    ["{", "is not JSON"],
    ['{"keys":[]}', "look at: keys"],
    [await certifierKeys({ iss: undefined }), "keys.0.iss"],
    [await certifierKeys({ iss: "certifier" }), "keys.0.iss"],
    [await certifierKeys({ kid: undefined }), "keys.0.kid"],
    [await certifierKeys({ use: "enc" }), "keys.0.use"],
    [await certifierKeys({ n: "AQAB" }), "jwk n"],
    [await certifierKeys({ d: "secret" }), "without private members"],
    [JSON.stringify({ keys: [jwk, jwk] }), "two keys with one kid"],
  ];
  for (const [json, words] of unfit) {
    const error = await assertRejects(() => openCertifiers(json), Error, words);
    assert(!error.message.includes("secret"));
  }
});
