/** The first page of the documentation: what this is, where everything is; or what a search found. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ApiReference } from "./api_reference.ts";
import { Prose } from "./schema_view.tsx";
import { CHAPTERS, DOCS_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";
import type { Finding } from "./search.ts";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["/docs/tpp", "A payment step by step, with requests to copy."],
  ["/docs/bank", "A customer’s visit, the back channel, payment orders."],
  ["/docs/signatures", "How every signature is computed, with worked examples."],
  ["/docs/errors", "Every rejection and what leads to it."],
  ["/docs/sandbox", "The whole ecosystem on your computer, and how to make it go wrong."],
  ["/docs/reference", "Every endpoint, generated from the running routes."],
]);

/** The facts that a participant needs before it registers. */
export interface DirectoryFacts {
  /** `iss` of software statements, and the directory's address. */
  readonly directoryIssuer: string;
  /** `aud` of registration requests. */
  readonly registrationAudience: string;
}

/** The first page. */
export function renderOverview(
  reference: ApiReference,
  authUrl: string,
  directory: DirectoryFacts,
): string {
  return renderPortalPage({
    path: DOCS_PATH,
    title: reference.title,
    lead: `Developer documentation, version ${reference.version}`,
    contents: [],
    children: (
      <>
        <section class="card guide" aria-labelledby="what">
          <h2 id="what">What it is</h2>
          <Prose text={reference.description} />
          <dl class="facts">
            {CHAPTERS.filter(([path]) => WORDS.has(path)).map(([path, title]) => (
              <div>
                <dt>
                  <a href={path}>{title}</a>
                </dt>
                <dd>{WORDS.get(path)}</dd>
              </div>
            ))}
          </dl>
        </section>
        <Addresses reference={reference} authUrl={authUrl} directory={directory} />
      </>
    ),
  });
}

function Addresses(
  { reference, authUrl, directory: { directoryIssuer, registrationAudience } }: {
    readonly reference: ApiReference;
    readonly authUrl: string;
    readonly directory: DirectoryFacts;
  },
): JSX.Element {
  const addresses = [
    ["Browser authorization host", authUrl],
    ...reference.servers.map(({ url, description }) => [description ?? "API host", url] as const),
    ["Server metadata of a bank", `${authUrl}/.well-known/oauth-authorization-server/{BANK}`],
    ["The platform’s public keys", `${authUrl}/jwks`],
    ["The API reference for machines (OpenAPI 3.1)", `${authUrl}/openapi.json`],
    ["The participants directory, the iss of software statements", directoryIssuer],
    ["The authority of participants’ certificates", `${directoryIssuer}/ca.pem`],
    ["The tan of a payload signature", new URL(directoryIssuer).host],
    ["The aud of a registration request", registrationAudience],
  ] as const;
  return (
    <section class="card guide" aria-labelledby="addresses">
      <h2 id="addresses">Addresses</h2>
      <dl class="facts">
        {addresses.map(([name, url]) => (
          <div>
            <dt>{name}</dt>
            <dd>
              <code>{url}</code>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The search results. */
export function renderFindings(query: string, findings: readonly Finding[]): string {
  const count = findings.length === 1 ? "1 place" : `${findings.length} places`;
  return renderPortalPage({
    path: `${DOCS_PATH}?q`,
    title: "Search",
    lead: findings.length === 0 ? `Nothing was found for “${query}”.` : `“${query}” is in ${count}.`,
    contents: [],
    query,
    children: findings.length === 0
      ? <p>Try fewer or shorter words: every word must be there, as the documentation writes it.</p>
      : <Findings findings={findings} />,
  });
}

function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  return (
    <ol class="findings">
      {findings.map(({ href, title, where, excerpt }) => (
        <li class="card">
          <h2>
            <a href={href}>{title}</a>
          </h2>
          <p class="scheme">{where}</p>
          <p>{excerpt}</p>
        </li>
      ))}
    </ol>
  );
}
