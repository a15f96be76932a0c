/** The result of a certification as JSON and as a signed JWT that the directory can keep, and the certifier's keys. */
import { type OwnKey, signClaims } from "../../../src/base/jose/own_key.ts";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../../src/base/limits.ts";
import type { CaseResult, Subject } from "./case.ts";
import { openStatementKeys, type StatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { newStatementKey } from "../../operators/directory_keys/new_key.ts";
import { writeSecretFile } from "../../command_line/secret_file.ts";

/** The subject of a certification, and the result. */
export interface Report {
  readonly subject: Subject;
  readonly suite: { readonly name: string; readonly version: string };
  readonly started_at: string;
  readonly ended_at: string;
  /** Whether every case of the suite was run. Only then a report can be signed. */
  readonly complete: boolean;
  readonly passed: boolean;
  readonly cases: readonly CaseResult[];
}

/** The `typ` of a signed report. */
export const REPORT_TYPE = "certification-report+jwt";

/** Who certifies. */
export interface Certifier {
  /** Its address, the `iss`. */
  readonly issuer: string;
  readonly signer: OwnKey;
}

/** The report of these results. */
export function reportOf(
  { subject, suite: { name, version, cases } }: {
    readonly subject: Subject;
    readonly suite: { readonly name: string; readonly version: string; readonly cases: readonly unknown[] };
  },
  results: readonly CaseResult[],
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): Report {
  return {
    subject,
    suite: { name, version },
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    complete: results.length === cases.length,
    passed: results.length > 0 && results.every((result) => result.passed),
    cases: results,
  };
}

/**
 * The report as a compact JWS (PS256, `typ` `certification-report+jwt`).
 *
 * @throws {Error} if cases were left out, or the report is longer than a directory takes
 */
export async function signReport(report: Report, { issuer, signer }: Certifier): Promise<string> {
  if (!report.complete) throw new Error("A report that leaves cases out is not signed.");
  const { subject: { role, org_id, software_id }, suite, passed } = report;
  const claims = {
    iss: issuer,
    sub: org_id,
    iat: Math.floor(Date.parse(report.ended_at) / 1000),
    jti: crypto.randomUUID(),
    role,
    ...(software_id === undefined ? {} : { software_id }),
    suite: `${suite.name} ${suite.version}`,
    passed,
    cases: report.cases.map(({ id, requirement, passed, seen }) => ({ id, requirement, passed, seen })),
  };
  const token = await signClaims(claims, signer, REPORT_TYPE);
  if (token.length > MAX_CERTIFICATION_REPORT_CHARACTERS) {
    const most = MAX_CERTIFICATION_REPORT_CHARACTERS;
    throw new Error(`The signed report has ${token.length} characters; at most ${most} are allowed.`);
  }
  return token;
}

/**
 * Opens the key file, and makes it if it does not exist.
 *
 * @throws {Error} in one sentence if the file is not usable
 */
export async function openCertifierKeys(path: string, now: () => number): Promise<StatementKeys> {
  const json = await Deno.readTextFile(path).catch(async (error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw new Error(`The file ${path} cannot be read.`);
    const made = `${JSON.stringify({ keys: [await newStatementKey(2048)] }, undefined, 2)}\n`;
    await writeSecretFile(path, made, { replace: false });
    return made;
  });
  return await openStatementKeys(json, now).catch((error: Error) => {
    throw new Error(`The file ${path} ${error.message}.`);
  });
}

/** The public keys as a directory takes them in `DIRECTORY_CERTIFIERS`: each with the certifier's address as `iss`. */
export function certifierKeySet({ publicJwks }: StatementKeys, issuer: string): string {
  return JSON.stringify({ keys: publicJwks.keys.map((key) => ({ ...key, iss: issuer })) }, undefined, 2);
}
