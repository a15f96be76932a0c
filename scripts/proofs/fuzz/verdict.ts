/**
 * Checks the effects of an attempt: no server error, a correct rejection, no state change by it, and no forgery
 * accepted.
 */
import type { Impact } from "./targets.ts";
import type { Answer, Sample, Surface } from "./parts.ts";
import { type Attempt, type Host, pathnameOf } from "./sample_request.ts";
import { BROWSER_HEADERS } from "../../testing/front_channel.ts";
import { jsonIfAny } from "../../../src/base/kernel/json.ts";

/** Describes the fault, or undefined. */
export function verdict(
  sample: Sample,
  attempt: Attempt,
  { answer, failures, written }: Impact,
): string | undefined {
  if (answer === undefined) return `the app threw: ${failures.join(" ")}`;
  const { status } = answer;
  const unavailable = status === 503 && sample.mayBeUnavailable?.(attempt) === true;
  if (status >= 500 && !unavailable) return `answered with ${status}: ${failures.join(" ")}`;
  if (failures.length > 0) return `logged a failure: ${failures.join(" ")}`;
  return status >= 400
    ? rejectionFault(sample, attempt, answer, written)
    : acceptanceFault(sample, attempt, answer, written);
}

function rejectionFault(
  sample: Sample,
  attempt: Attempt,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const changed = written.filter((kind) => sample.mayWrite?.includes(kind) !== true);
  if (changed.length > 0) return `rejected with ${answer.status}, and yet wrote ${changed.join(", ")}`;
  const wrong = errorFault(surfacesOf(sample, attempt), answer, attempt);
  return wrong === undefined ? undefined : `rejected with ${answer.status} in the wrong form: ${wrong}`;
}

/** A request with another path may have reached another endpoint of its host. */
function surfacesOf(sample: Sample, attempt: Attempt): readonly Surface[] {
  if (attempt.path === sample.attempt.path && attempt.method === sample.attempt.method) {
    return [sample.surface];
  }
  if (attempt.host === "directory") return ["directory"];
  return attempt.host === "api" ? ["oauth", "resource"] : ["oauth", "page"];
}

