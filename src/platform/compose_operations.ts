/** Wires the operations host: what operators see and change, on a listener of its own. */
import { type Host, type OperationsDeps, operationsHost } from "./app.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import { nameRequest } from "../base/http/interaction_id.ts";
import { requestLog } from "../base/http/request_log.ts";
import { apiHeaders } from "../base/http/response_headers.ts";
import { preciseClock } from "../base/kernel/clock.ts";
import type { Credentials } from "../base/http/credentials.ts";
import type { Log } from "../base/observability/log.ts";
import { openLogStore } from "./evidence_log/log_store.ts";
import { operationsDocument } from "./openapi.ts";
import { openHoldStore } from "./recovery/hold_store.ts";
import { requestMetrics } from "./security/request_metrics.ts";
import { openOperatorAudit } from "./security/operator_audit.ts";
import { openControlsStore } from "./security/controls_store.ts";
import { admit } from "./security/admit.ts";

export function composeOperations(
  parts: TimedParts,
  shared: Shared,
  log: Log,
  health: OperationsDeps["health"],
): Host {
  const { config, store, keys, operators } = parts;
  const { consents, clients, participantKeys } = shared;
  const host: Host = operationsHost({
    log,
    ...shared.errors,
    around: [
      nameRequest(store),
      apiHeaders,
      requestMetrics({ metrics: parts.metrics, elapsed: preciseClock }),
      requestLog({ log, steady: parts.steady }),
      admit({ admission: shared.admission }),
    ],
    health,
    guard: operators === undefined ? undefined : guardOf(operators, parts, log),
    operations: {
      ...shared.delivery, // payments, their outbox, and the calls to banks
      consents,
      clients,
      log,
      controls: openControlsStore(),
      currentControls: shared.controls,
      hasOrganisation: shared.statuses.hasOrganisation,
      keys: participantKeys,
      ownKeys: () => keys.publicJwks.keys,
      holds: openHoldStore(store),
      lanes: shared.admission.state,
      evidenceLog: openLogStore(store),
      openApi: () => operationsDocument(config, host.endpoints),
    },
  });
  return host;
}

function guardOf(
  { identify }: Credentials,
  { store, clock }: TimedParts,
  log: Log,
): NonNullable<OperationsDeps["guard"]> {
  return { identify, clock, log, recordRead: openOperatorAudit({ store, clock }, openControlsStore()) };
}
