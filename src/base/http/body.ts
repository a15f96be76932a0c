/**
 * Reads request bodies once and up to a limit. A JSON body stays bytes, because its signature is verified over
 * exactly these bytes before it is parsed. A form that repeats a parameter is rejected.
 */
import { createMiddleware } from "hono/factory";
import type { Context } from "hono";
import { ApiError, type ApiErrorParts } from "../kernel/api_error.ts";
import { mismatch, quote } from "../kernel/result.ts";
import { strictJson, utf8Text } from "../kernel/json.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import { releasePlaceWhile } from "./context.ts";

/**
 * Time from the end of a request's header to the end of its body. The proxy has the whole request before it sends any
 * of it.
 */
const BODY_MS = 5000;

/** Set by {@link jsonBody}. */
export interface BodyVariables {
  body: Uint8Array<ArrayBuffer>;
}

/** Set by {@link formBody}. */
export interface FormVariables {
  form: Form;
}

/** The parameters of a form. Each name occurs once, and empty parameters are omitted (RFC 6749 §3.1, §3.2). */
export type Form = ReadonlyMap<string, string>;

/** Middleware: checks media type, content coding and size, then reads the bytes of the body. */
export const jsonBody = createMiddleware<{ Variables: BodyVariables }>(async function jsonBody(c, next) {
  c.set("body", await readJsonBytes(c));
  await next();
});

/** Middleware: parses the bytes of a body that is not signed. */
export const unsignedJson = createMiddleware<{ Variables: BodyVariables & { json: unknown } }>(
  async function strictJson(c, next) {
    c.set("json", parseStrictJson(c.get("body")));
    await next();
  },
);

/**
 * Reads the bytes of a JSON body, unparsed.
 *
 * @throws {ApiError} `request.unsupported_media_type`, `request.unsupported_content_encoding`, or as {@link readBytes}
 */
export async function readJsonBytes(c: Context): Promise<Uint8Array<ArrayBuffer>> {
  if (mediaType(c) !== "application/json") {
    throw wrongType(c, "application/json", headerFault("Content-Type"));
  }
  rejectContentCoding(c);
  return await readBytes(c.req.raw, MAX_BODY_BYTES);
}

/** Middleware: {@link readForm}. */
export const formBody = createMiddleware<{ Variables: FormVariables }>(async function formBody(c, next) {
  c.set("form", await readForm(c));
  await next();
});

/**
 * Reads the parameters of a form body.
 *
 * @throws {ApiError} if the media type is wrong, the body is too large or not UTF-8, an escape is malformed, or a
 * parameter is repeated
 */
export async function readForm(c: Context): Promise<Form> {
  if (mediaType(c) !== "application/x-www-form-urlencoded") {
    throw wrongType(c, "application/x-www-form-urlencoded");
  }
  rejectContentCoding(c);
  return parseForm(formText(await readBytes(c.req.raw, MAX_BODY_BYTES)));
}

/**
 * Parses form text or a query string.
 *
 * @throws {ApiError} `request.malformed_form` if an escape is malformed or a parameter is repeated
 */
export function parseForm(text: string): Form {
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const pair of text.split("&").filter((part) => part !== "")) {
    const cut = pair.indexOf("=");
    const name = unescape(cut < 0 ? pair : pair.slice(0, cut));
    const value = cut < 0 ? "" : unescape(pair.slice(cut + 1));
    if (seen.has(name)) {
      throw new ApiError("request.malformed_form", {
        detail: "parameter twice",
        description: "A parameter was sent more than once.",
      });
    }
    seen.add(name);
    if (value !== "") form.set(name, value);
  }
  return form;
}

/**
 * Reads at most `limit` bytes in at most {@link BODY_MS} (Decision F8), so that a slow client cannot hold a request open or delay a
 * shutdown. Meanwhile the request has released its place in the admission control.
 *
 * @throws {ApiError} `request.too_large`, or `request.incomplete` if the rest of the body does not arrive
 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw new ApiError("request.too_large");
  return await releasePlaceWhile(() => readInTime(request, limit));
}

async function readInTime(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(new ApiError("request.incomplete", "the body did not arrive in time"));
  const timer = setTimeout(late, BODY_MS);
  try {
    return await Promise.race([readAll(reader, limit), tooLate]);
  } catch (error) {
    void reader.cancel().catch(() => {}); // the connection may be gone
    throw error instanceof ApiError ? error : new ApiError("request.incomplete", "the connection was closed");
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > limit) throw new ApiError("request.too_large");
    chunks.push(part.value);
  }
  return joinChunks(chunks, size);
}

/**
 * Returns the media type in lower case without parameters, or "" if it has a parameter other than a UTF-8 charset.
 * An empty parameter is none (RFC 9110 §5.6.6).
 */
