/** Composes the directory's console: sessions, sign-in, and its way to the administrators' endpoints (Decision E6). */
import { openBearer, type Person } from "../../base/http/bearer.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { openSeal } from "../../base/jose/seal.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { CallApi } from "../../console/program.ts";
import { type ConsoleClient, openSignInProvider, type SignInProvider } from "../../console/provider.ts";
import { openSessions } from "../../console/session.ts";
import type { Directory } from "../changes/directory.ts";
import type { RecordAttempt } from "../changes/record_attempt.ts";
import { asOrgId, type OrgId } from "../participants/identifiers.ts";
import { identifyLogin, isLoginToken, type Login } from "../participants/login.ts";
import type { Participant } from "../participants/participant.ts";
import { findParticipant } from "../participants/participant_store.ts";
import { requireConfirmed } from "../http/publishing.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { consoleRoutes } from "./console_routes.tsx";
import { directoryConsole } from "./directory_console.ts";
import { asAdministrator, type PersonClaims, personOf } from "./people.ts";

/** The settings of the console. */
export interface ConsoleSettings {
  /** The origin that administrators' browsers open. */
  readonly url: string;
  /** The OpenID provider where they sign in, if any. */
  readonly provider?: ProviderSettings | undefined;
}

export interface ProviderSettings extends PersonClaims {
  readonly client: ConsoleClient;
}

export interface ConsoleDeps {
  readonly directory: Directory;
  readonly administrators: Credentials;
  readonly settings: ConsoleSettings;
  readonly fetch: typeof fetch;
  readonly log: DirectoryLog;
  readonly recordAttempt: RecordAttempt;
  /** Calls the administrators' endpoints as a person whom the console has authenticated. */
  readonly call: CallApi;
}

export function consoleEndpoints(deps: ConsoleDeps): readonly Endpoint[] {
  const { directory, administrators, settings, log, call, recordAttempt } = deps;
  const { clock, terms: { environment } } = directory;
  const find = async (orgId: OrgId): Promise<readonly Login[]> => {
    const participant = await participantOf(directory, orgId);
    return participant?.status === "Withdrawn" ? [] : participant?.logins ?? [];
  };
  // People of a provider have no login that ends with their participant.
  const admits = async ({ organisation }: Person): Promise<boolean> => {
    const orgId = asOrgId(organisation);
    return orgId === undefined || (await participantOf(directory, orgId))?.status !== "Withdrawn";
  };
  const identify = async (token: string): ReturnType<Credentials["identify"]> =>
    isLoginToken(token)
      ? await identifyLogin(token, find, clock())
      : asAdministrator(await administrators.identify(token));
  const sessions = openSessions({
    seal: openSeal(clock),
    clock,
    identify,
    admits,
    secure: settings.url.startsWith("https:"),
    cookies: "directory",
  });
  return consoleRoutes({
    directory,
    program: { ...directoryConsole(environment, log, recordAttempt), sessions, call, clock },
    bearer: tokenReader({ identify, clock, log }),
    provider: signInProvider(deps),
  });
}

/**
 * Returns the participant whose people ask for a session. A restored copy may lack the end of their logins or of the
 * participant (contract DRC7).
 *
 * @throws {ApiError} `platform.unavailable` while the directory is restored and not confirmed
 */
async function participantOf({ store, restored }: Directory, orgId: OrgId): Promise<Participant | undefined> {
  await requireConfirmed(restored);
  return (await findParticipant(store, orgId))?.value;
}

/** Tokens of the sign-in form have limits like those in headers. */
function tokenReader(
  { identify, clock, log }: {
    readonly identify: Credentials["identify"];
    readonly clock: Clock;
    readonly log: DirectoryLog;
  },
): (token: string, number: string) => Promise<Person> {
  const bearer = openBearer({ identify, clock, unauthorized: "directory.unauthorized" });
  return (token, requestId) =>
    bearer(
      `Bearer ${token}`,
      (credential) => log.warn("directory.wrong_credential", { requestId, credential }),
    );
}

function signInProvider(
  { settings: { provider, url }, directory, fetch, log }: ConsoleDeps,
): SignInProvider | undefined {
  if (provider === undefined) return undefined;
  const { issuer, client } = provider;
  return openSignInProvider({
    issuer,
    personOf: (claims) => personOf(provider, claims),
    client,
    consoleUrl: url,
    fetch,
    clock: directory.clock,
    loopbackHttp: directory.terms.environment === "Sandbox",
    log: {
      unavailable: (why) => log.warn("directory.provider_unavailable", { issuer, why }),
      rejected: (why) => log.warn("directory.sign_in_rejected", { why }),
    },
  });
}
