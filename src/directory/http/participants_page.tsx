/** The list of participants as an HTML page: one accessible table, without scripts and external resources. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { sha256Bytes } from "../../base/kernel/identifiers.ts";
import type { PublicParticipant } from "./participant_representation.ts";
import style from "./participants_page.css" with { type: "text" };

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
      `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'`,
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
        <title>Participants directory ({environment})</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <main>
          <h1>Participants directory</h1>
          <p>
            {environment} environment of <code>{issuer}</code>. Statements of this directory are signed with
            {" "}
            <a href="/jwks">these keys</a>; certificates are issued by <a href="/ca.pem">this authority</a>.
          </p>
          {participants.length === 0
            ? <p>Nobody has been onboarded yet.</p>
            : <List participants={participants} />}
        </main>
      </body>
    </html>
  );
}

function List({ participants }: Pick<DocumentProps, "participants">): JSX.Element {
  return (
    <div class="scroll" role="region" aria-labelledby="participants" tabindex={0}>
      <table>
        <caption id="participants">Participants: {participants.length}</caption>
        <thead>
          <tr>
            <th scope="col">Organisation</th>
            <th scope="col">Role</th>
            <th scope="col">Status</th>
            <th scope="col">Software</th>
            <th scope="col">Since</th>
            <th scope="col">Keys</th>
          </tr>
        </thead>
        <tbody>{participants.map((participant) => <Row key={participant.org_id} {...participant} />)}</tbody>
      </table>
    </div>
  );
}

const ROLE_NAME: Readonly<Record<string, string>> = { PISP: "Third party (PISP)", ASPSP: "Bank (ASPSP)" };

function Row(participant: PublicParticipant): JSX.Element {
  const { org_id, org_name, role, org_status, software_client_id, software_client_status, since } =
    participant;
  return (
    <tr>
      <th scope="row">
        {org_name}
        <br />
        <code>{org_id}</code>
      </th>
      <td>{ROLE_NAME[role] ?? role}</td>
      <td>{org_status}</td>
      <td>
        {software_client_status}
        <br />
        <code>{software_client_id}</code>
      </td>
      <td>
        <time datetime={since}>{since.slice(0, 10)}</time>
      </td>
      <td>
        <a href={`/participants/${org_id}/jwks`} aria-label={`Active keys of ${org_name}`}>active</a>{" "}
        <a href={`/participants/${org_id}/jwks/revoked`} aria-label={`Revoked keys of ${org_name}`}>
          revoked
        </a>
      </td>
    </tr>
  );
}
