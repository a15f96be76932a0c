/**
 * Admits each request, by what its endpoint declares and by the certificate that the proxy has verified: no signature is
 * checked and no body is read to know whose request it is. A caller without a certificate is one of the public.
 */
import { contextStorage } from "hono/context-storage";
import { createMiddleware } from "hono/factory";
import type { Admission } from "../http/admission.ts";
import type { RequestEnv } from "../../base/http/context.ts";
import type { Place } from "../../base/http/fair_lane.ts";
import { endpointOf } from "../http/endpoint.ts";
import type { ClientCertificate, ReadCertificate } from "./client_certificate.ts";

/** Tells callers apart before anything about them is proven. */
export interface Callers {
  /** Undefined without a certificate. */
  nameOf(headers: Headers): Promise<string | undefined>;
  /** From here on the certificate is the participant's: further certificates do not make it further callers. */
  proven(certificate: ClientCertificate, orgId: string): void;
}

/** Bounds the memory: what is forgotten is proven again. */
const MAX_PROVEN = 10_000;

/** Opens the callers of the API host. */
export function openCallers(readCertificate: ReadCertificate): Callers {
  const participants = new Map<string, string>();
  return {
    async nameOf(headers) {
      const certificate = await readCertificate(headers);
      if (!certificate.ok) return undefined;
      const { spkiThumbprint } = certificate.value;
      return participants.get(spkiThumbprint) ?? spkiThumbprint;
    },
    proven({ spkiThumbprint }, orgId) {
      if (participants.size >= MAX_PROVEN) participants.clear();
      participants.set(spkiThumbprint, `participant ${orgId}`);
    },
  };
}

/** Middleware; a host without `callers` has the public alone. @throws {ApiError} `platform.overloaded` before anything of the request is used up */
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
      return await deps.admission.run(traffic, "", work);
    }
    const caller = await deps.callers.nameOf(c.req.raw.headers);
    await deps.admission.run(caller === undefined ? "public" : traffic, caller ?? "", work);
  });
}
