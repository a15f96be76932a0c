/** The report as a page of its own: one file, no scripts, no resources from elsewhere. It has the texts of the requirements. */
import { html, raw } from "hono/html";
import type { Report } from "./report.ts";
import style from "./report.css" with { type: "text" };
import { readRequirements } from "../../upkeep/requirements/contract.ts";
import { ROOT } from "../../upkeep/sources/source_files.ts";

/** The page as HTML. Its policy allows its own style sheet only. */
export async function reportPage({ subject, suite, cases, ...report }: Report): Promise<string> {
  const policy = `default-src 'none'; style-src 'sha256-${await sha256(
    style,
  )}'; base-uri 'none'; form-action 'none'`;
  const failed = cases.filter(({ passed }) => !passed).length;
  const verdict = report.passed ? "Passed" : "Failed";
  const title = `Certification of ${subject.org_id}: ${verdict.toLowerCase()}`;
  const texts = requirementTexts(cases.map(({ requirement }) => requirement));
  const known = new Set(texts.map(({ id }) => id));
  const linked = (requirement: string) =>
    piecesOf(requirement).map(([before, id]) =>
      html`${before}${known.has(id) ? html`<a href="#${id}">${id}</a>` : id}`
    );
  const rules = texts.map(({ id, page, text }) =>
    html`
      <dt id="${id}">${id}</dt>
      <dd>${text} <small>${page}</small></dd>
    `
  );
  const rows = cases.map(({ id, title, requirement, passed, seen }) =>
    html`
      <tr class="${passed ? "passed" : "failed"}">
        <th scope="row">${id}</th>
        <td>${passed ? "passed" : "failed"}</td>
        <td>${title}<p>${seen}</p></td>
        <td>${linked(requirement)}</td>
      </tr>
    `
  );
  return String(
    await html`
      <!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta http-equiv="content-security-policy" content="${policy}">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <meta name="color-scheme" content="light dark">
          <meta name="robots" content="noindex">
          <title>${title}</title>
          <style>${raw(style)}</style>
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            <dl>
              <dt>Participant</dt>
              <dd>${subject.org_id} (${subject.role}${subject.software_id === undefined
                ? ""
                : `, ${subject.software_id}`})</dd>
              <dt>Address</dt>
              <dd>${subject.address}</dd>
              <dt>Suite</dt>
              <dd>${suite.name} ${suite.version}${report.complete ? "" : ", some of its cases only"}</dd>
              <dt>Time</dt>
              <dd>${report.started_at} to ${report.ended_at}</dd>
              <dt>Result</dt>
              <dd>${verdict}: ${cases.length - failed} of ${cases.length} cases passed</dd>
            </dl>
            <table>
              <thead>
                <tr>
                  <th scope="col">Case</th>
                  <th scope="col">Result</th>
                  <th scope="col">Rule and what was seen</th>
                  <th scope="col">Requirement</th>
                </tr>
              </thead>
              <tbody>
      ${rows}</tbody>
            </table>
            <h2>Requirements</h2>
            <dl>
      ${rules}</dl>
          </main>
        </body>
      </html>
    `,
  );
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(hash).toBase64();
}

/** An id of docs/contract or docs/decisions, with the document that has it and its text. */
interface RequirementText {
  readonly id: string;
  readonly page: string;
  readonly text: string;
}

const ID = /(?<![\w-])(?:FAPI-)?[A-Z]{1,4}-?N?\d+(?![\w-])/g;

/** The ids in a requirement of a case, such as `BR11, BR12; Decision G1`, each with the text around it. */
export function piecesOf(requirement: string): readonly (readonly [before: string, id: string])[] {
  let at = 0;
  const named = [...requirement.matchAll(ID)].map(({ 0: id, index }) => {
    const before = requirement.slice(at, index);
    at = index + id.length;
    return [before, id] as const;
  });
  return [...named, [requirement.slice(at), ""]];
}

/** The texts of every id in these requirements, in the order of the documents. Ids of other documents have none. */
export function requirementTexts(requirements: readonly string[]): readonly RequirementText[] {
  const named = new Set(requirements.flatMap((each) => piecesOf(each).map(([, id]) => id)));
  return readRequirements().found.filter(({ id }) => named.has(id)).map(({ id, where }) => {
    const page = where.replace(/:\d+$/, "");
    const block = Deno.readTextFileSync(ROOT + page).split(`<a id="${id.toLowerCase()}"></a>`)[1] ?? "";
    const [text = ""] = block.split(/\n(?=- |#)/);
    const words = text.replaceAll(/\s+/g, " ").replaceAll(/\*\*|(?<!\w)_|_(?!\w)/g, "").trim();
    return { id, page, text: words.replace(RegExp(`^${id}:? `), "") };
  });
}
