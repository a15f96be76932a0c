/** Histories for operators: one subject's, and all entries for auditors. Each read is itself recorded. */
import { createRoute, z } from "@hono/zod-openapi";
import {
  type AuditCursor,
  auditPage,
  cursorOf,
  type ListedEntry,
  readCursor,
} from "../evidence/audit_trail.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationErrors, OPERATOR_SECURITY } from "../guards/http/operation_answers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Store } from "../../base/store/store.ts";
import { operation } from "../guards/security/operation.ts";

export interface HistoryRouteDeps {
  readonly store: Store;
}

const PAGE = 200;

const entrySchema = z.strictObject({
  Subject: z.string(),
  DateTime: z.string().openapi({ format: "date-time", description: "With milliseconds." }),
  Event: z.string().openapi({ example: "participant.blocked" }),
  Actor: z.string().openapi({ example: "operator ana" }),
  Reason: z.string().optional(),
  InteractionId: z.string().optional(),
  Sequence: z.int().optional().openapi({ description: "Number of the entry in the history of its subject." }),
}).openapi("HistoryEntry");
/** Schema of a page of entries. */
export const historySchema = z.strictObject({
  Data: z.strictObject({
    Entry: z.array(entrySchema),
    After: z.string().optional().openapi({ description: "Where the next page begins. Absent at the end." }),
  }),
});
const query = z.object({ after: z.string().optional() });
const page = { 200: operationAnswer(`At most ${PAGE} entries`, historySchema), ...operationErrors(400) };
const tags = ["Histories"];
const security = OPERATOR_SECURITY;

const historyRoute = createRoute({
  method: "get",
  tags,
  security,
  path: "/operations/histories/{subject}",
  operationId: "readHistory",
  summary: "The history of one subject, oldest first",
  description:
    "A payment, consent or client by its id, or the words of a party: `organisation SHOP`, `bank BANKA`, `operator ana`.",
  request: { params: z.object({ subject: z.string() }), query },
  responses: page,
});
const auditRoute = createRoute({
  method: "get",
  tags,
  security,
  path: "/operations/audit",
  operationId: "exportAudit",
  summary: "Every entry of every history, by subject",
  description: "For export. Entries that are added during an export may be missing.",
  request: { query },
  responses: page,
});

export function historyRoutes({ store }: HistoryRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(historyRoute, [], async (c) => {
      const [subject, after] = [c.req.param("subject"), asked(c.req.query("after"))];
      return c.json(
        represent(await auditPage(store, { subject, after, limit: PAGE })),
      );
    }),
    operation(auditRoute, [], async (c) => {
      return c.json(represent(await auditPage(store, { after: asked(c.req.query("after")), limit: PAGE })));
    }),
  ];
}

function asked(text: string | undefined): AuditCursor | undefined {
  const cursor = text === undefined ? undefined : readCursor(text);
  if (text === undefined || cursor !== undefined) return cursor;
  throw new ApiError("operations.invalid_request", {
    description: "after must be the After of an earlier page",
  });
}

function represent(entries: readonly ListedEntry[]): z.infer<typeof historySchema> {
  const last = entries.length === PAGE ? entries.at(-1) : undefined;
  return {
    Data: {
      Entry: entries.map(({ subject, entry }) => ({
        Subject: subject,
        DateTime: new Date(entry.at).toISOString(),
        Event: entry.event,
        Actor: entry.actor,
        ...(entry.reason === undefined ? {} : { Reason: entry.reason }),
        ...(entry.interactionId === undefined ? {} : { InteractionId: entry.interactionId }),
        ...(entry.sequence === undefined ? {} : { Sequence: entry.sequence }),
      })),
      ...(last === undefined ? {} : { After: cursorOf(last) }),
    },
  };
}
