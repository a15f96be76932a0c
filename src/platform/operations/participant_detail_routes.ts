/** `GET /operations/participants/{clientId}`: one participant with its keys, certificates and last use (contract OP19). */
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { type Clock, wireDateTime } from "../../base/kernel/clock.ts";
import { asClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { FiguresStore } from "../observed/figures/figures_store.ts";
import type { Client } from "../core/registration/client.ts";
import type { ClientStore } from "../core/registration/client_store.ts";
import { operation } from "../guards/security/operation.ts";
import { participantMembers, type ParticipantRouteDeps, representParticipant } from "./participant_routes.ts";

/** A published key, and the end of its certificate. */
interface CertifiedKey {
  readonly kid: string;
  readonly use: "sig" | "tls" | "enc";
  /** Milliseconds. */
  readonly expiresAt: number;
}

export interface ParticipantDetailDeps extends Omit<ParticipantRouteDeps, "clients"> {
  readonly clients: Pick<ClientStore, "find" | "findStatement">;
  /** Returns the published keys whose certificates can be read. @throws {ApiError} if the key set cannot be read */
  readonly certifiedKeysOf: (client: Client) => Promise<readonly CertifiedKey[]>;
  /** Returns when a stored software statement ends, milliseconds. */
  readonly statementEnd: (statement: string) => number | undefined;
  readonly figuresStore: Pick<FiguresStore, "lastDayOf">;
  readonly clock: Clock;
}

const at = z.string().openapi({ format: "date-time" });

/** Schema of a participant with its details. */
export const participantDetailSchema = z.strictObject({
  Data: z.strictObject({
    ...participantMembers,
    RedirectUri: z.array(z.string()),
    JwksUri: z.string(),
    PaymentOrdersUri: z.string().optional(),
    EventNotificationUri: z.string().optional(),
    StatementUntilDateTime: at.optional().openapi({ description: "Of the software statement." }),
    Key: z.array(
      z.strictObject({
        KeyId: z.string(),
        Use: z.enum(["sig", "tls", "enc"]),
        CertificateUntilDateTime: at,
      }).openapi("ParticipantKey"),
    ).optional().openapi({ description: "Absent while the directory's key set cannot be read." }),
    LastUseDate: z.iso.date().optional().openapi({
      description: "Day (UTC) of the last request. Absent if it is more than 30 days ago.",
    }),
  }).openapi("ParticipantDetail"),
});

const route = operationRoute({
  method: "get",
  path: "/operations/participants/{clientId}",
  operationId: "readParticipant",
  tags: ["Participants"],
  summary: "A participant with its addresses, keys, certificates and last use",
  description: "Keys are those of the platform's copy of the directory's key set.",
  request: { params: z.object({ clientId: z.string() }) },
  answers: { 200: operationAnswer("The participant", participantDetailSchema) },
  errors: [404],
});

export function participantDetailRoutes(deps: ParticipantDetailDeps): readonly PlatformEndpoint[] {
  return [
    operation(route, [], async (c) => {
      const id = asClientId(c.req.param("clientId"));
      const client = id === undefined ? null : await deps.clients.find(deps.store, id);
      if (client === null) throw new ApiError("operations.participant_unknown");
      return c.json({ Data: await detailOf(deps, client) });
    }),
  ];
}

type Detail = z.infer<typeof participantDetailSchema>["Data"];

async function detailOf(deps: ParticipantDetailDeps, client: Client): Promise<Detail> {
  const [participant, statement, keys, lastUse] = await Promise.all([
    deps.currentControls.get().then((controls) => representParticipant(client, controls, deps)),
    deps.clients.findStatement(deps.store, client.clientId),
    deps.certifiedKeysOf(client).catch(() => undefined),
    deps.figuresStore.lastDayOf("client", client.clientId),
  ]);
  const until = statement === null ? undefined : deps.statementEnd(statement);
  const { paymentOrdersUri, eventNotificationUri } = client;
  return {
    ...participant,
    RedirectUri: [...client.redirectUris],
    JwksUri: client.jwksUri,
    PaymentOrdersUri: paymentOrdersUri,
    EventNotificationUri: eventNotificationUri,
    ...(until === undefined ? {} : { StatementUntilDateTime: wireDateTime(until) }),
    Key: keys?.map(({ kid, use, expiresAt }) => ({
      KeyId: kid,
      Use: use,
      CertificateUntilDateTime: wireDateTime(expiresAt),
    })),
    LastUseDate: lastUse,
  };
}
