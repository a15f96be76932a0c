/** Histories for operators: one subject's, and all entries for auditors. Each read is itself recorded. */
import { z } from "@hono/zod-openapi";
import {
  type AuditCursor,
  auditPage,
  cursorOf,
  type ListedEntry,
  peopleLogStart,
  peoplePage,
  type PeoplePlace,
  readCursor,
} from "../evidence/audit_trail.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { type Page, readPage } from "../../base/store/page.ts";
import { DAY_MS, dayOf } from "../observed/figures/figures.ts";
import type { Store } from "../../base/store/store.ts";
import { operation } from "../guards/security/operation.ts";

export interface HistoryRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
}

const PAGE = 200;
const PEOPLE_PAGE = 50;
/** Entries of a page of what operators did that are read at most, of those that do not match too. */
const PEOPLE_READS = 20;

const AFTER = { description: "after must be the After of an earlier page" };

const entrySchema = z.strictObject({
  Subject: z.string(),
  DateTime: z.string().openapi({ format: "date-time", description: "With milliseconds." }),
  Event: z.string().openapi({ example: "participant.blocked" }),
  Actor: z.string().openapi({ example: "operator ana" }),
  Reason: z.string().optional(),
  InteractionId: z.string().optional(),
  Sequence: z.int().openapi({ description: "Number of the entry in the history of its subject." }),
}).openapi("HistoryEntry");
/** Schema of a page of entries. */
export const historySchema = dataSchema({
  Entry: z.array(entrySchema),
  After: z.string().optional().openapi({ description: "Where the next page begins. Absent at the end." }),
});
const query = z.object({ after: z.string().optional() });
const page = { 200: operationAnswer(`At most ${PAGE} entries`, historySchema) };
const tags = ["Histories"];

const historyRoute = operationRoute({
  method: "get",
  tags,
  path: "/operations/histories/{subject}",
  operationId: "readHistory",
  summary: "The history of one subject, oldest first",
  description:
    "A payment, consent or client by its id, or the words of a party: `organisation SHOP`, `bank BANKA`, `operator ana`.",
  request: { params: z.object({ subject: z.string() }), query },
  answers: page,
});
const auditRoute = operationRoute({
  method: "get",
  tags,
  path: "/operations/audit",
  operationId: "exportAudit",
  summary: "Every entry of every history, by subject",
  description: "For export. Entries that are added during an export may be missing.",
  request: { query },
  answers: page,
});

const peopleQuery = z.object({
  from: z.iso.date().optional(),
  until: z.iso.date().optional(),
  operator: z.string().max(200).optional(),
  deed: z.enum(["change", "read"]).optional(),
  after: z.string().max(200).optional(),
});
const peopleRoute = operationRoute({
  method: "get",
  tags,
  path: "/operations/audit/people",
  operationId: "listPeopleLog",
  summary: "What operators did, newest first",
  description:
    `At most ${PEOPLE_PAGE} entries of the days (UTC) from \`from\` to \`until\`, by default of the last ` +
    "400 days: changes, or with `deed=read` what was read. `operator` is a part of the name.",
  request: { query: peopleQuery },
  answers: { 200: operationAnswer("Entries of histories", historySchema) },
});

/** Entries that the answer about today goes through at most. */
const TODAY_ENTRIES = 1000;

/** Schema of who did something today. */
export const peopleTodaySchema = dataSchema({
  Date: z.iso.date(),
  Operator: z.array(
    z.strictObject({
      Actor: z.string().openapi({ example: "operator ana" }),
      Entries: z.int(),
      LastDateTime: z.string().openapi({ format: "date-time", description: "With milliseconds." }),
    }).openapi("OperatorToday"),
  ).openapi({ description: "The latest first." }),
  IsComplete: z.boolean().openapi({
    description: `False if there were more than ${TODAY_ENTRIES} entries.`,
  }),
});
const todayRoute = operationRoute({
  method: "get",
  tags,
  path: "/operations/audit/people/today",
  operationId: "countPeopleToday",
  summary: "Which operators did something today, and how much",
  description:
    "Of the day (UTC), without what they only read. No entry is shown, and the read is not recorded.",
  answers: { 200: operationAnswer("Operators of today", peopleTodaySchema) },
});

