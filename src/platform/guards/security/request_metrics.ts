/** Counts every request of a host, with its time, by endpoint, bank and client. A wait that the caller asked for is not part of the time. */
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { MonotonicClock } from "../../../base/kernel/clock.ts";
import { knownMethod, routeOf } from "../http/endpoint.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import type { BankVariables } from "./bank_path.ts";
import type { CertificateVariables } from "./client_certificate.ts";

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
    const milliseconds = elapsed() - began - (c.get("trace").waitedMs ?? 0);
    metrics.observe("platform_request_duration_seconds", { route }, milliseconds / 1000);
    const ofClass = { status: `${Math.floor(status / 100)}xx` };
    const bank = c.get("bank")?.code;
    if (bank !== undefined) metrics.count("platform_bank_requests_total", { bank, ...ofClass });
    const { clientId: client, orgId } = c.get("facts");
    if (client === undefined) return;
    figures.request({ bank: bank === orgId ? undefined : bank, clientId: client, status, milliseconds }); // contract REP1
    metrics.count("platform_client_requests_total", { client, ...ofClass });
    const expiry = c.get("certificate")?.notAfter;
    if (expiry === undefined) return;
    metrics.set("platform_client_certificate_expiry_timestamp_seconds", { client }, expiry / 1000);
  });
}
