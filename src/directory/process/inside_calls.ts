/** Requests that the directory sends to its own administrators' endpoints. Requests from outside do not reach them. */
import { createMiddleware } from "hono/factory";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { CallApi } from "../../console/program.ts";
import { mayCall } from "../console/people.ts";
import { behind } from "../http/endpoint.ts";
import type { CarryOut } from "../http/proposal_routes.ts";
import type { DirectoryEnv } from "../http/request_context.ts";

/** Who makes the request. The caller has authenticated the person. */
type Sender = Pick<
  DirectoryEnv["Variables"],
  "requestId" | "administrator" | "person" | "organisation" | "approval"
>;

/** Serves endpoints. `idOf` is the id of a request that has one already. */
export type ServeInside = (
  endpoints: readonly Endpoint[],
  idOf: (request: Request) => string | undefined,
) => (request: Request) => Promise<Response>;

function openInside(
  serve: ServeInside,
  endpoints: readonly Endpoint[],
): (request: Request, sender: Sender | undefined) => Promise<Response> {
  const senders = new WeakMap<Request, Sender>();
  const known = createMiddleware<DirectoryEnv>(async function senderInside(c, next) {
    const sender = senders.get(c.req.raw);
    if (sender === undefined) throw new ApiError("directory.unauthorized");
    c.set("administrator", sender.administrator);
    c.set("person", sender.person);
    c.set("organisation", sender.organisation);
    c.set("approval", sender.approval);
    await next();
  });
  const inside = serve(behind(known, endpoints), (request) => senders.get(request)?.requestId);
  return async (request, sender) => {
    if (sender !== undefined) senders.set(request, sender);
    return await inside(request);
  };
}

/** The console's way to the endpoints, for a person whom the console has authenticated. */
export function openConsoleCalls(serve: ServeInside, endpoints: readonly Endpoint[]): CallApi {
  const inside = openInside(serve, endpoints);
  return (person, request, requestId) => {
    const { name: administrator, organisation } = person;
    const sender = { administrator, person: person.person, organisation, requestId, approval: undefined };
    return inside(request, mayCall(person, request) ? sender : undefined);
  };
}

/** The way of an approved change to its endpoint. */
export function openApprovedCalls(serve: ServeInside, endpoints: readonly Endpoint[]): CarryOut {
  const inside = openInside(serve, endpoints);
  return (request, { who, requestId, approval }) =>
    inside(request, { administrator: who, person: undefined, organisation: undefined, requestId, approval });
}
