/** The checks that every endpoint for a TPP's events begins with. */
import { fapiHeaders } from "../guards/http/endpoint.ts";
import { firstReads, type Requirement } from "../guards/security/access_token.ts";
import type { ResourceGuards } from "../guards/security/resource_guards.ts";

/** Events are a client's, not a consent's. */
const CLIENT: Requirement = { scope: "payments", grants: ["client_credentials"] };

type Checks = readonly [
  ResourceGuards["certificate"],
  ReturnType<ResourceGuards["limit"]>,
  ReturnType<typeof firstReads>,
  ResourceGuards["bank"],
  ReturnType<ResourceGuards["token"]>,
  typeof fapiHeaders,
];

/** @param group of the rate limit */
export function ofClient(
  { certificate, limit, bank, token }: ResourceGuards,
  group: Parameters<ResourceGuards["limit"]>[0],
): Checks {
  return [certificate, limit(group), firstReads(), bank, token(CLIENT), fapiHeaders];
}
