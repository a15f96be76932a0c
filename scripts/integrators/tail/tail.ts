/** Follows the rejected requests of a running sandbox: its log names them, and their traces say what was wrong. */
import { z } from "zod";
import { type ApiTools, callOperations, type Operator } from "../../operators/operations_api/client.ts";
import { jsonIfAny } from "../../../src/base/kernel/json.ts";

/** A rejected request as the log has it. */
const rejectedLine = z.looseObject({ event: z.string(), interactionId: z.uuid() });
const EVENTS: ReadonlySet<string> = new Set(["request.rejected", "bank_return.unusable"]);

const found = z.object({
  Data: z.object({
    Trace: z.array(z.looseObject({
      DateTime: z.string(),
      Method: z.string(),
      Endpoint: z.string(),
      Status: z.int(),
      ClientId: z.string().optional(),
      Rejection: z.looseObject({
        Reason: z.string(),
        Message: z.string().optional(),
        Detail: z.string().optional(),
        Errors: z.array(z.looseObject({ Path: z.string().optional(), Message: z.string() })).optional(),
      }).optional(),
    })),
  }),
});
type FoundTrace = z.infer<typeof found>["Data"]["Trace"][number];

export interface TailDeps extends Pick<ApiTools, "fetch"> {
  readonly operator: Operator;
  /** The platform's browser host, which has the page of traces. */
  readonly authUrl: string;
  readonly print: (line: string) => void;
}

/** A trace is stored a second after its request. */
const TRACE_MS = 1500;
const POLL_MS = 250;
const CHUNK_BYTES = 65_536;

/** Follows the log from its present end until the signal. */
export async function followRejections(log: string, deps: TailDeps, signal: AbortSignal): Promise<void> {
  using file = await Deno.open(log);
  let at = (await file.stat()).size;
  let rest = "";
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(CHUNK_BYTES);
  while (!signal.aborted) {
    const { size } = await file.stat();
    if (size < at) at = 0; // a start has truncated it
    await file.seek(at, Deno.SeekMode.Start);
    const read = await file.read(chunk) ?? 0;
    at += read;
    const lines = (rest + decoder.decode(chunk.subarray(0, read), { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    const ids = rejectedIn(lines);
    if (ids.length > 0) await pause(TRACE_MS, signal);
    for (const id of ids) await explain(id, deps);
    if (read === 0) await pause(POLL_MS, signal);
  }
}

function rejectedIn(lines: readonly string[]): readonly string[] {
  const ids = lines.flatMap((line) => {
    const known = rejectedLine.safeParse(jsonIfAny(line));
    return known.success && EVENTS.has(known.data.event) ? [known.data.interactionId] : [];
  });
  return [...new Set(ids)];
}

async function explain(id: string, { operator, authUrl, print, ...tools }: TailDeps): Promise<void> {
  for (const trace of await tracesOf(id, operator, tools)) {
    for (const line of formatTrace(trace)) print(line);
    print(`  ${authUrl}/docs/traces?id=${id}`);
  }
}

async function tracesOf(
  id: string,
  operator: Operator,
  tools: Pick<ApiTools, "fetch">,
): Promise<readonly FoundTrace[]> {
  const answer = await callOperations(tools, operator, `/search?q=${id}`);
  return found.safeParse(answer.json).data?.Data.Trace ?? [];
}

/** Why the platform rejected a request: what its trace names, or undefined if none is there within `seconds`. */
export async function whyRejected(
  id: string,
  operator: Operator,
  { fetch, seconds }: Pick<ApiTools, "fetch"> & { readonly seconds: number },
): Promise<string | undefined> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const rejected = (await tracesOf(id, operator, { fetch })).find(({ Rejection }) =>
      Rejection !== undefined
    );
    if (rejected !== undefined) return explainRejection(rejected).join("; ");
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return undefined;
}

function formatTrace(trace: FoundTrace): readonly string[] {
  const { DateTime, Method, Endpoint, Status, ClientId, Rejection } = trace;
  const reason = Rejection?.Reason ?? "";
  return [
    `${DateTime.slice(11, 19)} ${Status} ${Method} ${Endpoint} ${reason} ${ClientId ?? "an unproven caller"}`,
    ...explainRejection(trace).map((text) => `  ${text}`),
  ];
}

function explainRejection({ Rejection }: FoundTrace): readonly string[] {
  const { Message, Detail, Errors = [] } = Rejection ?? {};
  const words = [
    ...(Message === undefined ? [] : [Message]),
    ...Errors.map(({ Path, Message }) => Path === undefined ? Message : `${Path}: ${Message}`),
  ];
  return words.length > 0 ? words : Detail === undefined ? [] : [Detail];
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
  });
}
