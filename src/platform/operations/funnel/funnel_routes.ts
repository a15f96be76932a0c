/** `GET /operations/reports/funnel` (contract FUN3): where customers are lost, as JSON and CSV. */
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { FunnelStore } from "../../observed/funnel/funnel_store.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { operationAnswer, operationRoute, operationTable } from "../../guards/http/operation_answers.ts";
import { operation } from "../../guards/security/operation.ts";
import { daysOf } from "../reports/report.ts";
import { readAsked } from "../reports/routes.ts";
import {
  type Dimension,
  DIMENSIONS,
  funnelCsv,
  funnelSchema,
  readFunnel,
  representFunnelRow,
  type ShownFunnelRow,
} from "./funnel_representation.ts";

export interface FunnelRouteDeps {
  readonly funnel: Pick<FunnelStore, "read">;
  readonly clock: Clock;
}

export const funnelQuery = z.object({
  from: z.iso.date().optional(),
  until: z.iso.date().optional(),
  by: z.string().max(64).optional().openapi({
    description: `What has rows of its own, separated by commas: ${
      DIMENSIONS.join(", ")
    }; empty for one row. By default \`bank,day\`.`,
    example: "bank,day",
  }),
});
const common = {
  method: "get" as const,
  tags: ["Reports"],
  summary: "How many consents reach each step of a payment",
  description:
    "By the day (UTC) on which the consents were created, at most 92 days, by default the last 30. Counted from the " +
    "histories: a change counts after 30 s, or when the consent is twice as old, at most 6 h later.",
  request: {
    query: funnelQuery.extend({
      bank: z.string().max(64).optional().openapi({ description: "A bank's code." }),
      tpp: z.string().max(64).optional().openapi({ description: "A TPP's client id." }),
    }),
  },
};
const json = operationRoute({
  ...common,
  path: "/operations/reports/funnel",
  operationId: "reportFunnel",
  answers: { 200: operationAnswer("The funnel", funnelSchema) },
});
const csv = operationRoute({
  ...common,
  path: "/operations/reports/funnel.csv",
  operationId: "reportFunnelAsCsv",
  summary: `${common.summary}, as CSV`,
  answers: { 200: operationTable("A line for each row") },
});

export function funnelRoutes(deps: FunnelRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(json, [], async (c) => {
      const { from, until, rows } = await read(deps, c.req.query());
      return c.json({ Data: { FromDate: from, UntilDate: until, Row: rows } });
    }),
    operation(csv, [], async (c) => {
      const { rows } = await read(deps, c.req.query());
      return c.body(funnelCsv(rows), 200, { "content-type": "text/csv; charset=utf-8; header=present" });
    }),
  ];
}

async function read(
  deps: FunnelRouteDeps,
  { by, bank, tpp, ...span }: Readonly<Record<string, string>>,
): Promise<{ readonly from: string; readonly until: string; readonly rows: readonly ShownFunnelRow[] }> {
  const { from, until } = readAsked(span, deps.clock());
  const of = [{ bank, clientId: tpp }];
  const rows = await readFunnel(deps, { days: daysOf(from, until), by: readDimensions(by), of });
  return { from, until, rows: rows.map(representFunnelRow) };
}

/** @throws {ApiError} `operations.invalid_request` */
export function readDimensions(by = "bank,day"): readonly Dimension[] {
  const asked = by.split(",").filter((one) => one !== "");
  const unknown = asked.some((one) => !DIMENSIONS.some((dimension) => dimension === one));
  if (unknown) {
    const description = `by must be one or several of ${DIMENSIONS.join(", ")}, separated by commas`;
    throw new ApiError("operations.invalid_request", { description });
  }
  return DIMENSIONS.filter((dimension) => asked.includes(dimension));
}
