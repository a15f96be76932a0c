/** The report as a page of its own: one file, no scripts, no resources from elsewhere. */
import { html, raw } from "hono/html";
import type { Report } from "./report.ts";
import { piecesOf, requirementTexts } from "./requirement_texts.ts";
import style from "./report.css" with { type: "text" };

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
