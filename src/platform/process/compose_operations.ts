/** Wires the operations host: what operators see and change, on a listener of its own. */
import type { EraseCaseDeps } from "../operations/cases/erase_case.ts";
import { openKeptTime } from "../operations/cases/kept_time.ts";
import { type Host, hostMiddleware, type OperationsDeps, operationsHost } from "./app.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { Person } from "../../base/http/bearer.ts";
import { operationsHeaders } from "../operations/console/console_headers.ts";
import { operatorsConsole } from "../operations/console/operators_console.ts";
import { consoleErrorPages } from "../../console/notice_page.tsx";
import { openSignInProvider, type SignInProvider } from "../../console/provider.ts";
import { openSeal } from "../../base/jose/seal.ts";
import { openSessions } from "../../console/session.ts";
import type { Log } from "../observed/log_events.ts";
import { openLogStore } from "../evidence/evidence_log/log_store.ts";
import { operationsDocument } from "./openapi.ts";
import { openNoticeSpreadStore } from "../events/notice_spread_store.ts";
import { outageNotice } from "../events/outage_notice.ts";
import { organisationsOf } from "../operations/participant_views/organisation_of.ts";
import { openPushNoteStore } from "../operations/health/push_note_store.ts";
import { openDisputeStore } from "../core/disputes/dispute_store.ts";
import { openUnsettledStore } from "../operations/unsettled/unsettled_store.ts";
import { openProcessStore } from "../operations/process_store.ts";
import { propose } from "../operations/proposals.ts";
import { fourEyesEndpoints, type ProposedChange } from "../guards/security/four_eyes.ts";
import { isHeldIn, openHoldStore } from "../operations/recovery/hold_store.ts";
import { certifiedKeys } from "../core/participants/participant_keys.ts";
import { statementEnd } from "../core/participants/software_statement.ts";
import { guardedFetch } from "../core/participants/guarded_fetch.ts";
import { openOidcOperators, personOf, withOidc } from "../guards/security/oidc_operators.ts";
import { byBearer, type OperatorGuardDeps } from "../guards/security/operation.ts";
import { openOperatorAudit, type OperatorAudit } from "../guards/security/operator_audit.ts";
import { openControlsStore } from "../guards/security/controls_store.ts";

export function composeOperations(
  parts: TimedParts,
  shared: Shared,
  log: Log,
  health: OperationsDeps["health"],
): Host {
  const { config, store, keys } = parts;
  const { consents, clients, participantKeys } = shared;
  const audit = openOperatorAudit(parts, openControlsStore());
  const host: Host = operationsHost({
    log,
    ...errorsOf(shared, log, audit),
    around: hostMiddleware({ ...parts, ...shared }, log, operationsHeaders, { admission: shared.admission }),
    health,
    guard: guardOf(parts, shared, log, audit),
    console: consoleParts(parts, shared, log, audit),
    operations: {
      ...shared.delivery, // payments, their outbox, and the calls to banks
      ...readings(shared, audit),
      consents,
      clients,
      log,
      ...operatorStores(parts),
      currentControls: shared.controls,
      hasOrganisation: shared.statuses.hasOrganisation,
      listedStanding: async (clientId) => (await shared.statuses.find(clientId))?.standing,
      keys: participantKeys,
      ownKeys: () => keys.publicJwks.keys,
      lanes: shared.admission.state,
      ownKeyRing: keys,
      signer: keys.signer,
      evidenceLog: openLogStore(store),
      ...erasureParts(parts),
      ...participantReads(shared),
      origin: { issuer: config.authUrl, cell: config.cell },
      openApi: () => operationsDocument(config, host.endpoints),
    },
  });
  return host;
}

/** Requests of operators have no traces, and their errors the console's frame. */
function errorsOf({ errors, site }: Shared, log: Log, { recordAttempt }: OperatorAudit): Shared["errors"] {
  const console = operatorsConsole(site, log, recordAttempt);
  return { ...errors, traceUri: undefined, drawErrorPage: consoleErrorPages(console) };
}

function operatorStores({ store, config: { authUrl, baseUrl } }: Pick<TimedParts, "store" | "config">): Pick<
  OperationsDeps["operations"],
  | "controls"
  | "stageOutageChange"
  | "holds"
  | "processes"
  | "pushNotes"
  | "unsettled"
  | "disputes"
  | "baseUrl"
> {
  const spreads = openNoticeSpreadStore(store);
  return {
    processes: openProcessStore(store),
    pushNotes: openPushNoteStore(store),
    unsettled: openUnsettledStore(store),
    disputes: openDisputeStore(store),
    baseUrl,
    controls: openControlsStore(),
    stageOutageChange: (tx, change) => spreads.stage(tx, outageNotice(authUrl, change)),
    holds: openHoldStore(store),
  };
}

