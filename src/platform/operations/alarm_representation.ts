/** Alarms on the wire. */
import { z } from "@hono/zod-openapi";

export const ALARMS = [
  "ProcessLost",
  "ProcessFails",
  "OrdersDead",
  "BankUnreconciled",
  "BankFailing",
  "BankSlow",
  "OrdersDelayed",
  "OrdersHeld",
  "PaymentsUnsettled",
  "DisputesOverdue",
  "EventsDead",
] as const;
export type AlarmName = typeof ALARMS[number];

/** Schema of the alarms. */
export const alarmsSchema = z.strictObject({
  Data: z.strictObject({
    Alarm: z.array(
      z.strictObject({
        Name: z.enum(ALARMS),
        Severity: z.enum(["critical", "warning"]),
        Of: z.string().openapi({
          description: "The bank's code, the client id or the name of the process. Empty for disputes.",
        }),
        Value: z.int().optional().openapi({
          description:
            "Orders, payments, disputes, events, or seconds of `OrdersDelayed`, `OrdersHeld` and `BankUnreconciled`.",
        }),
      }).openapi("Alarm"),
    ),
  }),
});
export type Alarm = z.infer<typeof alarmsSchema>["Data"]["Alarm"][number];