async function peopleToday(store: Store, now: number): Promise<z.infer<typeof peopleTodaySchema>["Data"]> {
  const [day, after] = [dayOf(now), peopleLogStart("change", now + DAY_MS)];
  const wanted = {
    deed: "change",
    from: Date.parse(day),
    isShown: () => true,
    limit: TODAY_ENTRIES,
  } as const;
  const rows = await peoplePage(store, after, wanted);
  const operators = new Map<string, { Actor: string; Entries: number; LastDateTime: string }>();
  for (const { entry: { actor, at } } of rows.flatMap(({ shown }) => shown ?? [])) {
    const known = operators.get(actor);
    if (known === undefined) {
      operators.set(actor, { Actor: actor, Entries: 1, LastDateTime: new Date(at).toISOString() });
    } else known.Entries++;
  }
  return { Date: day, Operator: [...operators.values()], IsComplete: rows.length < TODAY_ENTRIES };
}

export function historyRoutes({ store, clock }: HistoryRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(todayRoute, [], async (c) => c.json({ Data: await peopleToday(store, clock()) })),
    operation(peopleRoute, [], async (c) => {
      const { found, next } = await peopleLog(store, c.req.query(), clock());
      return c.json({
        Data: {
          Entry: found.map(representEntry),
          ...(next === undefined ? {} : { After: next.slice(2).join("@") }),
        },
      });
    }),
    operation(historyRoute, [], async (c) => {
      const [subject, after] = [c.req.param("subject"), asked(c.req.query("after"))];
      return c.json(represent(await auditPage(store, { subject, after, limit: PAGE })));
    }),
    operation(auditRoute, [], async (c) => {
      return c.json(represent(await auditPage(store, { after: asked(c.req.query("after")), limit: PAGE })));
    }),
  ];
}

async function peopleLog(
  store: Store,
  sent: Readonly<Record<string, string>>,
  now: number,
): Promise<Page<ListedEntry, PeoplePlace>> {
  const parsed = peopleQuery.safeParse(sent);
  if (!parsed.success) {
    const description = "from and until must be days, such as 2040-01-15, and deed change or read";
    throw new ApiError("operations.invalid_request", { description });
  }
  const { from = "1970-01-01", until, operator = "", deed = "change", after } = parsed.data;
  const end = until === undefined ? now + DAY_MS : Date.parse(until) + DAY_MS;
  const isShown = ({ actor }: ListedEntry["entry"]): boolean => actor.includes(operator);
  const wanted = { deed, from: Date.parse(from), isShown };
  const start = peopleLogStart(deed, end - 1);
  const place = after === undefined ? start : [...start.slice(0, 2), ...after.split("@")];
  if (place.length > 4 || place.some((part) => part === "")) {
    throw new ApiError("operations.invalid_request", AFTER);
  }
  return await readPage(
    { after: place, limit: PEOPLE_PAGE, reads: PEOPLE_READS },
    (from = place, limit) => peoplePage(store, from, { ...wanted, limit }),
  );
}

function asked(text: string | undefined): AuditCursor | undefined {
  const cursor = text === undefined ? undefined : readCursor(text);
  if (text === undefined || cursor !== undefined) return cursor;
  throw new ApiError("operations.invalid_request", AFTER);
}

function represent(entries: readonly ListedEntry[]): z.infer<typeof historySchema> {
  const last = entries.length === PAGE ? entries.at(-1) : undefined;
  return {
    Data: { Entry: entries.map(representEntry), ...(last === undefined ? {} : { After: cursorOf(last) }) },
  };
}

function representEntry({ subject, entry }: ListedEntry): z.infer<typeof entrySchema> {
  return {
    Subject: subject,
    DateTime: new Date(entry.at).toISOString(),
    Event: entry.event,
    Actor: entry.actor,
    Reason: entry.reason,
    InteractionId: entry.interactionId,
    Sequence: entry.sequence,
  };
}
