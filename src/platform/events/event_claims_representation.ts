/** The claims of a security event token (RFC 8417; OBIE Event Notification 4.0.1), contract EVT2. */
import { z } from "@hono/zod-openapi";
import { REASON_CODES } from "../../base/values/reason_codes.ts";
import type { JwtKind } from "../guards/http/jwt_schema.ts";

/** The one event that OBIE defines for payments. */
export const RESOURCE_UPDATE = "urn:uk:org:openbanking:events:resource-update";
const OBIE = "http://openbanking.org.uk";
const API_VERSION = "v1";
/** Members of OBIE's subject. */
const [RID, RTY, RLK] = [`${OBIE}/rid`, `${OBIE}/rty`, `${OBIE}/rlk`] as const;

const link = z.url().openapi({ description: "Where you read of it." });
const resourceUpdateSchema = z.strictObject({
  subject: z.strictObject({
    subject_type: z.literal(`${OBIE}/rid_${OBIE}/rty`),
    [RID]: z.uuid(),
    [RTY]: z.string().openapi({ example: "domestic-payment" }),
    [RLK]: z.array(z.strictObject({ version: z.literal(API_VERSION), link })).length(1),
  }),
});

const dateTime = z.iso.datetime({ offset: true });
const happenedSchema = z.strictObject({
  status: z.string(),
  status_at: dateTime,
  consent_id: z.uuid().optional().openapi({ description: "Of a payment." }),
  reason_code: z.enum(REASON_CODES).optional().openapi({
    description: "Of a rejection: a code of the list of reasons.",
  }),
  reason: z.string().optional().openapi({ description: "Why a payment was rejected, if somebody said it." }),
  from: dateTime.optional().openapi({ description: "Of an outage." }),
  until: dateTime.optional().openapi({ description: "Of an outage." }),
  text: z.string().optional().openapi({ description: "Of an outage." }),
  expires_at: dateTime.optional().openapi({
    description: "Of a statement, key or certificate that expires.",
  }),
  within_days: z.int().optional(),
  kid: z.string().optional(),
  use: z.enum(["sig", "tls", "enc"]).optional(),
}).openapi({ description: "What happened; the last segment of the member's name is the event's type." });

const eventClaimsSchema = z.strictObject({
  iss: z.url().openapi({ description: "The bank's issuer." }),
  iat: z.int(),
  jti: z.string(),
  aud: z.string().openapi({ description: "Your `client_id`; of a bank's event its code." }),
  sub: link,
  txn: z.string().openapi({
    description: "The interaction id of the request that caused the event, if any.",
  }),
  toe: z.int().openapi({ description: "When it happened (RFC 8417 §2.2)." }),
  events: z.object({ [RESOURCE_UPDATE]: resourceUpdateSchema }).catchall(happenedSchema),
});

/** A security event token. Nothing else that the platform signs has this type (RFC 8417 §2.3). */
export const EVENT_JWT: JwtKind = {
  name: "SecurityEventClaims",
  typ: "secevent+jwt",
  claims: eventClaimsSchema,
};

export type Happened = z.infer<typeof happenedSchema>;
export type EventClaims = Omit<z.infer<typeof eventClaimsSchema>, "events"> & {
  readonly events: Readonly<Record<string, object>>;
};

/** Represents OBIE's event, which names the resource. */
export function representResourceUpdate(
  { id, type, link }: { readonly id: string; readonly type: string; readonly link: string },
): z.infer<typeof resourceUpdateSchema> {
  return {
    subject: {
      subject_type: `${OBIE}/rid_${OBIE}/rty`,
      [RID]: id,
      [RTY]: type,
      [RLK]: [{ version: API_VERSION, link }],
    },
  };
}
