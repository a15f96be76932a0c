/** Changes that need two operators, if the deployment is configured so: one proposes, another one approves (contract FE1). */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Context } from "hono";
import type { FourEyesChange } from "../../config/config_variables.ts";
import type { Person } from "../../../base/http/bearer.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";

const RECONCILE = "POST /operations/order-holds/{bank}/reconcile";
const REDRIVE = "POST /operations/payment-orders/{paymentId}/redrive";

/** The endpoint of each change. */
const ENDPOINTS: Readonly<Record<FourEyesChange, string>> = {
  "erase-case": "POST /operations/cases/{id}/erasure",
  "close-order": "POST /operations/payment-orders/{paymentId}/close",
  "release-restored": "POST /operations/order-holds/{bank}/release",
  "revoke-tokens": "POST /operations/software/{id}/revoke-tokens",
  "block-organisation": "POST /operations/organisations/{id}/block",
  "block-software": "POST /operations/software/{id}/block",
  "unblock-organisation": "POST /operations/organisations/{id}/unblock",
  "unblock-software": "POST /operations/software/{id}/unblock",
  "release-bank": "POST /operations/banks/{id}/release",
  "reconcile": RECONCILE,
  "redrive": REDRIVE,
};

/** The reason of a change whose request has none. */
const UNREASONED: Readonly<Record<string, string>> = {
  [RECONCILE]: "Compare the next page of the bank's statement.",
  [REDRIVE]: "Push the order again.",
};

export function fourEyesEndpoints(changes: readonly FourEyesChange[]): ReadonlySet<string> {
  return new Set(changes.map((name) => ENDPOINTS[name]));
}

/** A change as one operator has sent it. */
export interface ProposedChange {
  readonly endpoint: string;
  /** As sent, and as a URL has it ({@link isExactPath}). */
  readonly path: string;
  readonly contentType: "application/json" | "text/plain";
  readonly body: string;
  readonly reason: string;
  /** `operator <name>`. */
  readonly who: string;
  /** Who the operator is at the OpenID provider, if that is known. */
  readonly person?: string;
}

export interface FourEyes {
  /** The endpoints whose changes need two people. */
  readonly endpoints: ReadonlySet<string>;
  /** Stores a proposal, and returns its id and when it expires (milliseconds). @throws {ApiError} `operations.conflict` */
  propose(change: ProposedChange): Promise<{ readonly id: string; readonly expiresAt: WallTime }>;
}

/** Largest body in UTF-16 code units, because a second operator reads the whole of it. */
const MAX_BODY = 4000;
const REASON = /^[^\p{Cc}]{10,500}$/u;

/** Whether a URL has exactly this path. `\\` and `%2e%2e` would become another path when the change is carried out. */
export function isExactPath(path: string): boolean {
  return URL.parse(path, "http://operations.invalid")?.pathname === path;
}

/** Reads the change of a request whose checks have decoded its body. @throws {ApiError} `operations.invalid_request` */
export function changeOf(c: Context, endpoint: string): ProposedChange {
  const { path } = c.req;
  if (!isExactPath(path)) {
    throw new ApiError("operations.invalid_request", {
      description: "The path must be normalised: no backslash, no dot segment, and other characters encoded.",
    });
  }
  const { command, text = "", operator, person: { person } } = c.var as {
    readonly command?: { readonly Data: { readonly Reason: string } };
    readonly text?: string;
    readonly operator: string;
    readonly person: Person;
  };
  const reason = UNREASONED[endpoint] ?? command?.Data.Reason ?? text;
  if (!REASON.test(reason)) {
    throw new ApiError("operations.invalid_request", {
      description: "A reason of 10 to 500 characters is missing.",
    });
  }
  const sent = command === undefined
    ? { contentType: "text/plain" as const, body: text }
    : { contentType: "application/json" as const, body: JSON.stringify(command) };
  if (sent.body.length > MAX_BODY) {
    throw new ApiError("operations.invalid_request", {
      description: `The body has more than ${MAX_BODY} characters.`,
    });
  }
  return { endpoint, path, ...sent, reason, who: operator, ...(person === undefined ? {} : { person }) };
}
