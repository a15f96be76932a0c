/** The list of participants as an HTML page: one accessible table, without scripts and external resources. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { sha256Bytes } from "../../base/kernel/identifiers.ts";
import { formatDay } from "../../pages/formats.ts";
import type { PublicParticipant } from "./participant_representation.ts";
import { CONSOLE_STYLE as style } from "../../console/assets.ts";
import { NamedTable, State } from "../../console/parts.tsx";

/** A page and its content security policy. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** Renders the page. */
export async function participantsPage(
  directory: { readonly issuer: string; readonly environment: string },
  participants: readonly PublicParticipant[],
): Promise<Page> {
  const styleHash = (await sha256Bytes(new TextEncoder().encode(style))).toBase64();
  const page = (
    <Document issuer={directory.issuer} environment={directory.environment} participants={participants} />
  );
  return {
    html: `<!doctype html>${await page.toString()}`,
    contentSecurityPolicy:
      `default-src 'none'; style-src 'sha256-${styleHash}'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
  };
}

interface DocumentProps {
  readonly issuer: string;
  readonly environment: string;
  readonly participants: readonly PublicParticipant[];
}

function Document({ issuer, environment, participants }: DocumentProps): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Participants directory ({environment})</title>
        <meta name="description" content="Banks and third parties of this directory, with their keys." />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body class="console">
        <main>
          <h1>Participants directory</h1>
          <p class="lead">
            {environment} environment of <code>{issuer}</code>. Statements of this directory are signed with
            {" "}
            <a href="/jwks">these keys</a>; certificates are issued by <a href="/ca.pem">this authority</a>.
          </p>
          {ROLES.map(([role, title]) => (
            <List
              title={title}
              participants={participants.filter((one) => one.role === role)}
            />
          ))}
        </main>
      </body>
    </html>
  );
}

const ROLES = [["ASPSP", "Banks"], ["PISP", "Third parties"]] as const;

function List(
  { title, participants }: Pick<DocumentProps, "participants"> & { readonly title: string },
): JSX.Element {
  const sorted = participants.toSorted((one, other) => one.org_name.localeCompare(other.org_name, "en"));
  return (
    <section class="card">
      <h2>{title}: {participants.length}</h2>
      {participants.length === 0 ? <p>Nobody has been onboarded yet.</p> : (
        <NamedTable
          name={title}
          heads={["Organisation", "Status", "Software", "Since", "Keys"]}
          rows={sorted.map(cellsOf)}
        />
      )}
    </section>
  );
}

function cellsOf(participant: PublicParticipant): readonly JSX.Element[] {
  const { org_id, org_name, org_status, software_client_id, software_client_status, since } = participant;
  return [
    <>
      {org_name}
      <code class="detail">{org_id}</code>
    </>,
    <Status status={org_status} />,
    <>
      <Status status={software_client_status} />
      <code class="detail">{software_client_id}</code>
    </>,
    <time datetime={since}>{formatDay("en", Date.parse(since))}</time>,
    <>
      <a href={`/participants/${org_id}/jwks`} aria-label={`Active keys of ${org_name}`}>active</a>{" "}
      <a href={`/participants/${org_id}/jwks/revoked`} aria-label={`Revoked keys of ${org_name}`}>revoked</a>
    </>,
  ];
}

function Status({ status }: { readonly status: string }): JSX.Element {
  return <State is={status === "Active" ? "good" : "bad"} words={status} />;
}
