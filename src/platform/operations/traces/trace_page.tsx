/** What the developer portal's page of traces shows in a sandbox: the form that asks for an id, and its traces (contract TRC12). */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { codeFigure, escapeHtml } from "../../../portal/markdown.ts";
import { TRACES_PAGE_PATH } from "../../../portal/paths.ts";
import { factsOf } from "../../../portal/schema_view.tsx";
import { type CheckName, CHECKS } from "./check_names.ts";
import type { Trace } from "./trace.ts";
import { type ErrorUri, representTraceInFull } from "./trace_representation.ts";

/** Only a sandbox may show it: it has what operators read, of every participant. */
export function TraceFinder(
  { id, traces, errorUri }: {
    readonly id: string;
    readonly traces: readonly Trace[];
    readonly errorUri: ErrorUri;
  },
): JSX.Element {
  return (
    <>
      <form class="search" method="get" action={TRACES_PAGE_PATH}>
        <label for="id">Interaction id</label>
        <div>
          <input id="id" name="id" value={id} maxlength={36} autocomplete="off" spellcheck={false} />
          <button type="submit">Show</button>
        </div>
      </form>
      {id !== "" && traces.length === 0 && (
        <p>
          No request has this id. A trace can be read a second after its answer, and for as long as the
          platform keeps it.
        </p>
      )}
      {traces.map((trace, index) => traceView(trace, errorUri, `trace-${index + 1}`))}
    </>
  );
}

type Wire = ReturnType<typeof representTraceInFull>;

function traceView(trace: Trace, errorUri: ErrorUri, id: string): JSX.Element {
  const wire = representTraceInFull(trace, errorUri);
  const faults = faultsOf(wire.Rejection);
  const checks = wire.Check.filter(({ Name }) => Name !== "prefetch"); // it rejects no request
  return (
    <section class="card guide" aria-labelledby={id}>
      <h2 id={id}>{wire.Method} {wire.Endpoint}: {wire.Status}</h2>
      {faults.map((fault) => faultView(fault, wire.Rejection?.Url))}
      {(trace.received ?? []).map((jwt) => jwtView(jwt, faults))}
      {checks.length > 0 && (
        <>
          <h3>Checks, in order</h3>
          <ol class="steps">
            {checks.map(({ Name, Result }) => (
              <li class={RESULTS[Result].class}>
                <strong>{RESULTS[Result].words}</strong> {CHECKS[Name as CheckName] ?? Name}{" "}
                <small>{Name}</small>
              </li>
            ))}
          </ol>
        </>
      )}
      {factsOf(factsAbout(wire))}
    </section>
  );
}

const RESULTS = {
  Passed: { class: "passed", words: "✓ passed" },
  Failed: { class: "failed", words: "✗ failed" },
  NotReached: { class: "not-reached", words: "– not reached" },
} as const;

function factsAbout(wire: Wire): readonly (readonly [name: string, value: string])[] {
  const facts = [
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
  return facts.map(([name, value = ""]) => [name, value] as const).filter(([, value]) => value !== "");
}

/** A fault. `part` is its place, such as `client_assertion aud`. */
interface Fault {
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

function faultsOf(
  { Message, Errors = [], Detail }: NonNullable<Wire["Rejection"]> | undefined = { Reason: "" },
): readonly Fault[] {
  const told = [
    ...(Message === undefined ? [] : [partsOf(Message)]),
    ...Errors.map(({ Path, Message }) => ({
      ...partsOf(Message),
      ...(Path === undefined ? {} : { part: Path }),
    })),
  ];
  return told.length > 0 || Detail === undefined
    ? told
    : [{ part: "request", expected: Detail, received: "" }];
}

/** The parts of an explanation (`explanation` in `base/kernel/result.ts`). Other texts are what is expected. */
function partsOf(message: string): Fault {
  const [, part, expected, received = ""] = /^(.+?) must be (.*?)(?:; got (.*))?\.$/.exec(message) ?? [];
  return part === undefined || expected === undefined
    ? { part: "request", expected: message, received: "" }
    : { part, expected, received };
}

function faultView({ part, expected, received }: Fault, url: string | undefined): JSX.Element {
  const facts = [["Wrong", part], ["Expected", expected], ["Received", received]] as const;
  return (
    <>
      {factsOf(facts.filter(([, value]) => value !== ""))}
      {url !== undefined && (
        <p>
          <a href={url}>Cause, example and remedy</a>
        </p>
      )}
    </>
  );
}

type ReceivedJwt = NonNullable<Trace["received"]>[number];

/** Wrong members are marked in the part that they are in. */
function jwtView({ name, header, claims }: ReceivedJwt, faults: readonly Fault[]): JSX.Element {
  const own = faults.filter(({ part }) =>
    part === name || part.startsWith(`${name} `) || !part.includes(" ")
  );
  const ofHeader = own.filter(({ part }) => part.includes("header ") || claims === undefined);
  const ofClaims = own.filter(({ part }) => !part.includes("header "));
  return (
    <>
      <h3>{name}, as it arrived</h3>
      {raw(codeFigure(markFaults(header, ofHeader), `Header of the ${name}`))}
      {claims !== undefined && raw(codeFigure(markFaults(claims, ofClaims), `Claims of the ${name}`))}
    </>
  );
}

/** JSON as HTML whose wrong members are marked, each with the expected value beside it. */
function markFaults(json: string, faults: readonly Fault[]): string {
  const lines = json.split("\n").map((line) => {
    const found = faults.find(({ part }) => line.startsWith(`  ${JSON.stringify(part.split(" ").at(-1))}:`));
    return found === undefined
      ? escapeHtml(line)
      : `<mark>${escapeHtml(line)}</mark>   ← must be ${escapeHtml(found.expected)}`;
  });
  return lines.join("\n");
}
