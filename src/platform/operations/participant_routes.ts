/** `GET /operations/participants`: the registered participants with their state in the directory and here. */
import { type Page, readPage } from "../../base/store/page.ts";
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { wireDateTime } from "../../base/kernel/clock.ts";
import { asBankCode, asClientId, type ClientId } from "../../base/kernel/identifiers.ts";
import type { Store } from "../../base/store/store.ts";
import type { Client } from "../core/registration/client.ts";
import type { ClientStore } from "../core/registration/client_store.ts";
import { type Controls, type CurrentControls, isBlocked } from "../guards/security/controls_store.ts";
import { operation } from "../guards/security/operation.ts";
import type { Standing } from "../guards/security/standing.ts";
import { invalidRequest } from "../guards/security/operation_body.ts";

export interface ParticipantRouteDeps {
  readonly store: Store;
  readonly clients: Pick<ClientStore, "find" | "findBank" | "list">;
  readonly currentControls: CurrentControls;
  /** The standing in the directory, or undefined for a software that it does not list. @throws {ApiError} if unknown */
  readonly listedStanding: (clientId: ClientId) => Promise<Standing | undefined>;
}

/** Participants in an answer, clients in a read of the store, and clients that one request reads. */
const PAGE = 50;
const READ = 200;
const MAX_READ = 2000;
const MAX_SEARCH = 100;
const MAX_IDS = 100;

/** Members of a participant on the wire. */
export const participantMembers = {
  ClientId: z.string(),
  Role: z.enum(["PISP", "ASPSP"]),
  OrganisationId: z.string().openapi({ description: "Of a bank: its code." }),
  OrganisationName: z.string(),
  SoftwareName: z.string(),
  DirectoryStatus: z.string().openapi({
    description: "`unlisted` if the directory does not list it, `unknown` while its list cannot be read.",
  }),
  OrganisationBlocked: z.boolean().openapi({ description: "By an operator." }),
  SoftwareBlocked: z.boolean(),
  RegistrationDateTime: z.string().openapi({ format: "date-time" }),
  UpdateDateTime: z.string().openapi({ format: "date-time" }),
};
const participantSchema = z.strictObject(participantMembers).openapi("Participant");

/** Schema of a page of participants. */
export const participantsSchema = dataSchema({
  Participant: z.array(participantSchema),
  After: z.string().optional().openapi({ description: "Where the next page begins. Absent at the end." }),
});

const route = operationRoute({
  method: "get",
  path: "/operations/participants",
  operationId: "listParticipants",
  tags: ["Participants"],
  summary: "The registered participants, by client id",
  description:
    `At most ${PAGE}. A search may return fewer with \`After\`: a request reads ${MAX_READ} clients.`,
  request: {
    query: z.object({
      search: z.string().max(MAX_SEARCH).optional().openapi({
        description: "A part of a name or id, in any case.",
      }),
      role: z.enum(["PISP", "ASPSP"]).optional(),
      ids: z.string().optional().openapi({
        description:
          `Only of these: at most ${MAX_IDS} client ids and codes of banks, with commas between them.`,
      }),
      after: z.string().optional(),
    }),
  },
  answers: { 200: operationAnswer("A page of participants", participantsSchema) },
});

export function participantRoutes(deps: ParticipantRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(route, [], async (c) => {
      const { search = "", role, after, ids } = c.req.query();
      if (search.length > MAX_SEARCH || (role !== undefined && role !== "PISP" && role !== "ASPSP")) {
        throw invalidRequest(`search has at most ${MAX_SEARCH} characters, and role is PISP or ASPSP`);
      }
      const start = after === undefined ? undefined : asClientId(after);
      if (after !== undefined && start === undefined) {
        throw invalidRequest("after must be the After of an earlier page");
      }
      if (after !== undefined && ids !== undefined) {
        throw invalidRequest("ids and after exclude each other: what ids name has no pages");
      }
      const wanted = { search: search.toLowerCase(), role };
      const { found, next } = ids === undefined
        ? await find(deps, wanted, start)
        : { found: await findEach(deps, ids.split(","), wanted), next: undefined };
      const controls = await deps.currentControls.get();
      return c.json({
        Data: {
          Participant: await Promise.all(found.map((client) => representParticipant(client, controls, deps))),
          After: next,
        },
      });
    }),
  ];
}

async function findEach(
  { clients, store }: ParticipantRouteDeps,
  ids: readonly string[],
  wanted: Wanted,
): Promise<readonly Client[]> {
  if (ids.length > MAX_IDS) throw invalidRequest(`ids has at most ${MAX_IDS} ids`);
  const found = await Promise.all(ids.map(async (id) => {
    const [clientId, code] = [asClientId(id), asBankCode(id)];
    if (clientId !== undefined) return await clients.find(store, clientId);
    return code === undefined ? null : await clients.findBank(store, code);
  }));
  return found.filter((one) => one !== null).filter((one) => isWanted(one, wanted));
}

interface Wanted {
  readonly search: string;
  readonly role: string | undefined;
}

async function find(
  { clients, store }: ParticipantRouteDeps,
  wanted: Wanted,
  after: ClientId | undefined,
): Promise<Page<Client, ClientId>> {
  const paging = { after, limit: PAGE, reads: MAX_READ / READ, perRead: READ };
  return await readPage(
    paging,
    async (last: ClientId | undefined, limit) =>
      (await clients.list(store, last, limit)).map((client) => ({
        place: client.clientId,
        shown: isWanted(client, wanted) ? client : undefined,
      })),
  );
}

function isWanted(client: Client, { search, role }: Wanted): boolean {
  if (role !== undefined && client.role !== role) return false;
  const { clientId, orgId, orgName, softwareName } = client;
  return [clientId, orgId, orgName, softwareName].some((text) => text.toLowerCase().includes(search));
}

/** The state of a client in the directory and here. */
export async function representParticipant(
  client: Client,
  controls: Controls,
  { listedStanding }: Pick<ParticipantRouteDeps, "listedStanding">,
): Promise<z.infer<typeof participantSchema>> {
  const { clientId, orgId } = client;
  const status = await listedStanding(clientId).then((standing) => standing ?? "unlisted", () => "unknown");
  const only = (kind: "organisation" | "software"): Controls => ({
    ...controls,
    blocks: controls.blocks.filter((block) => block.kind === kind),
  });
  return {
    ClientId: clientId,
    Role: client.role,
    OrganisationId: orgId,
    OrganisationName: client.orgName,
    SoftwareName: client.softwareName,
    DirectoryStatus: status,
    OrganisationBlocked: isBlocked(only("organisation"), client),
    SoftwareBlocked: isBlocked(only("software"), client),
    RegistrationDateTime: wireDateTime(client.registeredAt),
    UpdateDateTime: wireDateTime(client.updatedAt),
  };
}
