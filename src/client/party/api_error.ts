/**
 * Reads API errors in all their forms (OBIE bodies, OAuth bodies, bare 401 responses) as one error with one sentence.
 */
import * as z from "zod/mini";

/** The platform rejected a request. `codes` are `UK.OBIE.*` or OAuth error codes, all that the response named. */
export class ApiErrorResponse extends Error {
  override readonly name = "ApiErrorResponse";
  readonly status: number;
  readonly codes: readonly string[];
  /** The platform's `Retry-After`, seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, codes: readonly string[], message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.codes = codes;
    this.retryAfter = retryAfter;
  }
}

const obieError = z.object({
  Errors: z.array(
    z.object({ ErrorCode: z.string(), Message: z.optional(z.string()), Path: z.optional(z.string()) }),
  ),
});
const oauthError = z.object({ error: z.string(), error_description: z.optional(z.string()) });

/** The content of `WWW-Authenticate` (RFC 6750 §3). */
export interface ChallengeWords {
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

/** Reads a rejection from a response and its body or, if the body is empty, from its challenge. */
export function readRejection(
  response: Pick<Response, "status" | "headers">,
  body: string,
  challenge: ChallengeWords = {},
): ApiErrorResponse {
  const { codes, words } = readBody(body, challenge);
  return new ApiErrorResponse(
    response.status,
    codes,
    `${response.status}: ${words}`,
    retryAfterOf(response.headers),
  );
}

/** Returns the seconds of a `Retry-After` in numbers, the only form that the platform sends. */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

function readBody(
  body: string,
  challenge: ChallengeWords,
): { readonly codes: readonly string[]; readonly words: string } {
  const json = parseJson(body);
  const obie = obieError.safeParse(json);
  if (obie.success) {
    const sentences = obie.data.Errors.map(({ ErrorCode, Path, Message }) =>
      [ErrorCode, Path === undefined ? undefined : `(${Path})`, Message].filter(Boolean).join(" ")
    );
    return { codes: obie.data.Errors.map(({ ErrorCode }) => ErrorCode), words: sentences.join("; ") };
  }
  const oauth = oauthError.safeParse(json);
  if (oauth.success) {
    const { error, error_description } = oauth.data;
    return { codes: [error], words: `${error} ${error_description ?? ""}`.trimEnd() };
  }
  const codes = challenge.error === undefined ? [] : [challenge.error];
  const words = [challenge.error, challenge.description].filter((word) => word !== undefined).join(" ");
  return { codes, words: words || "no reason given" };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // 401 has no body; an intermediary may answer with HTML
  }
}