export function mediaType(c: Context): string {
  const [type = "", ...parameters] = (c.req.header("content-type") ?? "").split(";").map((part) =>
    part.trim().toLowerCase()
  );
  return parameters.every((parameter) => parameter === "" || /^charset="?utf-8"?$/.test(parameter))
    ? type
    : "";
}

/** Rejects gzip and other codings, so that the signed bytes are unambiguous (RFC 7797 §5.1). */
export function rejectContentCoding(c: Context): void {
  const coding = c.req.header("content-encoding")?.trim().toLowerCase();
  if (coding !== undefined && coding !== "identity") {
    const expected = "absent, because the signature covers the bytes as sent";
    const { fault } = mismatch("Content-Encoding", expected, coding);
    throw new ApiError("request.unsupported_content_encoding", { ...headerFault("Content-Encoding"), fault });
  }
}

/** Joins chunks of `size` bytes in all. */
export function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function wrongType(c: Context, expected: string, parts: ApiErrorParts = {}): ApiError {
  const { fault } = mismatch("Content-Type", quote(expected), c.req.header("content-type"));
  return new ApiError("request.unsupported_media_type", { ...parts, fault });
}

function headerFault(name: string): { faults: [{ code: "Header.Invalid"; path: string; message: string }] } {
  return { faults: [{ code: "Header.Invalid", path: name, message: `${name} is not acceptable here.` }] };
}

function formText(bytes: Uint8Array): string {
  const text = utf8Text(bytes);
  if (text === undefined) throw new ApiError("request.malformed_form", "body is not UTF-8");
  return text;
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new ApiError("request.malformed_form", "malformed percent escape");
  }
}

// Parses request bytes strictly as JSON. Does not check the content of the value.

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses one JSON value from UTF-8 without a byte order mark, by the rules of `strictJson`.
 *
 * @throws {ApiError} `resource.invalid_format`. The message never quotes the input.
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = utf8Text(bytes);
  if (text === undefined) throw bodyError("is not UTF-8");
  if (text.startsWith(BYTE_ORDER_MARK)) throw bodyError("begins with a byte order mark"); // RFC 8259 §8.1
  const parsed = strictJson(text);
  if (!parsed.ok) throw bodyError(parsed.fault);
  return parsed.value;
}

function bodyError(why: string): ApiError {
  return new ApiError("resource.invalid_format", {
    detail: why,
    faults: [{ code: "Resource.InvalidFormat", message: `The body ${why}.` }],
  });
}

// Content negotiation (RFC 9110 §12.5.1). Browsers name `text/html` in `Accept`, programs do not.

const HTML = "text/html";
const JSON_TYPE = "application/json";

/**
 * Whether `Accept` admits JSON: the most specific of its ranges decides, and `q=0` is a refusal. Without a range it
 * admits everything. Older clients write the range of all types as `*`.
 */
export function acceptsJson(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map(rangeOf).filter(([type]) => type !== "");
  if (ranges.length === 0) return true;
  const qualities = new Map(ranges);
  const quality = [JSON_TYPE, "application/*", "*/*", "*"].map((type) => qualities.get(type))
    .find((each) => each !== undefined);
  return quality !== undefined && quality > 0;
}

/** Whether `Accept` names HTML and does not prefer JSON to it. Wildcards are ignored. */
export function prefersHtml(accept: string | undefined): boolean {
  const qualities = new Map((accept ?? "").split(",").map(rangeOf));
  const html = qualities.get(HTML) ?? 0;
  return html > 0 && html >= (qualities.get(JSON_TYPE) ?? 0);
}

function rangeOf(element: string): [type: string, quality: number] {
  const [type = "", ...parameters] = element.toLowerCase().split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const number = quality === undefined ? 1 : Number(quality);
  return [type, Number.isNaN(number) ? 0 : number];
}
