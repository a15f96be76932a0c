/** Status reports of banks that tests send. */
import { idleBankCall, orderPath } from "testing/back_channel.ts";
import { type CallOptions, type Json } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { type Environment } from "testing/environment.ts";

/** Sends a report and asserts that it changes no state. */
export function idlePut(
  env: Environment,
  bank: Participant,
  id: string,
  data: Json,
  options: CallOptions = {},
): Promise<Response> {
  const body = JSON.stringify({ Data: data });
  return idleBankCall(env, bank, orderPath(id, bank.orgId), { method: "PUT", body, ...options });
}

/** The data of a report. */
export function data(status: string, changes: Json = {}): Json {
  return { Status: status, StatusUpdateDateTime: "2040-01-15T12:00:00+00:00", ...changes };
}