function acceptanceFault(
  { attempt: good, parts }: Sample,
  attempt: Attempt,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const reads = attempt.method === "GET" || attempt.method === "HEAD";
  if (reads && attempt.host !== "browser" && written.length > 0) {
    return `wrote ${written.join(", ")} at a ${attempt.method}`;
  }
  const wrong = answerFault(answer, attempt);
  if (wrong !== undefined) return wrong;
  const elsewhere = attempt.host !== "api" &&
    (pathnameOf(attempt) !== pathnameOf(good) || attempt.method !== good.method);
  if (elsewhere) return undefined; // a public page
  return parts.map((part) => part.fault(attempt, answer)).find((fault) => fault !== undefined);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const WORDS = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/; // RFC 6749 §5.2
const PROGRAM = /\bat \w+.*\.[jt]sx?:\d+:\d+|\.tsx?\b|node_modules|Error:|\[object |SQLITE/;
const BODIED = [400, 403, 413, 415];
const BARE = [401, 404, 405, 406, 429];
const ELSEWHERE = ["https://bank-a.example/sca?", "https://shop.example/callback?", "/participants"];

type Judge = (answer: Answer, headless: boolean) => string | undefined;

/** The fault of an error response that must have one of these forms. */
function errorFault(
  surfaces: readonly Surface[],
  answer: Answer,
  attempt: Attempt,
): string | undefined {
  const headless = attempt.method === "HEAD"; // an answer to HEAD has no body
  const faults = surfaces.map((surface) => JUDGES[surface](answer, headless));
  if (PROGRAM.test(answer.text)) return `the words of a program: ${answer.text}`;
  return faults.includes(undefined) ? undefined : faults[0];
}

/** The documentation's own script, which is a file. */
const OWN_SCRIPT = /<script src="\/assets\/portal\.js" defer(?:="")?><\/script>/g;

/** Where a host's own redirects lead. `/` leads to the documentation, and for operators to the console. */
const OWN_PLACES: Readonly<Record<Host, readonly string[]>> = {
  api: [],
  browser: ["https://auth.platform.example/", "/docs"],
  operations: ["/console"],
  directory: [],
};

/** The fault of any other response: an unexpected redirect or script. */
function answerFault({ status, headers, text }: Answer, attempt: Attempt): string | undefined {
  const html = headers.get("content-type")?.startsWith("text/html") === true;
  if (html && /<script/i.test(text.replaceAll(OWN_SCRIPT, ""))) return "a script in the page";
  const location = headers.get("location");
  if (location === null) return status >= 300 && status < 400 && status !== 304 ? "no Location" : undefined;
  return [...ELSEWHERE, ...OWN_PLACES[attempt.host]].some((place) => location.startsWith(place))
    ? undefined
    : `sent to ${location}`;
}

const JUDGES: Readonly<Record<Surface, Judge>> = {
  oauth: (answer, headless) => commonFault(answer) ?? (headless ? undefined : pairFault(answer)),
  resource: (answer, headless) => commonFault(answer) ?? resourceFault(answer, headless),
  page: (answer, headless) => commonFault(answer) ?? pageFault(answer, headless),
  directory: (answer, headless) => directoryFault(answer) ?? (headless ? undefined : pairFault(answer)),
};

function commonFault({ headers }: Answer): string | undefined {
  if (headers.get("cache-control") !== "no-store") return "not no-store";
  if (headers.get("x-content-type-options") !== "nosniff") return "no nosniff";
  if (headers.get("location") !== null) return "a Location";
  return UUID.test(headers.get("x-fapi-interaction-id") ?? "") ? undefined : "no interaction id";
}

/** `{error, error_description}` (RFC 6749 §5.2). */
function pairFault({ status, headers, text }: Answer): string | undefined {
  if (![400, 401, 404, 405, 409, 413, 415, 429, 503].includes(status)) return `status ${status}`;
  if (status === 503 && !headers.has("retry-after")) return "no Retry-After";
  if (headers.get("content-type") !== "application/json") return "content type";
  if (status === 405 && !headers.has("allow")) return "no Allow";
  const { error_uri: uri, ...body } = parsed(text);
  if (Object.keys(body).join() !== "error,error_description") return "members";
  if (uri !== undefined && !URL.canParse(String(uri))) return "error_uri";
  return [body["error"], body["error_description"]].every((words) => WORDS.test(String(words)))
    ? undefined
    : "words";
}

function resourceFault(answer: Answer, headless: boolean): string | undefined {
  const { status, headers, text } = answer;
  const challenged = headers.get("www-authenticate")?.startsWith("DPoP ") === true;
  if ((status === 401 || status === 403) && !challenged) return "no challenge";
  if (status === 405 && !headers.has("allow")) return "no Allow";
  if (BARE.includes(status)) return text === "" && !headers.has("content-type") ? undefined : "a body";
  if (!BODIED.includes(status)) return `status ${status}`;
  if (headers.get("content-type") !== "application/json; charset=utf-8") return "content type";
  if (!/^[\w-]+\.\.[\w-]+$/.test(headers.get("x-jws-signature") ?? "")) return "not signed";
  return headless ? undefined : faultsFault(parsed(text), status);
}

/** `OBErrorResponse1` (contract EB1 to EB4). */
function faultsFault(body: Readonly<Record<string, unknown>>, status: number): string | undefined {
  const { Code, Id, Message, Errors } = body;
  if (Object.keys(body).join() !== "Code,Id,Message,Errors") return "members";
  if (!String(Code).startsWith(`${status} `) || !UUID.test(String(Id)) || !isShort(Message)) {
    return "Code, Id or Message";
  }
  const listed = Array.isArray(Errors) && Errors.length >= 1 && Errors.length <= 20;
  if (!listed) return "Errors";
  const good = Errors.every(({ ErrorCode, Message: words, Path, Url, ...rest }) =>
    /^UK\.OBIE\.[A-Za-z]+(\.[A-Za-z]+)?$/.test(ErrorCode) && isShort(words) &&
    (Path === undefined || isShort(Path)) &&
    (Url === undefined || URL.canParse(Url)) &&
    Object.keys(rest).length === 0
  );
  return good ? undefined : "an entry of Errors";
}

function pageFault({ status, headers, text }: Answer, headless: boolean): string | undefined {
  if (![400, 404, 405, 413, 415, 429].includes(status)) return `status ${status}`;
  if (headers.get("content-type") !== "text/html; charset=utf-8") return "content type";
  const missing = Object.entries(BROWSER_HEADERS).find(([name, value]) => headers.get(name) !== value);
  if (missing !== undefined) return missing[0];
  return headless || /<h1[^>]*>[^<]+/.test(text) ? undefined : "no heading";
}

function directoryFault({ headers }: Answer): string | undefined {
  if (headers.get("cache-control") !== "no-store") return "not no-store";
  return UUID.test(headers.get("x-request-id") ?? "") ? undefined : "no request id";
}

function isShort(text: unknown): boolean {
  return typeof text === "string" && text !== "" && text.length <= 500;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  return Object(jsonIfAny(text));
}
