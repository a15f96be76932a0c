/** The first page of the portal: what this is, where everything is; or what a search found. */
import type { PlatformAddresses } from "./addresses.ts";
import type { ApiReference } from "./api_reference.ts";
import { CHAPTERS, DOCS_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";
import { factsOf, Prose } from "./schema_view.tsx";
import type { Finding } from "./search.ts";

/** The first page. */
export function renderOverview(reference: ApiReference, addresses: PlatformAddresses): string {
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
          {factsOf(CHAPTERS.slice(1).map(([path, title, about]) => [<a href={path}>{title}</a>, about]))}
        </section>
        <section class="card guide" aria-labelledby="addresses">
          <h2 id="addresses">Addresses</h2>
          {factsOf(addressesOf(reference, addresses).map(([name, url]) => [name, <code>{url}</code>]))}
        </section>
      </>
    ),
  });
}

/** What participants need to know of this platform. */
export function addressesOf(
  { servers }: ApiReference,
  { authUrl, directoryIssuer, registrationAudience }: PlatformAddresses,
): readonly (readonly [name: string, address: string])[] {
  return [
    ["Browser authorization host", authUrl],
    ...servers.map(({ url, description }) => [description ?? "API host", url] as const),
    ["Server metadata of a bank (discovery)", `${authUrl}/.well-known/oauth-authorization-server/{BANK}`],
    ["The platform’s public keys (JWKS)", `${authUrl}/jwks`],
    ["The API reference for machines (OpenAPI 3.1)", `${authUrl}/openapi.json`],
    ["Availability of each bank (service levels)", `${authUrl}/service-levels`],
    ["These pages as Markdown, for programs", `${authUrl}/llms.txt`],
    ["The participants directory, the iss of software statements", directoryIssuer],
    ["The list of banks and TPPs", `${directoryIssuer}/participants`],
    ["The authority of participants’ certificates", `${directoryIssuer}/ca.pem`],
    ["The tan of a payload signature", new URL(directoryIssuer).host],
    ["The aud of a registration request", registrationAudience],
  ];
}

/** The search results. */
export function renderFindings(query: string, findings: readonly Finding[]): string {
  return renderPortalPage({
    path: `${DOCS_PATH}?q`,
    title: "Search",
    lead: findings.length === 0 ? `Nothing was found for “${query}”.` : `The best places for “${query}”.`,
    contents: [],
    query,
    children: findings.length === 0 ? <p>Try other words.</p> : (
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
    ),
  });
}
