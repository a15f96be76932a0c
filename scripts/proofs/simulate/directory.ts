/** The participants directory as the platform sees it: key sets, the status list and the statements' keys. */
import { publicJwk } from "./jwts.ts";
import type { Outgoing } from "./outgoing.ts";
import { PARTIES, START, STATEMENT_KEY, statementOf } from "./parties.ts";

const known = new Map<string, Outgoing>();
const HOUR_MS = 3_600_000;

/** Returns the directory's answer at a path. Documents do not change; their entity tags change every hour. */
export function directoryAnswer(pathname: string, at: number, ifNoneMatch: string | null): Outgoing {
  const etag = `"${Math.floor(at / HOUR_MS)}"`;
  if (ifNoneMatch === etag) return { status: 304, body: "" };
  const answer = known.get(pathname) ?? documentAt(pathname);
  known.set(pathname, answer);
  return { ...answer, headers: { ...answer.headers, etag } };
}

function documentAt(pathname: string): Outgoing {
  if (pathname === "/jwks") return json({ keys: [jwk(STATEMENT_KEY, "sig")] });
  if (pathname === "/status") return json({ participants: PARTIES.map(entryOf) });
  const [, orgId, what] = /^\/participants\/([^/]+)\/(jwks|jwks\/revoked|statement)$/.exec(pathname) ?? [];
  const who = PARTIES.find((party) => party.orgId === orgId);
  if (who === undefined) return { status: 404, body: "" };
  if (what === "statement") return json({ software_statement: statementOf(who, START - 60_000) });
  if (what === "jwks/revoked") return json({ keys: [] });
  return json({ keys: [jwk(who.signing, "sig"), jwk(who.transport, "tls"), jwk(who.encryption, "enc")] });
}

function entryOf({ orgId, clientId }: { readonly orgId: string; readonly clientId: string }): object {
  return {
    org_id: orgId,
    org_status: "Active",
    software_client_id: clientId,
    software_client_status: "Active",
    version: 1,
    statement_issued_at: Math.floor(START / 1000) - 60,
  };
}

function jwk({ n, kid }: { readonly n: string; readonly kid: string }, use: string): object {
  return { ...publicJwk(n), kid, use };
}

function json(value: object): Outgoing {
  return { status: 200, body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}
