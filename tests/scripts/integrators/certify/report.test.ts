/** The core of `deno task certify`: results, limits of what is shown, the page, and the signed report. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import * as jose from "jose";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../../../src/base/limits.ts";
import { openCertifiers } from "../../../../src/directory/certification/certifiers.ts";
import { openDirectoryEnvironment, thirdParty } from "testing/directory_environment.ts";
import {
  boundedWords,
  type Case,
  failed,
  MAX_SEEN,
  passed,
  runCases,
} from "../../../../scripts/integrators/certify/case.ts";
import { certify, readOptions } from "../../../../scripts/integrators/certify/main.ts";
import {
  certifierKeySet,
  openCertifierKeys,
  type Report,
  reportOf,
  signReport,
} from "../../../../scripts/integrators/certify/report.ts";
import {
  piecesOf,
  reportPage,
  requirementTexts,
} from "../../../../scripts/integrators/certify/report_page.ts";
import { BANK_CASES } from "../../../../scripts/integrators/certify/bank/suite.ts";
import { TPP_SUITE } from "../../../../scripts/integrators/certify/tpp/suite.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const subject = { role: "ASPSP", org_id: "BANKC", address: "https://bank.example/sca" } as const;
const times = { startedAt: Date.UTC(2026, 0, 1), endedAt: Date.UTC(2026, 0, 2) };

function caseOf(id: string, run: Case<string>["run"], seconds = 5): Case<string> {
  return { id, title: `rule ${id}`, requirement: "HO3", seconds, run };
}

const good = caseOf("X-1", (bench) => Promise.resolve(passed(`${bench} answered`)));
const bad = caseOf("X-2", () => Promise.resolve(failed("it answered <b>200</b>")));
const thrown = caseOf("X-3", () => Promise.reject(new Error("connection refused")));
const hanging = caseOf("X-4", () => new Promise(() => {}), 0.05);

function suiteOf(cases: readonly Case<string>[]): Parameters<typeof certify<string>>[0] {
  const open = () => Promise.resolve({ bench: "the bank", subject, close: () => Promise.resolve() });
  return { name: "bank", version: "1", usage: "  --x Y", options: ["x"], cases, open };
}

Deno.test("a case passes only if it says so: an error and a case that takes too long have failed", async () => {
  const told: string[] = [];
  const results = await runCases([good, bad, thrown, hanging], "the bank", ({ id }) => void told.push(id));
  assertEquals(results.map(({ id, passed, seen }) => [id, passed, seen]), [
    ["X-1", true, "the bank answered"],
    ["X-2", false, "it answered <b>200</b>"],
    ["X-3", false, "connection refused"],
    ["X-4", false, "no result after 0.05 s"],
  ]);
  assertEquals(told, ["X-1", "X-2", "X-3", "X-4"]);
});

Deno.test("a case that takes too long does not work on into the next one", async () => {
  let isAtWork = false;
  const overdue = caseOf("X-5", async () => {
    isAtWork = true;
    await new Promise((resolve) => setTimeout(resolve, 60));
    isAtWork = false;
    return passed("at last");
  }, 0.05);
  const next = caseOf("X-6", () => Promise.resolve(isAtWork ? failed("disturbed") : passed("alone")));
  const results = await runCases([overdue, next], "the bank");
  assertEquals(results.map(({ seen }) => seen), ["no result after 0.05 s", "alone"]);
});

Deno.test("what a case saw is one short line without tokens", () => {
  const token = `${"e".repeat(60)}.${"f".repeat(80)}.${"g".repeat(200)}`;
  const jwe = `${"e".repeat(60)}..${"f".repeat(16)}.${"g".repeat(200)}.x`;
  assertEquals(
    boundedWords(`sent\n\t${token}\u0007 and oAuthUrl=${jwe}`),
    "sent (token) and oAuthUrl=(token)",
  );
  assertEquals(boundedWords(`Bearer ${"a".repeat(43)}`), "Bearer (token)");
  const id = crypto.randomUUID();
  assertEquals(
    boundedWords(`consent ${id} at https://bank.example/sca`),
    `consent ${id} at https://bank.example/sca`,
  );
  assertEquals(boundedWords("word ".repeat(100)).length, MAX_SEEN);
});

Deno.test("a report passes only if it has cases and all of them passed", () => {
  const passes = (outcomes: readonly boolean[]): boolean => {
    const results = outcomes.map((passed, index) => ({
      id: `X-${index}`,
      title: "",
      requirement: "",
      passed,
      seen: "",
      milliseconds: 1,
    }));
    return reportOf({ subject, suite: suiteOf([]) }, results, times).passed;
  };
  assertEquals([passes([true, true]), passes([true, false]), passes([])], [true, false, false]);
});

Deno.test("the signed report has the claims that a directory stores, and verifies with the printed key set", async () => {
  await using dir = await openTemporaryFolder();
  const keys = await openCertifierKeys(`${dir.path}/keys.json`, Date.now);
  const again = await openCertifierKeys(`${dir.path}/keys.json`, Date.now);
  assertEquals(again.publicJwks, keys.publicJwks);
  assertEquals(((await Deno.stat(`${dir.path}/keys.json`)).mode ?? 0) & 0o777, 0o600);
  const results = await runCases([good, bad], "the bank");
  const report = reportOf({ subject, suite: suiteOf([good, bad]) }, results, times);
  const token = await signReport(report, { issuer: "https://certifier.example", signer: keys.signer });
  const keySet = jose.createLocalJWKSet(JSON.parse(JSON.stringify(keys.publicJwks)) as jose.JSONWebKeySet);
  const { payload, protectedHeader } = await jose.jwtVerify(token, keySet, {
    typ: "certification-report+jwt",
  });
  assertEquals([protectedHeader.alg, protectedHeader.kid], ["PS256", keys.signer.kid]);
  const { jti, ...claims } = payload;
  assertMatch(String(jti), /^[0-9a-f-]{36}$/);
  assertEquals(claims, {
    iss: "https://certifier.example",
    sub: "BANKC",
    iat: times.endedAt / 1000,
    role: "ASPSP",
    suite: "bank 1",
    passed: false,
    cases: [
      { id: "X-1", requirement: "HO3", passed: true, seen: "the bank answered" },
      { id: "X-2", requirement: "HO3", passed: false, seen: "it answered <b>200</b>" },
    ],
  });
});

Deno.test("a directory with the printed key set records the signed report", async () => {
  const dir = await Deno.makeTempDir();
  const issuer = "https://certifier.example";
  const keys = await openCertifierKeys(`${dir}/keys.json`, Date.now);
  const certifiers = await openCertifiers(certifierKeySet(keys, issuer));
  await using env = await openDirectoryEnvironment({ certification: { certifiers } });
  const { body: { org_id, software_client_id } } = await env.admin(
    "POST",
    "/participants",
    await thirdParty([0, 1]),
  );
  const tpp = { role: "PISP", org_id, software_id: software_client_id, address: "a folder" } as const;
  const results = await runCases([good, bad], "the TPP");
  const ended = { startedAt: env.now, endedAt: env.now };
  const report = reportOf({ subject: tpp, suite: suiteOf([good, bad]) }, results, ended);
  const token = await signReport(report, { issuer, signer: keys.signer });
  const recorded = await env.admin("POST", `/participants/${org_id}/certifications`, { report: token });
  const { certifier, suite, passed, cases, failed } = recorded.body;
  assertEquals([recorded.status, certifier, suite, passed, cases, failed], [
    201,
    issuer,
    "bank 1",
    false,
    2,
    1,
  ]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a report that leaves cases out, or is too long, is not signed", async () => {
  await using dir = await openTemporaryFolder();
  const { signer } = await openCertifierKeys(`${dir.path}/keys.json`, Date.now);
  const sign = async (run: readonly Case<string>[], all: readonly Case<string>[]): Promise<string> =>
    await signReport(reportOf({ subject, suite: suiteOf(all) }, await runCases(run, "it"), times), {
      issuer: "https://certifier.example",
      signer,
    });
  await assertRejects(() => sign([good], [good, bad]), Error, "leaves cases out");
  const wordy = caseOf("X-9", () => Promise.resolve(passed("word ".repeat(100))));
  const many = Array.from({ length: 100 }, () => wordy);
  assert((await sign(many, many)).length < MAX_CERTIFICATION_REPORT_CHARACTERS);
  const more = Array.from({ length: 300 }, () => wordy);
  await assertRejects(() => sign(more, more), Error, "at most 60000");
});

Deno.test("the page of a report shows what was seen as text, has no script, and allows its own style alone", async () => {
  const results = await runCases([good, bad], "the bank");
  const page = await reportPage(reportOf({ subject, suite: suiteOf([good, bad]) }, results, times));
  assertMatch(page, /<title>Certification of BANKC: failed<\/title>/);
  assert(page.includes("it answered &lt;b&gt;200&lt;/b&gt;") && !page.includes("<script"), page);
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)))
    .toBase64();
  assert(page.includes(`default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;`), page);
});

Deno.test("the page of a report links each requirement to its text, which the page has", async () => {
  const named = { ...good, requirement: "BR11, BR-N14; Decision G1; RFC 8725 §3.12" };
  const page = await reportPage(
    reportOf({ subject, suite: suiteOf([named]) }, await runCases([named], ""), times),
  );
  for (
    const [id, text] of [["BR11", "success"], ["BR-N14", "Failure: redirect"], ["G1", "No customer is str"]]
  ) {
    assert(page.includes(`<a href="#${id}">${id}</a>`), id);
    assertMatch(page, RegExp(`<dt id="${id}">${id}</dt>\\s*<dd>[^<]*${text}`), id);
  }
  assert(page.includes("</a>; RFC 8725 §3.12</td>"), page);
});

Deno.test("every id that a case of a bank or a TPP names is linked in the report", () => {
  const all = [...BANK_CASES, ...TPP_SUITE.cases].map(({ requirement }) => requirement);
  const known = new Set(requirementTexts(all).map(({ id }) => id));
  const named = all.flatMap((requirement) => piecesOf(requirement).map(([, id]) => id)).filter((id) =>
    id !== ""
  );
  assert(named.length > 60, `${named.length} ids`);
  assertEquals(named.filter((id) => !known.has(id)), []);
});

Deno.test("certify writes page, JSON and JWT, says what failed, and passes only if every case does", async () => {
  await using dir = await openTemporaryFolder();
  const common = ["--out", `${dir.path}/out`, "--keys", `${dir.path}/keys.json`];
  const lines: string[] = [];
  const files = async (): Promise<string[]> =>
    (await Array.fromAsync(Deno.readDir(`${dir.path}/out`))).map(({ name }) => name).sort();
  assertEquals(await certify(suiteOf([good, bad]), common, (line) => void lines.push(line)), false);
  assertEquals(lines, [
    "passed  X-1       rule X-1",
    "FAILED  X-2       rule X-2\n        it answered <b>200</b>",
    `1 of 2 cases passed. The report is in ${dir.path}/out.`,
  ]);
  assertEquals(await files(), ["report.html", "report.json", "report.jwt"]);
  const only = [...common, "--case", "X-1", "--json"];
  const printed: string[] = [];
  assertEquals(await certify(suiteOf([good, bad]), only, (line) => void printed.push(line)), true);
  const { complete, passed, cases } = JSON.parse(printed.join("\n")) as Report;
  assertEquals([complete, passed, cases.length, printed.length], [false, true, 1, 1]);
  assertEquals(await files(), ["report.html", "report.json"]); // the former signed report is gone
});

Deno.test("certify rejects unknown options, cases and issuers before anything is started", () => {
  const suite = { options: ["folder"], cases: [{ id: "X-1" }] };
  const wrong = (args: readonly string[]): string => {
    try {
      readOptions(args, suite);
      return "taken";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  assertMatch(wrong(["--fodler", "x"]), /--fodler/);
  assertMatch(wrong(["--case", "X-1,X-7"]), /no case X-7/);
  assertMatch(wrong(["--issuer", "certifier"]), /--issuer must be a URL/);
  assertEquals(readOptions(["--folder", "x"], suite)?.own, { folder: "x" });
  assertEquals(readOptions(["--help"], suite), undefined);
});
