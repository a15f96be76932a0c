/** The query of a list of consents or payments (contract LS2). */
import { z } from "@hono/zod-openapi";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import { MAX_FAULTS } from "../http/decode.ts";
import type { Span } from "./lookup_store.ts";

/** Which entries of a list are asked for. */
export interface ListQuery extends Span {
  readonly status: string | undefined;
  readonly endToEndId: string | undefined;
  /** The `After` of an earlier page. */
  readonly after: string | undefined;
}

const CURSOR = /^\d{15}-[0-9a-f-]{36}$/;
const MAX_END_TO_END_ID = 35; // contract CF7
const EVER: Span = { from: 0, until: Number.MAX_SAFE_INTEGER };
const NAMES = ["from", "until", "status", "end-to-end-id", "after"] as const;
type Name = typeof NAMES[number];

/** The description of lists for TPPs, for the OpenAPI document. */
export const LIST_DESCRIPTION =
  "Go on with `after` from the `After` of a page, with the same parameters, until there is none. A page can be " +
  "short or empty if a parameter filters, and can repeat the youngest entries of the page before. If `After` is the one that you " +
  "have sent, wait 30 s: the entries behind it are too young. The parameters " +
  "filter by the time of creation, the current status and the `EndToEndIdentification`. Lists have a rate limit of " +
  "their own: 429 with `Retry-After`.";

const moment = z.string().openapi({ format: "date-time", example: "2040-01-15T00:00:00Z" });

/** The query parameters of a list, for the OpenAPI document. */
export function listParameters<S extends string>(statuses: readonly [S, ...S[]]): z.ZodObject {
  return z.object({
    from: moment.optional().openapi({ description: "Created then or later." }),
    until: moment.optional().openapi({ description: "Created before." }),
    status: z.enum(statuses).optional(),
    "end-to-end-id": z.string().max(MAX_END_TO_END_ID).optional(),
    after: z.string().optional().openapi({
      pattern: CURSOR.source,
      description: "The `After` of an earlier page.",
    }),
  });
}

/**
 * Parses the query. An unknown or repeated parameter is a typing error, which would show more than was asked for.
 *
 * @throws {ApiError} `resource.invalid_fields`
 */
export function decodeListQuery(
  query: Readonly<Record<string, string[]>>,
  statuses: readonly string[],
): ListQuery {
  const faults = nameFaults(query, NAMES);
  const read = <T>(name: Name, { parse, must }: Parameter<T>): T | undefined => {
    const [text] = query[name] ?? [];
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      faults.push({ code: "Field.Invalid", path: name, message: `Must be ${must}.` });
    }
    return value;
  };
  const asked = {
    from: read("from", TIME) ?? EVER.from,
    until: read("until", TIME) ?? EVER.until,
    status: read("status", oneOf(statuses)),
    endToEndId: read("end-to-end-id", END_TO_END_ID),
    after: read("after", AFTER),
  };
  if (asked.from >= asked.until) {
    faults.push({ code: "Field.Invalid", path: "until", message: "Must be later than from." });
  }
  rejectFaults(faults);
  return asked;
}

/**
 * Rejects parameters that the request does not use, and repeated ones. An ignored parameter would show more, or other
 * entries, than were asked for.
 *
 * @throws {ApiError} `resource.invalid_fields`
 */
export function expectParameters(query: Readonly<Record<string, string[]>>, known: readonly string[]): void {
  rejectFaults(nameFaults(query, known));
}

function rejectFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) {
    throw new ApiError("resource.invalid_fields", { faults: faults.slice(0, MAX_FAULTS) });
  }
}

function nameFaults(query: Readonly<Record<string, string[]>>, known: readonly string[]): Fault[] {
  return Object.entries(query).flatMap(([name, values]) =>
    known.includes(name) ? timesFaults(name, values.length) : [unknownFault(name, known)]
  );
}

/** How the text of a parameter is parsed. */
interface Parameter<T> {
  /** Returns undefined if the text is malformed. */
  readonly parse: (text: string) => T | undefined;
  readonly must: string;
}

const TIME: Parameter<number> = {
  parse: instantOf,
  must: "a date and time with an offset, such as 2040-01-15T00:00:00Z (the + of an offset is %2B in a URL)",
};
const END_TO_END_ID: Parameter<string> = {
  parse: (text) => text !== "" && text.length <= MAX_END_TO_END_ID ? text : undefined,
  must: `an end-to-end id of 1 to ${MAX_END_TO_END_ID} characters`,
};
const AFTER: Parameter<string> = {
  parse: (text) => CURSOR.test(text) ? text : undefined,
  must: "the After of an earlier page",
};

function oneOf(statuses: readonly string[]): Parameter<string> {
  return {
    parse: (text) => statuses.find((status) => status === text),
    must: `one of: ${statuses.join(", ")}`,
  };
}

/** Other names are the caller's text and never shown. */
const SHOWABLE = /^[A-Za-z_-]{1,64}$/;

function unknownFault(name: string, known: readonly string[]): Fault {
  const path = SHOWABLE.test(name) ? name : "query";
  return {
    code: "Field.Unexpected",
    path,
    message: `Must be omitted. The parameters of this request are ${known.join(", ")}.`,
  };
}

function timesFaults(name: string, times: number): readonly Fault[] {
  return times > 1 ? [{ code: "Field.Invalid", path: name, message: "Must be sent once." }] : [];
}
