/** `GET /operations/endings`: certificates and software statements that end soon (contract OP28). */
import "reflect-metadata"; // before @peculiar/x509
import { z } from "@hono/zod-openapi";
import { X509Certificate } from "@peculiar/x509";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import { type Clock, type SteadyClock, wireDateTime } from "../../base/kernel/clock.ts";
import { keepFor } from "../../base/kernel/recently_used.ts";
import type { Client } from "../core/registration/client.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { at, dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";
import { DAY_MS } from "../observed/figures/figures.ts";
import type { ParticipantDetailDeps } from "./participant_detail_routes.ts";
import type { ParticipantRouteDeps } from "./participant_routes.ts";

export interface EndingRouteDeps
  extends
    Pick<ParticipantDetailDeps, "certifiedKeysOf" | "statementEnd">,
    Pick<ParticipantRouteDeps, "store"> {
  readonly clients: Pick<
    ParticipantDetailDeps["clients"] & ParticipantRouteDeps["clients"],
    "findStatement" | "list"
  >;
  readonly ownKeyRing: Pick<KeyRing, "schedule">;
  readonly clock: Clock;
  /** For the age of an answer. */
  readonly steady: SteadyClock;
}

/** Certificates and statements are replaced within days, so that a month is early enough. */
const SOON_MS = 30 * DAY_MS;
/** An answer goes through all participants, so that a process makes it again only after this time. */
const FRESH_MS = 300_000;
const MAX_CLIENTS = 2000;
const AT_ONCE = 20;

/** Schema of what ends soon. */
export const endingsSchema = dataSchema({
  DateTime: at.openapi({ description: "When the process that answers looked, at most 5 minutes ago." }),
  Ending: z.array(
    z.strictObject({
      Kind: z.enum(["certificate", "statement"]),
      EndDateTime: at,
      KeyId: z.string().optional().openapi({ description: "Of a certificate." }),
      ClientId: z.string().optional().openapi({ description: "Absent for a key of the platform." }),
      OrganisationName: z.string().optional(),
      SoftwareName: z.string().optional(),
    }).openapi("Ending"),
  ).openapi({ description: "The first to end first. What has ended is listed for another 30 days." }),
  Unread: z.int().openapi({ description: "Participants whose key set could not be read." }),
});
type Endings = z.infer<typeof endingsSchema>["Data"];
type Ending = Endings["Ending"][number];

const route = operationRoute({
  method: "get",
  path: "/operations/endings",
  operationId: "listEndings",
  tags: ["State"],
  summary: "Certificates and software statements that end in the next 30 days",
  description: `Of the platform, and of the first ${MAX_CLIENTS} participants by client id.`,
  answers: { 200: operationAnswer("What ends soon", endingsSchema) },
});

export function endingRoutes(deps: EndingRouteDeps): readonly PlatformEndpoint[] {
  const endings = keepFor(FRESH_MS, deps.steady, () => endingsOf(deps, deps.clock()));
  return [operation(route, [], async (c) => c.json({ Data: await endings.get() }))];
}

async function endingsOf(deps: EndingRouteDeps, now: number): Promise<Endings> {
  const clients = await deps.clients.list(deps.store, undefined, MAX_CLIENTS);
  const found: Ending[] = ownEndings(deps.ownKeyRing);
  let unread = 0;
  for (let place = 0; place < clients.length; place += AT_ONCE) {
    const some = clients.slice(place, place + AT_ONCE);
    for (
      const { endings, isRead } of await Promise.all(some.map((client) => endingsOfClient(deps, client)))
    ) {
      found.push(...endings);
      if (!isRead) unread++;
    }
  }
  const isSoon = (end: number): boolean => Math.abs(end - now) <= SOON_MS;
  return {
    DateTime: wireDateTime(now),
    Ending: found.filter(({ EndDateTime }) => isSoon(Date.parse(EndDateTime)))
      .toSorted((one, other) => Date.parse(one.EndDateTime) - Date.parse(other.EndDateTime)),
    Unread: unread,
  };
}

function ownEndings({ schedule }: EndingRouteDeps["ownKeyRing"]): Ending[] {
  return schedule.flatMap(({ kid, stage, certificate }) => {
    if (certificate === undefined || stage === "former" || stage === "ended") return [];
    const end = wireDateTime(new X509Certificate(certificate).notAfter.getTime());
    return { Kind: "certificate" as const, EndDateTime: end, KeyId: kid };
  });
}

async function endingsOfClient(
  deps: EndingRouteDeps,
  client: Client,
): Promise<{ readonly endings: readonly Ending[]; readonly isRead: boolean }> {
  const [statement, keys] = await Promise.all([
    deps.clients.findStatement(deps.store, client.clientId),
    deps.certifiedKeysOf(client).catch(() => undefined),
  ]);
  const whose = {
    ClientId: client.clientId,
    OrganisationName: client.orgName,
    SoftwareName: client.softwareName,
  };
  const until = statement === null ? undefined : deps.statementEnd(statement);
  return {
    endings: [
      ...(until === undefined
        ? []
        : [{ Kind: "statement" as const, EndDateTime: wireDateTime(until), ...whose }]),
      ...(keys ?? []).map(({ kid, expiresAt }) => ({
        Kind: "certificate" as const,
        EndDateTime: wireDateTime(expiresAt),
        KeyId: kid,
        ...whose,
      })),
    ],
    isRead: keys !== undefined,
  };
}
