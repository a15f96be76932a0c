/**
 * Describes each message of a payment for developers, in English: which step it is, the TPP's obligations, the
 * specification and the result. Recognises a step by method, path and grant. An unknown message is described by its
 * address.
 */
import { z } from "zod";
import type { LoggedExchange } from "../../client/tpp/message_log.ts";

/** The description of one step. */
export interface MessageStep {
  readonly title: string;
  readonly text: string;
}

interface KnownStep extends MessageStep {
  readonly method: "GET" | "POST";
  /** Matches the path, without the query. */
  readonly path: RegExp;
  /** Matches a line of the form, if the path alone is ambiguous. */
  readonly line?: RegExp;
}

/** The first match is the step. */
const STEPS: readonly KnownStep[] = [
  {
    method: "GET",
    path: /\/\.well-known\/oauth-authorization-server\/[^/]+$/,
    title: "Find the bank’s authorization server",
    text:
      "Each bank has an issuer and metadata of its own (RFC 8414). The issuer is the audience of every client " +
      "assertion below, byte for byte.",
  },
  {
    method: "POST",
    path: /\/token\.oauth2\/v1$/,
    line: /^grant_type=client_credentials$/m,
    title: "Get a token for the shop itself",
    text:
      "For the consent alone. The client assertion says who asks (private_key_jwt), the DPoP proof binds the token " +
      "to a key made for this payment (RFC 9449), the TLS certificate says who calls.",
  },
  {
    method: "POST",
    path: /\/domestic-payment-consents\/v1$/,
    title: "Create the consent",
    text:
      "What the customer will be asked to agree to. x-jws-signature signs exactly these bytes; the proof carries " +
      "ath, the token’s hash; x-idempotency-key makes a retry safe.",
  },
  {
    method: "GET",
    path: /\/jwks$/,
    title: "Fetch the platform’s keys",
    text:
      "To verify x-jws-signature of its answers, over the bytes received and before anything is read from them.",
  },
  {
    method: "POST",
    path: /\/par\.oauth2\/v1$/,
    title: "Push the authorization request",
    text:
      "Nothing of it travels through the browser (RFC 9126). code_challenge is PKCE with S256; dpop_jkt binds the " +
      "code to the same key as the tokens. The answer’s request_uri is for one use and expires_in seconds.",
  },
  {
    method: "GET",
    path: /\/authorization\.oauth2$/,
    title: "Send the customer to the platform",
    text:
      "Only client_id and request_uri. From here the platform hands the customer to the bank and takes them back, " +
      "each time in a signed and encrypted JWT that the shop never sees. The next message is their return.",
  },
  {
    method: "GET",
    path: /\/callback$/,
    line: /^error=/m,
    title: "The customer comes back with an error",
    text:
      "state must be the shop’s own and iss the issuer from above (RFC 9207), as with a code. Nothing can be paid.",
  },
  {
    method: "GET",
    path: /\/callback$/,
    title: "The customer comes back with a code",
    text:
      "Before the code is used: state must be the shop’s own, iss the issuer from above (RFC 9207), each " +
      "parameter there once.",
  },
  {
    method: "POST",
    path: /\/token\.oauth2\/v1$/,
    line: /^grant_type=authorization_code$/m,
    title: "Exchange the code for a token",
    text:
      "With the code_verifier, the same redirect_uri and a proof by the same key. This token can pay, once.",
  },
  {
    method: "POST",
    path: /\/domestic-payments\/v1$/,
    title: "Make the payment",
    text:
      "Initiation and Risk exactly as in the consent. Where no answer comes, the same body is sent again with the " +
      "same x-idempotency-key, so that it counts once.",
  },
  {
    method: "GET",
    path: /\/domestic-payments\/v1\/[^/]+$/,
    title: "Read how the payment goes",
    text: "Pending until the bank has answered; then the bank reports each step of the settlement.",
  },
];

/** The step of one message. */
export function stepOf({ method, url, request }: LoggedExchange): MessageStep {
  const { pathname } = new URL(url);
  const known = STEPS.find((step) =>
    step.method === method && step.path.test(pathname) && (step.line?.test(request.body) ?? true)
  );
  return known ?? { title: `${method} ${pathname}`, text: "" };
}

const resource = z.object({ Data: z.object({ Status: z.string() }) }).transform(({ Data }) =>
  `Data.Status: ${Data.Status}`
);
const resourceErrors = z.object({
  Errors: z.array(
    z.object({ ErrorCode: z.string(), Path: z.string().optional(), Message: z.string().optional() }),
  ),
}).transform(({ Errors }) =>
  Errors.map(({ ErrorCode, Path, Message }) => [ErrorCode, Path, Message].filter(Boolean).join(" ")).join(
    "; ",
  )
);
const oauthError = z.object({ error: z.string(), error_description: z.string().optional() })
  .transform(({ error, error_description }) => [error, error_description].filter(Boolean).join(": "));
const answered = z.union([resource, resourceErrors, oauthError]);

/**
 * The result of a message: a status or an error of the platform, or the reason why there was no response. Undefined if
 * the response contains neither.
 */
export function resultOf({ request, response, note, tookMs }: LoggedExchange): string | undefined {
  if (response === undefined) return tookMs === undefined ? /^error=(.*)$/m.exec(request.body)?.[1] : note;
  try {
    return answered.safeParse(JSON.parse(response.body)).data;
  } catch {
    return undefined; // the response may be empty, or HTML from an intermediary
  }
}
