/** `/{CODE}/faults`: injects faults into a sandbox bank. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { Bank } from "./bank.ts";
import { BANK_REASON_CODES } from "../../client/party/reason_codes.ts";
import { amountOf, type ArmedFault, FAULT_NAMES, FAULTS } from "./faults.ts";

const maxBodyBytes = 8192;

const armSchema = z.strictObject({
  fault: z.enum(FAULT_NAMES),
  times: z.int().min(1).max(1_000_000).default(1),
  reason_code: z.enum(BANK_REASON_CODES).optional(),
  consent_id: z.uuid().toLowerCase().optional(),
});

/** Routes below `/{CODE}`: GET shows, POST arms, DELETE disarms. */
export function faultRoutes({ faults, profile, log }: Bank): Hono {
  const routes = new Hono();
  routes.get("/faults", (c) => c.json(showFaults(faults.armed())));
  routes.post("/faults", bodyLimit({ maxSize: maxBodyBytes }), async (c) => {
    const wanted = armSchema.safeParse(await jsonBody(c));
    if (!wanted.success) {
      const wrong = wanted.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim());
      return c.json({ error: "invalid_request", error_description: wrong.join("; ") }, 400);
    }
    const { fault, times, consent_id, reason_code } = wanted.data;
    faults.arm({ fault, times, consentId: consent_id, reasonCode: reason_code });
    log("fault.armed", { bank: profile.code, fault, times });
    return c.json(showFaults(faults.armed()), 201);
  });
  routes.delete("/faults", (c) => {
    faults.disarm();
    return c.json(showFaults(faults.armed()));
  });
  return routes;
}

/** Undefined unless the content type is JSON. A page of another site cannot send that without a CORS preflight. */
async function jsonBody(c: Context): Promise<unknown> {
  const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") return undefined;
  try {
    return await c.req.json<unknown>();
  } catch {
    return undefined;
  }
}

function showFaults(armed: readonly ArmedFault[]): unknown {
  return {
    armed: armed.map(({ fault, times, consentId, reasonCode }) => ({
      fault,
      times,
      ...(reasonCode === undefined ? {} : { reason_code: reasonCode }),
      ...(consentId === undefined ? {} : { consent_id: consentId }),
    })),
    by_amount: FAULTS.map(({ name, amount, what }) => ({ amount, fault: name, what })),
    by_reason: BANK_REASON_CODES.map((code) => ({
      reason_code: code,
      refuse: amountOf("refuse", code),
      refuse_customer: amountOf("refuse_customer", code),
    })),
  };
}
