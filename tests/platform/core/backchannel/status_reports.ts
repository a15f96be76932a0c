/** Status reports of banks that tests send. */
import type { JsonObject } from "testing/jwts.ts";
import { idleBankCall, orderPath } from "testing/back_channel.ts";
import { type CallOptions } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { type Environment } from "testing/environment.ts";

/** Sends a report and asserts that it changes no state. */
export function idlePut(
  env: Environment,
  bank: Participant,
  id: string,
  data: JsonObject,
  options: CallOptions = {},
): Promise<Response> {
  const body = JSON.stringify({ Data: data });
  return idleBankCall(env, bank, orderPath(id, bank.orgId), { method: "PUT", body, ...options });
}

/** The data of a report. */
export function data(status: string, changes: JsonObject = {}): JsonObject {
  return { Status: status, StatusUpdateDateTime: "2040-01-15T12:00:00+00:00", ...changes };
}
