/**
 * Reads API errors in all their forms (OBIE bodies, OAuth bodies, bare 401 responses) as one error with one sentence.
 */
import { z } from "zod";

/** The platform rejected a request. `codes` are `UK.OBIE.*` or OAuth error codes, all that the response named. */
export class ApiErrorResponse extends Error {
  override readonly name = "ApiErrorResponse";
  readonly status: number;
  readonly codes: readonly string[];

  constructor(status: number, codes: readonly string[], message: string) {
    super(message);
    this.status = status;
    this.codes = codes;
  }
}

const obieError = z.object({
  Errors: z.array(
    z.object({ ErrorCode: z.string(), Message: z.string().optional(), Path: z.string().optional() }),
  ),
});
const oauthError = z.object({ error: z.string(), error_description: z.string().optional() });

/** Reads a rejection from a response's status and body or, if the body is empty, from its challenge's error code. */
export function readRejection(status: number, body: string, challengeError?: string): ApiErrorResponse {
  const json = parsed(body);
  const obie = obieError.safeParse(json);
  if (obie.success) {
    const sentences = obie.data.Errors.map(({ ErrorCode, Path, Message }) =>
      [ErrorCode, Path === undefined ? undefined : `(${Path})`, Message].filter(Boolean).join(" ")
    );
    return new ApiErrorResponse(
      status,
      obie.data.Errors.map((e) => e.ErrorCode),
      `${status}: ${sentences.join("; ")}`,
    );
  }
  const oauth = oauthError.safeParse(json);
  if (oauth.success) {
    const { error, error_description } = oauth.data;
    return new ApiErrorResponse(status, [error], `${status}: ${error} ${error_description ?? ""}`.trimEnd());
  }
  const codes = challengeError === undefined ? [] : [challengeError];
  return new ApiErrorResponse(status, codes, `${status}: ${challengeError ?? "no reason given"}`);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // 401 has no body; an intermediary may answer with HTML
  }
}