function participantReads(
  { participantKeys }: Shared,
): Pick<OperationsDeps["operations"], "certifiedKeysOf" | "statementEnd"> {
  return {
    certifiedKeysOf: async (client) => certifiedKeys(await participantKeys.published(client)),
    statementEnd,
  };
}

function erasureParts(
  parts: TimedParts,
): Pick<EraseCaseDeps, "caseKeys" | "keepCasesMs" | "keptTime" | "isHeld"> {
  const { config, caseKeys, store } = parts;
  const keptTime = openKeptTime({ ...parts, evidenceLog: openLogStore(parts.store) });
  const isHeld = isHeldIn(openHoldStore(store));
  return { caseKeys, keepCasesMs: config.keepCasesDays * 86_400_000, keptTime, isHeld };
}

function readings(
  {
    traces,
    figures,
    figuresStore,
    funnel,
    listBanks,
    standingOf,
    events,
    subscriptions,
    eventCircuit,
    errors: { errorUri },
  }: Shared,
  audit: OperatorAudit,
): Pick<
  OperationsDeps["operations"],
  | "traces"
  | "figuresStore"
  | "funnel"
  | "lastPushes"
  | "listBanks"
  | "standingOf"
  | "events"
  | "subscriptions"
  | "eventCircuit"
  | "errorUri"
  | keyof OperatorAudit
> {
  const ofEvents = { events, subscriptions, eventCircuit };
  const lastPushes = { all: figures.lastPushes };
  return { traces, figuresStore, funnel, lastPushes, listBanks, standingOf, ...ofEvents, errorUri, ...audit };
}

function consoleParts(
  parts: TimedParts,
  { site }: Shared,
  log: Log,
  audit: OperatorAudit,
): OperationsDeps["console"] {
  const { config, clock, operators } = parts;
  const identify = operators?.identify;
  const sessions = openSessions({
    seal: openSeal(clock),
    clock,
    identify: identify ?? (() => Promise.resolve({})),
    secure: config.operationsUrl.startsWith("https:"),
    cookies: "console",
  });
  return {
    program: { ...operatorsConsole(site, log, audit.recordAttempt), sessions },
    clock,
    bearer: identify === undefined ? undefined : tokenReader({ identify, clock, log }),
    provider: signInProvider(parts, log),
  };
}

function signInProvider({ config, fetch, clock }: TimedParts, log: Log): SignInProvider | undefined {
  const { operationsUrl: consoleUrl, operatorsOidc: settings, environment } = config;
  if (settings?.client === undefined) return undefined;
  const { issuer, client } = settings;
  return openSignInProvider({
    issuer,
    personOf: (claims) => personOf(settings, claims),
    client,
    consoleUrl,
    fetch,
    clock,
    loopbackHttp: environment === "Sandbox",
    log: {
      unavailable: (why) => log.warn("operator.provider_unavailable", { issuer, why }),
      rejected: (why) => log.warn("operator.sign_in_rejected", { why }),
    },
  });
}

/** Tokens of the sign-in form have the limits of those in headers. */
function tokenReader(deps: Pick<OperatorGuardDeps, "identify" | "clock" | "log">): (
  token: string,
  interactionId: string,
) => Promise<Person> {
  const authenticate = byBearer(deps);
  return (token, interactionId) =>
    authenticate({ headers: new Headers({ authorization: `Bearer ${token}` }) }, interactionId);
}

/** Undefined without operators. */
function guardOf(
  parts: TimedParts,
  { clients, statuses: { softwareOf } }: Shared,
  log: Log,
  audit: OperatorAudit,
): OperatorGuardDeps | undefined {
  const { clock, operators, store } = parts;
  const people = withOidc(operators, oidcOperators(parts, log));
  if (people === undefined) return undefined;
  const organisationOf = organisationsOf({ store, clients, softwareOf });
  const proposing = { ...parts, log, ...operatorStores(parts), ...audit };
  const fourEyes = {
    endpoints: fourEyesEndpoints(parts.config.fourEyes),
    propose: (change: ProposedChange) => propose(proposing, change),
  };
  return { identify: people.identify, clock, log, ...audit, organisationOf, fourEyes };
}

function oidcOperators({ config, fetch, clock, steady }: TimedParts, log: Log): Credentials | undefined {
  const { operatorsOidc: settings, environment } = config;
  if (settings === undefined) return undefined;
  const allowedHosts = [new URL(settings.issuer).host];
  const fetchJson = guardedFetch({ fetch, allowedHosts, loopbackHttp: environment === "Sandbox" });
  return openOidcOperators({ settings, fetchJson, clock, steady, log });
}
