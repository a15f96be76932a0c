/** A trace for the page of the developer portal (contract TRC12). */
import type { ShownFault, ShownTrace } from "../../../portal/trace_page.tsx";
import { type ErrorUri, representTraceInFull } from "./trace_representation.ts";
import type { Trace } from "./trace.ts";

/** Prepares a trace for the page. Only a sandbox may call it: it shows what operators read. */
export function shownTrace(trace: Trace, errorUri: ErrorUri): ShownTrace {
  const wire = representTraceInFull(trace, errorUri);
  const ids = [
    ["Interaction id", wire.InteractionId],
    ["Time", wire.DateTime],
    ["Duration", `${wire.Milliseconds} ms`],
    ["Client", wire.ClientId],
    ["Bank", wire.Bank],
    ["Consent", wire.ConsentId],
    ["Payment", wire.DomesticPaymentId],
    ["Authorization session", wire.SessionId],
    ["Reason", wire.Rejection?.Reason],
    ["Calls", wire.Call.map(({ To, Status = "no answer" }) => `${To}: ${Status}`).join(", ")],
  ] as const;
  return {
    title: `${wire.Method} ${wire.Endpoint}`,
    status: wire.Status,
    facts: ids.flatMap(([term, value]) =>
      value === undefined || value === "" ? [] : [[term, value] as const]
    ),
    checks: wire.Check.filter(({ Name }) => Name !== "prefetch") // it rejects no request
      .map(({ Name: name, Result }) => ({ name, about: CHECKS[name], result: WORDS[Result] })),
    faults: faultsOf(wire.Rejection),
    jwts: trace.received ?? [],
  };
}

/** What each check of a participant's or a customer's request examines. */
export const CHECKS: Readonly<Record<string, string>> = {
  accessToken: "Access token, its DPoP proof and its certificate",
  activeBank: "The bank is active",
  bank: "The bank in the path",
  bankCode: "The bank in the path",
  bankItself: "The caller is the bank in the path",
  certificate: "Client certificate and its participant",
  clientAuthentication: "Client assertion and DPoP proof",
  codesFirst: "A free place: requests with a code come first",
  decode: "Fields of the body",
  fapiHeaders: "x-fapi headers",
  formBody: "The body is a form",
  idempotency: "x-idempotency-key",
  jsonBody: "The body is JSON",
  jwtBody: "The body is a JWT",
  sealedBody: "The body is an encrypted JWT",
  linkQuery: "Parameters of the link",
  payloadSignature: "x-jws-signature over the body",
  rateLimit: "Rate limit",
  strictJson: "The JSON has no member twice",
};

const WORDS = { Passed: "passed", Failed: "failed", NotReached: "not reached" } as const;

type Rejection = ReturnType<typeof representTraceInFull>["Rejection"];

function faultsOf(rejection: Rejection): readonly ShownFault[] {
  if (rejection === undefined) return [];
  const { Message, Errors = [], Url, Detail } = rejection;
  const at = Url === undefined ? {} : { href: Url };
  const told = [
    ...(Message === undefined ? [] : [{ ...partsOf(Message), ...at }]),
    ...Errors.map(({ Path, Message }) => ({
      ...partsOf(Message),
      ...(Path === undefined ? {} : { part: Path }),
      ...at,
    })),
  ];
  if (told.length > 0 || Detail === undefined) return told;
  return [{ part: "request", expected: Detail, received: "", ...at }];
}

/** The parts of an explanation (`explanation` in `base/kernel/result.ts`). Other texts are what is expected. */
function partsOf(message: string): ShownFault {
  const [, part, expected, received = ""] = /^(.+?) must be (.*?)(?:; got (.*))?\.$/.exec(message) ?? [];
  return part === undefined || expected === undefined
    ? { part: "request", expected: message, received: "" }
    : { part, expected, received };
}
