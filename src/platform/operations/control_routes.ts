/** Endpoints for blocks, revocations, holds and planned outages. Each change takes effect on every process within two seconds. */
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { asBankCode, asClientId, type BankCode, type ClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { ClientStore } from "../core/registration/client_store.ts";
import { controlsIn, inForce, readControls } from "../guards/security/controls_store.ts";
import { operation } from "../guards/security/operation.ts";
import { operationBody } from "../guards/security/operation_body.ts";
import {
  blockParty,
  type ByOperator,
  cancelOutage,
  type ChangeControlsDeps,
  changeOutage,
  holdBank,
  type Party,
  planOutage,
  releaseBank,
  revokeTokens,
  unblockParty,
} from "./change_controls.ts";
import {
  controlsSchema,
  plannedOutageSchema,
  planOutageSchema,
  reasonSchema,
  representControls,
  representOutage,
} from "./control_representation.ts";

export interface ControlRouteDeps extends ChangeControlsDeps {
  readonly clients: Pick<ClientStore, "find" | "findBank">;
  /** Whether the directory lists the organisation. */
  readonly hasOrganisation: (orgId: string) => Promise<boolean>;
}

const tags = ["Controls"];
const params = z.object({ id: z.string() });
const inForceNow = { 200: operationAnswer("The controls in force", controlsSchema) };

const listRoute = operationRoute({
  method: "get",
  path: "/operations/controls",
  operationId: "listControls",
  tags,
  summary: "Everything that is blocked, revoked, held or announced",
  description: "The reasons are in the histories of the parties.",
  answers: inForceNow,
});

const BLOCKED =
  "It can start nothing: no token, pushed request, consent, payment or authorization. Orders to a blocked bank are held.";
const ASKED_AGAIN = "The directory alone decides again.";

/** A change of one party, for a reason. */
interface Change {
  readonly area: "organisations" | "software" | "banks";
  readonly verb: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly act: (deps: ControlRouteDeps, id: string, by: ByOperator) => Promise<void>;
}

const CHANGES: readonly Change[] = [
  {
    area: "organisations",
    verb: "block",
    operationId: "blockOrganisation",
    summary: "Block an organisation with all its software",
    description: BLOCKED,
    act: async (deps, id, by) => await blockParty(deps, await organisation(deps, id), by),
  },
  {
    area: "organisations",
    verb: "unblock",
    operationId: "unblockOrganisation",
    summary: "Unblock an organisation",
    description: ASKED_AGAIN,
    act: async (deps, id, by) => await unblockParty(deps, { kind: "organisation", id }, by),
  },
  {
    area: "software",
    verb: "block",
    operationId: "blockSoftware",
    summary: "Block one software",
    description: BLOCKED,
    act: async (deps, id, by) => await blockParty(deps, { kind: "software", id: await client(deps, id) }, by),
  },
  {
    area: "software",
    verb: "unblock",
    operationId: "unblockSoftware",
    summary: "Unblock one software",
    description: ASKED_AGAIN,
    act: async (deps, id, by) => await unblockParty(deps, { kind: "software", id }, by),
  },
  {
    area: "software",
    verb: "revoke-tokens",
    operationId: "revokeTokens",
    summary: "Revoke every access token of a software",
    description: "Tokens that were issued until now are invalid. It can get new ones, unless it is blocked.",
    act: async (deps, id, by) => await revokeTokens(deps, await client(deps, id), by),
  },
  {
    area: "banks",
    verb: "hold",
    operationId: "holdBank",
    summary: "Hold a bank's orders",
    description:
      "Payments are made, and their orders wait. An order that has waited for more than a day is given up at the release.",
    act: async (deps, id, by) => await holdBank(deps, await bank(deps, id), by),
  },
  {
    area: "banks",
    verb: "release",
    operationId: "releaseHeldBank",
    summary: "Release a bank's orders",
    description: "They are pushed again, unless another reason holds them.",
    act: async (deps, id, by) => await releaseBank(deps, await bank(deps, id), by),
  },
];

const outageRoute = operationRoute({
  method: "post",
  path: "/operations/banks/{id}/outages",
  operationId: "planOutage",
  tags,
  summary: "Announce an outage of a bank",
  description:
    "Meanwhile requests that would start something at the bank get 503 with Retry-After and the text, " +
    "customers return to their TPP, and orders are held.",
  request: { params },
  body: planOutageSchema,
  answers: {
    201: operationAnswer("Announced", plannedOutageSchema),
  },
  errors: [404, 409],
});
const changeRoute = operationRoute({
  method: "post",
  path: "/operations/banks/{id}/outages/{outageId}/change",
  operationId: "changeOutage",
  tags,
  summary: "Change the times and the text of an outage",
  description: "They replace the former ones. TPPs are told of it.",
  request: { params: params.extend({ outageId: z.string() }) },
  body: planOutageSchema,
  answers: { 200: operationAnswer("Changed", plannedOutageSchema) },
  errors: [404],
});
const cancelRoute = operationRoute({
  method: "post",
  path: "/operations/banks/{id}/outages/{outageId}/cancel",
  operationId: "cancelOutage",
  tags,
  summary: "Cancel or end an outage",
  description: "It has no effect any more.",
  request: { params: params.extend({ outageId: z.string() }) },
  body: reasonSchema,
  answers: inForceNow,
  errors: [404],
});

export function controlRoutes(deps: ControlRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => c.json(await current(deps))),
    ...CHANGES.map((change) => changeEndpoint(deps, change)),
    operation(outageRoute, [operationBody(planOutageSchema)], async (c) => {
      const { FromDateTime: from, UntilDateTime: until, Text: text, Reason: reason } = c.get("command").Data;
      const by = { operator: c.get("operator"), reason };
      const planned = { bank: await bank(deps, c.req.param("id")), from, until, text };
      return c.json({ Data: representOutage(await planOutage(deps, planned, by)) }, 201);
    }),
    operation(changeRoute, [operationBody(planOutageSchema)], async (c) => {
      const { FromDateTime: from, UntilDateTime: until, Text: text, Reason: reason } = c.get("command").Data;
      const by = { operator: c.get("operator"), reason };
      const id = c.req.param("outageId");
      const outage = { bank: await bank(deps, c.req.param("id")), id, from, until, text };
      return c.json({ Data: representOutage(await changeOutage(deps, outage, by)) });
    }),
    operation(cancelRoute, [operationBody(reasonSchema)], async (c) => {
      const by = { operator: c.get("operator"), reason: c.get("command").Data.Reason };
      const outage = { bank: await bank(deps, c.req.param("id")), id: c.req.param("outageId") };
      await cancelOutage(deps, outage, by);
      return c.json(await current(deps));
    }),
  ];
}

