/**
 * Dynamic client registration: a software statement of the directory in a registration JWT of the participant.
 * One registration per software; a newer statement updates it, an older or equal one is refused (Decision B6).
 */
import type { Clock } from "../kernel/clock.ts";
import { unixSeconds } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import { readCompactJws, unverifiedClaims, type UnverifiedJws, verifyClaims } from "../jose/compact_jws.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import {
  type SoftwareStatement,
  type SoftwareStatementDeps,
  verifySoftwareStatement,
} from "../participants/software_statement.ts";
import { EXPIRY_SKEW_SECONDS, MAX_REGISTRATION_JWT_CHARACTERS } from "../profile.ts";
import { idPart, spentJwtKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { begin, commit, type Markers } from "../store/transaction.ts";
import { bankCodeOf, clientFrom, type Registration } from "./client.ts";
import type { ClientStore, Standing } from "./client_store.ts";
import { readRegistration } from "./registration_jwt.ts";

/** What registration needs. */
export interface RegisterClientDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly statements: SoftwareStatementDeps;
  readonly audience: string;
  readonly loopbackRedirects: boolean;
}

/** A registration as it came in. */
export interface RegisterClient {
  readonly jwt: string;
  readonly spkiThumbprint: string;
  readonly markers: Markers;
}

/** Registers or updates. @throws {Refusal} `registration.*`, `certificate.not_participants`, `platform.unavailable` */
export async function registerClient(
  deps: RegisterClientDeps,
  command: RegisterClient,
): Promise<Registration> {
  const now = deps.clock();
  const outer = readCompactJws(command.jwt, { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] });
  if (!outer.ok) throw invalid(outer.why);
  const statement = await verifySoftwareStatement(
    deps.statements,
    carriedStatement(outer.value),
    unixSeconds(now),
  );
  const request = await verifiedRequest(deps, outer.value, statement, unixSeconds(now));
  if (!await deps.keys.ownsTransportKey(statement, command.spkiThumbprint)) {
    throw new Refusal("certificate.not_participants", "certificate of another participant");
  }
  command.markers.pending.push({
    key: spentJwtKey("registration", statement.clientId, await idPart(request.jti)),
    expiresAt: Math.ceil(request.expiresAt + EXPIRY_SKEW_SECONDS) * 1000,
    refusal: "registration.invalid_client_metadata",
  });
  const former = await deps.clients.readStanding(statement.clientId, bankCodeOf(statement));
  refuseRollback(statement, former);
  const registeredAt = former.client?.value.registeredAt ?? now;
  const client = clientFrom(statement, request, { registeredAt, updatedAt: now });
  const tx = begin(command.markers);
  const registration = { client, softwareStatement: statement.text };
  deps.clients.stageRegistration(tx, registration, former);
  if (await commit(deps.store, deps.clock, tx)) return registration;
  throw invalidStatement("a parallel registration of the same software came first");
}

function carriedStatement(outer: UnverifiedJws): string {
  const claims = unverifiedClaims(outer);
  if (!claims.ok) throw invalid(claims.why);
  const statement = claims.value["software_statement"];
  if (typeof statement === "string") return statement;
  // A JWT of another kind has no business here; a registration without a statement lacks its statement.
  throw Object.hasOwn(claims.value, "redirect_uris")
    ? invalidStatement("none")
    : invalid("no registration JWT");
}

async function verifiedRequest(
  deps: RegisterClientDeps,
  outer: UnverifiedJws,
  statement: SoftwareStatement,
  now: number,
): Promise<ReturnType<typeof readRegistration>> {
  const kid = outer.header["kid"];
  const key = typeof kid === "string" ? await deps.keys.signingKey(statement, kid) : undefined;
  if (key === undefined) throw invalid("kid is no current signing key of the participant");
  const claims = await verifyClaims(outer, key);
  if (!claims.ok) throw invalid(claims.why);
  return readRegistration(claims.value, statement, {
    audience: deps.audience,
    loopbackRedirects: deps.loopbackRedirects,
    now,
  });
}

function refuseRollback(statement: SoftwareStatement, { client, bank }: Standing): void {
  if (client !== null && client.value.orgId !== statement.orgId) {
    throw invalidStatement("software of another organisation");
  }
  if (client !== null && client.value.role !== statement.role) {
    throw invalidStatement("software of another role");
  }
  if (client !== null && statement.issuedAt <= client.value.statementIssuedAt) {
    throw invalidStatement("not newer");
  }
  if (bank !== null && bank.value.clientId !== statement.clientId) {
    throw invalidStatement("the bank code is taken");
  }
}

function invalid(why: string): Refusal {
  return new Refusal("registration.invalid_client_metadata", why);
}

function invalidStatement(why: string): Refusal {
  return new Refusal("registration.invalid_software_statement", why);
}
