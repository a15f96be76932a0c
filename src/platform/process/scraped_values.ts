/** Fills the gauges from the memory of the process when it is scraped. */
import { X509Certificate } from "@peculiar/x509";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { SharedParts } from "./shared_parts.ts";

export function fillOnScrape(shared: SharedParts, isStoreFailing: () => boolean): void {
  const { metrics } = shared;
  const signingExpiry = openSigningExpiry(shared.ownKeyRing);
  metrics.onScrape(() => {
    fillLanes(shared);
    fillDirectory(shared);
    metrics.replace(
      "platform_breaker_open_clients",
      shared.delivery.circuit.open().map(({ receiver, senders }) => ({
        labels: { bank: receiver },
        value: senders,
      })),
    );
    metrics.replace(
      "platform_event_receivers_away",
      shared.eventCircuit.open().map(({ receiver }) => ({ labels: { client: receiver }, value: 1 })),
    );
    metrics.replace(
      "platform_open_consents_ratio",
      shared.openConsents.crowded().map(({ clientId: client, share: value }) => ({
        labels: { client },
        value,
      })),
    );
    metrics.set("platform_store_working", {}, isStoreFailing() ? 0 : 1);
    const expiry = signingExpiry();
    if (expiry !== undefined) {
      metrics.set("platform_signing_certificate_expiry_timestamp_seconds", {}, expiry);
    }
    fillProcess(shared);
  });
}

function fillLanes({ admission, metrics }: SharedParts): void {
  const lanes = Object.entries(admission.state());
  metrics.replace(
    "platform_shed_requests_total",
    lanes.map(([lane, { rejectedFull, rejectedLate }]) => ({
      labels: { lane },
      value: rejectedFull + rejectedLate,
    })),
  );
  for (const [lane, { places, inWork, waiting }] of lanes) {
    metrics.set("platform_lane_places", { lane }, places);
    metrics.set("platform_lane_requests", { lane, state: "in_work" }, inWork);
    metrics.set("platform_lane_requests", { lane, state: "waiting" }, waiting);
  }
}

function fillDirectory({ directoryClock, metrics, participantKeys, statuses }: SharedParts): void {
  const copies = participantKeys.ages();
  metrics.replace(
    "platform_key_set_age_seconds",
    copies.map(({ clientId: client, seconds }) => ({ labels: { client }, value: seconds })),
  );
  metrics.set("platform_key_sets_failing", {}, copies.filter(({ failing }) => failing).length);
  metrics.set("platform_status_list_age_seconds", {}, statuses.failingSeconds() ?? 0);
  const ahead = directoryClock.aheadSeconds();
  if (ahead !== undefined) metrics.set("platform_clock_ahead_seconds", {}, ahead);
}

function fillProcess({ metrics, process }: SharedParts): void {
  if (process === undefined) return;
  const { rss, heapUsed, external } = process.memory();
  metrics.set("platform_memory_bytes", { kind: "resident" }, rss);
  metrics.set("platform_memory_bytes", { kind: "heap_used" }, heapUsed);
  metrics.set("platform_memory_bytes", { kind: "external" }, external);
  metrics.replace("platform_log_dropped_lines_total", [{ labels: {}, value: process.droppedLogLines() }]);
  const standby = process.standby?.();
  const known = standby === undefined ? [] : [{ labels: {}, value: standby ? 1 : 0 }];
  metrics.replace("platform_store_standby", known);
  const connections = process.connections?.();
  if (connections === undefined) return;
  metrics.set("platform_connections", {}, connections.open);
  metrics.set("platform_connections_limit", {}, connections.limit);
}

/** Reads the certificate again only after a change of the key. Unix seconds. */
function openSigningExpiry(keys: KeyRing): () => number | undefined {
  let known: { readonly kid: string; readonly expiry: number } | undefined;
  return () => {
    const { signer: { kid }, publicJwks } = keys;
    if (known?.kid === kid) return known.expiry;
    const chain = publicJwks.keys.find((key) => key["kid"] === kid)?.["x5c"];
    const [leaf] = Array.isArray(chain) ? chain : [];
    if (typeof leaf !== "string") return undefined;
    known = { kid, expiry: new X509Certificate(leaf).notAfter.getTime() / 1000 };
    return known.expiry;
  };
}
