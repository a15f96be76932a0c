/** DIRECTORY_REQUIRE_CERTIFICATION: statements for participants with a passed report alone. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import type { CertificationTerms } from "../../../src/directory/certification/certification.ts";
import { openCertifiers } from "../../../src/directory/certification/certifiers.ts";
import type { Onboarded, Statement } from "testing/directory_answers.ts";
import type { Answer, DirectoryEnvironment } from "testing/directory_environment.ts";
import { certifierKeys, openCertified, type ReportChanges, reportOf } from "./certified.ts";

const DAY_MS = 86_400_000;
const FAILED = { passed: false, cases: [{ id: "TPP-H01", passed: false }] };

interface Certified extends AsyncDisposable {
  readonly env: DirectoryEnvironment;
  readonly onboarded: Onboarded;
  report(changes?: ReportChanges): Promise<void>;
  renew(): Promise<Answer<Statement>>;
}

async function open(terms: Partial<CertificationTerms> = {}): Promise<Certified> {
  const { env, onboarded } = await openCertified(terms);
  return {
    env,
    onboarded,
    async report(changes = {}) {
      const report = await reportOf(env, onboarded.software_client_id, changes);
      assertEquals((await env.admin("POST", "/participants/SHOP/certifications", { report })).status, 201);
    },
    renew: () => env.admin("POST", "/participants/SHOP/statement", {}),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

function assertMissing({ status, body }: Answer, words: string): void {
  assertEquals([status, body.error], [409, "conflict"]);
  assertStringIncludes(body.error_description, `A statement needs a passed certification report: ${words}`);
}

Deno.test("a directory that asks for no certification issues statements as before [DR10]", async () => {
  await using it = await open();
  assert(typeof it.onboarded.software_statement === "string");
  await it.report({ claims: FAILED });
  assertEquals((await it.renew()).status, 200);
});

Deno.test("a participant without a passed report is onboarded without a statement [DR10]", async () => {
  await using it = await open({ requiredDays: 30 });
  const { software_statement, ...onboarded } = it.onboarded;
  assertEquals(software_statement, undefined);
  assertEquals(onboarded.jwks.keys.length, 2);
  assertEquals((await it.env.get("/participants/SHOP/statement")).status, 404);
  assertEquals((await it.env.get("/status")).body.participants[0]?.statement_issued_at, 0);
  const { software } = (await it.env.admin("GET", "/participants/SHOP")).body;
  assertEquals(software.statement_issued_at, undefined);
  assertMissing(await it.renew(), "the participant has none.");
  await it.report();
  const { status, body } = await it.renew();
  assertEquals(status, 200);
  assertEquals(decodeJwt(body.software_statement)["org_id"], "SHOP");
  assertEquals((await it.env.get("/participants/SHOP/statement")).status, 200);
});

Deno.test("the newest report decides, also if an older one has passed [DR10]", async () => {
  await using it = await open({ requiredDays: 30 });
  await it.report();
  it.env.now += 1000;
  await it.report({ claims: FAILED });
  const iat = Math.floor(it.env.now / 1000);
  await it.report({ claims: { iat: iat - 10 } });
  assertMissing(await it.renew(), "its newest, tpp 1.0 of 2026-02-01T10:00:01.000Z, has not passed.");
  it.env.now += 1000;
  await it.report();
  assertEquals((await it.renew()).status, 200);
});

Deno.test("a report counts for the configured days [DR10]", async () => {
  await using it = await open({ requiredDays: 30 });
  await it.report();
  it.env.now += 30 * DAY_MS;
  assertEquals((await it.renew()).status, 200);
  it.env.now += 1;
  assertMissing(await it.renew(), "its newest, tpp 1.0 of 2026-02-01T10:00:00.000Z, is older than 30 days.");
  assertEquals((await it.env.get("/participants/SHOP/statement")).status, 200, "what was issued stays valid");
});

Deno.test("a report counts while the key of its certifier is configured [DR10]", async () => {
  const known = await openCertifiers(await certifierKeys());
  let isConfigured = true;
  const certifiers = { find: (kid: unknown) => isConfigured ? known.find(kid) : undefined };
  await using it = await open({ certifiers, requiredDays: 30 });
  await it.report();
  isConfigured = false;
  assertMissing(
    await it.renew(),
    "its newest, tpp 1.0 of 2026-02-01T10:00:00.000Z, has a certifier that is not configured any more.",
  );
  isConfigured = true;
  assertEquals((await it.renew()).status, 200);
});
