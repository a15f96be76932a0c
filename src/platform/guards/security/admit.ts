/**
 * What every request of a host passes before its endpoint's checks: admission by traffic class and caller, and its
 * counts, with its time, by endpoint, bank and client.
 */
import { contextStorage } from "hono/context-storage";
import { createMiddleware } from "hono/factory";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { Admission } from "../http/admission.ts";
import { type Place, UNKNOWN_CALLER } from "../../../base/http/fair_lane.ts";
import type { RequestEnv, RequestVariables } from "../../../base/http/context.ts";
import { endpointOf, knownMethod, routeOf } from "../http/endpoint.ts";
import type { CertificateVariables, ClientCertificate, ReadCertificate } from "./client_certificate.ts";
import type { MonotonicClock } from "../../../base/kernel/clock.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import type { BankVariables } from "./standing.ts";

/** Distinguishes callers before they are authenticated. */
export interface Callers {
  /** Returns undefined without a certificate. */
  nameOf(headers: Headers): Promise<string | undefined>;
  /**
   * Records that the certificate belongs to the participant, so that several certificates do not count as several
   * callers.
   */
  proven(certificate: ClientCertificate, participant: { readonly orgId: string }): void;
}

/** Bounds the memory. A removed certificate is proven again by a later request. */
const MAX_PROVEN = 10_000;

export function openCallers(readCertificate: ReadCertificate): Callers {
  const participants = openRecentlyUsed<string>(MAX_PROVEN);
  return {
    async nameOf(headers) {
      const certificate = await readCertificate(headers);
      if (!certificate.ok) return undefined;
      const { spkiThumbprint } = certificate.value;
      return participants.get(spkiThumbprint) ?? spkiThumbprint;
    },
    proven({ spkiThumbprint }, { orgId }) {
      participants.set(spkiThumbprint, `participant ${orgId}`);
    },
  };
}

/**
 * Creates the middleware. Without `callers`, all callers of the host are public.
 *
 * @throws {ApiError} `platform.overloaded`; the request has then used no proof and no key
 */
export function admit(
  deps: { readonly admission: Admission; readonly callers?: Callers },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  const inContext = contextStorage();
  return createMiddleware<RequestEnv>(async function admitted(c, next) {
    const { surface, traffic = "public" } = endpointOf(c) ?? {};
    if (surface !== undefined) c.set("surface", surface);
    const work = async (place: Place): Promise<void> => {
      c.set("place", place);
      await inContext(c, next);
    };
    if (deps.callers === undefined || traffic === "operator") {
      return await deps.admission.run(traffic, UNKNOWN_CALLER, work);
    }
    const caller = await deps.callers.nameOf(c.req.raw.headers);
    await deps.admission.run(caller === undefined ? "public" : traffic, caller ?? UNKNOWN_CALLER, work);
  });
}

// Counts every request of a host, with its time, by endpoint, bank and client. A wait that the caller asked for is not part of the time.

type Env = { Variables: RequestVariables & Partial<BankVariables & CertificateVariables> };

/**
 * Creates the middleware. Only registered banks and authenticated clients become labels, so that an unknown caller
 * cannot use up their bound.
 *
 * @param deps.elapsed a monotonic clock in milliseconds, with fractions
 */
export function requestMetrics(
  { metrics, figures, elapsed }: {
    readonly metrics: PlatformMetrics;
    readonly figures: Pick<FiguresRecorder, "request">;
    readonly elapsed: MonotonicClock;
  },
): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function measured(c, next) {
    const began = elapsed();
    await next();
    const route = routeOf(c) ?? "none";
    const { status } = c.res;
    metrics.count("platform_requests_total", {
      route,
      method: knownMethod(c.req.method),
      status: String(status),
    });
    const trace = c.get("trace");
    const milliseconds = trace.measuredMs = elapsed() - began - (trace.waitedMs ?? 0);
    metrics.observe("platform_request_duration_seconds", { route }, milliseconds / 1000);
    const ofClass = { status: `${Math.floor(status / 100)}xx` };
    const bank = c.get("bank")?.code;
    if (bank !== undefined) metrics.count("platform_bank_requests_total", { bank, ...ofClass });
    const { clientId: client, orgId } = c.get("facts");
    if (client === undefined) return;
    const reason = status < 400 ? undefined : trace.rejection?.reason;
    const ofBank = bank === orgId ? undefined : bank;
    figures.request({ bank: ofBank, clientId: client, status, reason, milliseconds }); // contract REP1
    metrics.count("platform_client_requests_total", { client, ...ofClass });
    const expiry = c.get("certificate")?.notAfter;
    if (expiry === undefined) return;
    metrics.set("platform_client_certificate_expiry_timestamp_seconds", { client }, expiry / 1000);
  });
}
