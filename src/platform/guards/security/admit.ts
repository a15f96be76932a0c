/**
 * Admits each request by the traffic class of its endpoint and by the certificate that the proxy has verified. No
 * signature is checked and no body is read to identify the caller. Callers without a certificate share one queue, the
 * public one.
 */
import { contextStorage } from "hono/context-storage";
import { createMiddleware } from "hono/factory";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { Admission } from "../http/admission.ts";
import { UNKNOWN_CALLER } from "../../../base/http/caller_queue.ts";
import type { RequestEnv } from "../../../base/http/context.ts";
import type { Place } from "../../../base/http/fair_lane.ts";
import { endpointOf } from "../http/endpoint.ts";
import type { ClientCertificate, ReadCertificate } from "./client_certificate.ts";

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
