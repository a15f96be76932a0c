/** Keeps what a request's JWTs say for its trace, in a sandbox only (contract TRC12). */
import { currentTrace } from "./aside.ts";
import type { ReceivedJwt } from "./request_trace.ts";

/** Of one trace. With their lengths they bound a trace, because many are stored in one commit. */
const MAX_JWTS = 3;
const MAX_TOKEN_CHARACTERS = 32_768;
const MAX_PART_CHARACTERS = 1800;
const MAX_VALUE_CHARACTERS = 120;

/**
 * Notes a JWT or a detached signature that a check is about to verify. Has no effect outside of a sandbox.
 *
 * @param name as faults name it
 */
export function noteReceived(name: string, token: string | undefined): void {
  const received = currentTrace()?.received;
  if (received === undefined || token === undefined || token.length > MAX_TOKEN_CHARACTERS) return;
  const [header, claims] = token.split(".", 2).map(decoded);
  if (header === undefined || received.length >= MAX_JWTS) return;
  const jwt: ReceivedJwt = { name, header, ...(claims === undefined ? {} : { claims }) };
  received.push(jwt);
}

function decoded(segment: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(segment, { alphabet: "base64url" });
    const text = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), shortened, 2);
    return text.length <= MAX_PART_CHARACTERS ? text : `${text.slice(0, MAX_PART_CHARACTERS)}\n...`;
  } catch {
    return undefined; // the fault says so
  }
}

/** Long values, such as keys and statements, hide the others. */
function shortened(_name: string, value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_VALUE_CHARACTERS
    ? `${value.slice(0, 20)}... (${value.length} characters)`
    : value;
}
