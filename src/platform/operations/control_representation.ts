/** Controls on the wire of the operations API. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { Controls, Outage } from "../guards/security/controls_store.ts";
import { plainText } from "../guards/security/operation_body.ts";
import { at, dataSchema } from "../guards/http/operation_answers.ts";

/** The required reason of a change. It is in the party's history. */
export const reason = plainText(10, 500).openapi({
  description: "Why, for the history: 10 to 500 characters without control characters.",
  example: "Fraud is suspected; case 4711 of the fraud desk.",
});
export const reasonSchema = dataSchema({ Reason: reason }).openapi("Reason");

const by = z.string().openapi({ example: "operator ana" });
const outageSchema = z.strictObject({
  OutageId: z.uuid(),
  BankId: z.string(),
  FromDateTime: at,
  UntilDateTime: at,
  Text: z.string(),
  By: by,
}).openapi("PlannedOutage");

/** Schema of everything that is in force. */
export const controlsSchema = dataSchema({
  Block: z.array(z.strictObject({
    Kind: z.enum(["organisation", "software"]),
    Id: z.string(),
    SinceDateTime: at,
    By: by,
  })),
  TokenRevocation: z.array(z.strictObject({ ClientId: z.string(), IssuedUntilDateTime: at })),
  BankHold: z.array(z.strictObject({ BankId: z.string(), SinceDateTime: at, By: by })),
  PlannedOutage: z.array(outageSchema),
}).openapi("Controls");

/** Schema of a planned outage in an answer. */
export const plannedOutageSchema = z.strictObject({ Data: outageSchema });

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** Schema of the request for an outage. */
export const planOutageSchema = dataSchema({
  FromDateTime: time.openapi({ type: "string", format: "date-time" }),
  UntilDateTime: time.openapi({ type: "string", format: "date-time" }),
  Text: z.string().regex(/^[\x20\x21\x23-\x5b\x5d-\x7e]{3,200}$/).openapi({
    description: "For TPPs. Printable ASCII without quotes and backslashes.",
    example: "Maintenance of the core banking system.",
  }),
  Reason: reason,
}).openapi("PlanOutage");

export function representControls(
  { blocks, revocations, holds, outages }: Controls,
): z.infer<typeof controlsSchema> {
  return {
    Data: {
      Block: blocks.map(({ kind, id, at, by }) => ({
        Kind: kind,
        Id: id,
        SinceDateTime: wireDateTime(at),
        By: by,
      })),
      TokenRevocation: revocations.map(({ clientId, at }) => ({
        ClientId: clientId,
        IssuedUntilDateTime: wireDateTime(at),
      })),
      BankHold: holds.map(({ bank, at, by }) => ({ BankId: bank, SinceDateTime: wireDateTime(at), By: by })),
      PlannedOutage: outages.map(representOutage),
    },
  };
}

export function representOutage({ id, bank, from, until, text, by }: Outage): z.infer<typeof outageSchema> {
  return {
    OutageId: id,
    BankId: bank,
    FromDateTime: wireDateTime(from),
    UntilDateTime: wireDateTime(until),
    Text: text,
    By: by,
  };
}
