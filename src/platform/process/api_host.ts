/** The API host, for programs with client certificates. */
import { apiHeaders } from "../../base/http/host_middleware.ts";
import { preciseClock } from "../../base/kernel/clock.ts";
import { type ConsentId, newConsentId } from "../../base/kernel/identifiers.ts";
import type { Reader } from "../../base/store/store.ts";
import { HOME_CELL } from "../config/cells.ts";
import { bankEventRoutes } from "../core/backchannel/bank_event_routes.ts";
import { paymentOrderRoutes } from "../core/backchannel/payment_order_routes.ts";
import { resultRoutes } from "../core/backchannel/result_routes.ts";
import { backchannelRoutes } from "../core/backchannel/routes.ts";
import { consentStatus } from "../core/consents/read_consent.ts";
import { consentRoutes } from "../core/consents/routes.ts";
import { disputeRoutes } from "../core/disputes/routes.ts";
import { openDeliveryLimit } from "../core/frontchannel/decryption_limit.ts";
import { oauthRoutes } from "../core/oauth/routes.ts";
import { firstPush } from "../core/payments/first_push.ts";
import { paymentRoutes } from "../core/payments/routes.ts";
import { receiptRoutes } from "../core/receipts/routes.ts";
import { registrationRoutes } from "../core/registration/routes.ts";
import { openLongPolls } from "../events/long_polls.ts";
import { eventRoutes } from "../events/routes.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import { traceRequests } from "../guards/http/trace_requests.ts";
import { idempotent } from "../guards/idempotency/idempotent.ts";
import { accessToken } from "../guards/security/access_token.ts";
import { clientCertificate } from "../guards/security/client_certificate.ts";
import { withoutRevoked } from "../guards/security/controls_store.ts";
import { commitReplayRecords } from "../guards/security/dpop_proof.ts";
import { answerSignature, payloadSignature } from "../guards/security/payload_signature.ts";
import { activeBank, type ResourceGuards } from "../guards/security/resource_guards.ts";
import { bankPath } from "../guards/security/standing.ts";
import { ownCaseRoutes } from "../operations/cases/case_routes.ts";
import { holdNewBank } from "../operations/recovery/hold_store.ts";
import { traceRoutes } from "../operations/traces/routes.ts";
import { traceOf } from "../operations/traces/trace.ts";
import { type Host, type HostMiddleware, hostMiddleware, openHost } from "./host.ts";
import type { SharedParts } from "./shared_parts.ts";

export function apiHost(shared: SharedParts): Host {
  const { clients, config, delivery, ownKeyRing, site } = shared;
  const guards = openGuards(shared);
  const deps = {
    ...config,
    ...shared,
    ...guards,
    guards,
    ...grantReads(shared),
    decrypters: ownKeyRing.decrypters,
    signer: ownKeyRing.signer,
    consentIds: consentIds(shared),
    idempotent: idempotent(shared.claims),
    deliveryLimit: openDeliveryLimit(shared.clock),
    awaitEvents: openLongPolls(shared),
    limitFunds: (id: ConsentId) => shared.limits.take("funds", id),
    firstPush: (order: Parameters<typeof firstPush>[1]) => firstPush(delivery, order),
    holdNewBank: holdNewBank(shared.store),
    findClient: clients.find,
    audience: config.registrationAudience,
    loopbackRedirects: site.sandbox,
  };
  return openHost({ ...deps, around: aroundApi(shared) }, [
    ...(config.cell === HOME_CELL ? registrationRoutes(deps) : []),
    ...oauthRoutes(deps),
    ...consentRoutes(deps),
    ...paymentRoutes(deps),
    ...receiptRoutes(deps),
    ...backchannelRoutes(deps),
    ...resultRoutes(deps),
    ...paymentOrderRoutes(deps),
    ...bankEventRoutes(deps),
    ...ownCaseRoutes(deps),
    ...disputeRoutes(deps),
    ...traceRoutes(deps),
    ...eventRoutes(deps),
  ], () => "oauth");
}

function aroundApi(shared: SharedParts): HostMiddleware {
  const { clock, config: { authUrl: issuer }, monotonic, ownKeyRing: { signer }, trustAnchor } = shared;
  return [
    ...hostMiddleware(shared, apiHeaders, shared, traced(shared)),
    answerSignature({ clock, monotonic, signer, issuer, trustAnchor }),
    commitReplayRecords(shared),
  ];
}

/** Records what participants and customers ask. No middleware if traces are switched off. */
export function traced({ clock, config, site, traceQueue }: SharedParts): HostMiddleware {
  if (config.traceDays === 0) return [];
  const record: Parameters<typeof traceRequests>[0]["record"] = (...known) =>
    traceQueue.add(traceOf(...known));
  return [traceRequests({ record, clock, elapsed: preciseClock, keepsJwts: site.sandbox })];
}

function openGuards(shared: SharedParts): ResourceGuards {
  const { clients, config, currentControls, rejectInOutage, standingOf, tokens } = shared;
  return {
    certificate: clientCertificate(shared.readCertificate),
    limit: shared.limits.guard,
    bank: bankPath(clients.findBank),
    token: accessToken({
      ...shared,
      baseUrl: config.baseUrl,
      findAccessToken: withoutRevoked(currentControls, tokens.find),
    }),
    active: activeBank(standingOf, rejectInOutage),
    payloadSignature: payloadSignature({ ...shared, requiredClaims: config.signatureClaims }),
  };
}

/** The data key of a new consent is stored before its id is used. */
function consentIds({ caseKeys }: SharedParts): Pick<CaseKeys, "newConsentId" | "takeBack"> {
  return caseKeys ?? { newConsentId: () => Promise.resolve(newConsentId()), takeBack: () => {} };
}

type Owner = Parameters<typeof consentStatus>[3];

/** What the grants ask of consents. */
function grantReads({ clock, consents }: SharedParts) {
  const isNow = (status: string) => async (from: Reader, id: ConsentId, owner: Owner): Promise<boolean> =>
    await consentStatus({ clock, consents }, from, id, owner) === status;
  return {
    isConsentAuthorized: isNow("Authorized"),
    awaitsAuthorisation: isNow("AwaitingAuthorisation"),
  };
}