function changeEndpoint(deps: ControlRouteDeps, { area, verb, act, ...words }: Change): PlatformEndpoint {
  const route = operationRoute({
    method: "post",
    path: `/operations/${area}/{id}/${verb}`,
    tags,
    ...words,
    request: { params },
    body: reasonSchema,
    answers: inForceNow,
    isProposable: true,
    errors: [404, 409],
  });
  return operation(route, [operationBody(reasonSchema)], async (c) => {
    const by = { operator: c.get("operator"), reason: c.get("command").Data.Reason };
    await act(deps, c.req.param("id") ?? "", by);
    return c.json(await current(deps));
  });
}

async function current(
  { store, clock }: ControlRouteDeps,
): Promise<ReturnType<typeof representControls>> {
  return representControls(inForce(controlsIn(await readControls(store)), clock()));
}

async function organisation({ hasOrganisation }: ControlRouteDeps, id: string): Promise<Party> {
  if (!await hasOrganisation(id)) throw new ApiError("operations.not_found");
  return { kind: "organisation", id };
}

async function client({ clients, store }: ControlRouteDeps, text: string): Promise<ClientId> {
  const id = asClientId(text);
  if (id === undefined || await clients.find(store, id) === null) throw new ApiError("operations.not_found");
  return id;
}

async function bank({ clients, store }: ControlRouteDeps, text: string): Promise<BankCode> {
  const code = asBankCode(text);
  if (code === undefined || await clients.findBank(store, code) === null) {
    throw new ApiError("operations.not_found");
  }
  return code;
}
