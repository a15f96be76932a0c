/** The page that shows what the platform did with a request, by its interaction id: in a sandbox (contract TRC12). */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { escaped } from "./markdown.ts";
import { REFERENCE_PATH, TRACES_PAGE_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";
import { factsOf } from "./schema_view.tsx";

/** A trace, for people. */
export interface ShownTrace {
  /** Such as `POST /{bank}/token.oauth2/v1`. */
  readonly title: string;
  readonly status: number;
  readonly facts: readonly (readonly [term: string, value: string])[];
  readonly checks: readonly ShownCheck[];
  /** The faults, each with its place if it has one. */
  readonly faults: readonly ShownFault[];
  readonly jwts: readonly ShownJwt[];
}

/** A check of the request, by its name in the log, and in words. */
export interface ShownCheck {
  readonly name: string;
  readonly about?: string | undefined;
  readonly result: "passed" | "failed" | "not reached";
}

export interface ShownFault {
  /** Such as `client_assertion aud`. */
  readonly part: string;
  readonly expected: string;
  readonly received: string;
  /** The address of its documentation. */
  readonly href?: string;
}

/** A received JWT. Header and claims are JSON. */
export interface ShownJwt {
  readonly name: string;
  readonly header: string;
  readonly claims?: string;
}

/** The reader's question. `traces` is absent where the page shows none, outside of a sandbox. */
export interface TraceQuestion {
  readonly id?: string;
  readonly traces?: readonly ShownTrace[];
}

/** The page as a whole HTML document. */
export function renderTracePage({ id = "", traces }: TraceQuestion): string {
  return renderPortalPage({
    path: TRACES_PAGE_PATH,
    title: "Traces",
    lead:
      "What the platform did with a request: each check with its result, and what was wrong. By the x-fapi-interaction-id of the answer, or the number on a customer’s error page.",
    contents: [],
    children: traces === undefined ? <Elsewhere /> : <Found id={id} traces={traces} />,
  });
}

/** Outside of a sandbox a page without sign-in shows no requests. */
function Elsewhere(): JSX.Element {
  return (
    <section class="card guide" aria-labelledby="read">
      <h2 id="read">Read your traces</h2>
      <p>
        <code>GET /traces/v1/{"{interaction-id}"}</code>{" "}
        with a token of the client credentials grant returns the traces of your own requests, of your
        customers’ steps, and of your own results if you are a bank. Your people read the same where the
        operator has signed them in. This page shows traces in a sandbox only.
      </p>
      <p>
        <a href={REFERENCE_PATH}>API reference</a>
      </p>
    </section>
  );
}

function Found({ id, traces }: { readonly id: string; readonly traces: readonly ShownTrace[] }): JSX.Element {
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
      {traces.map((trace, index) => <Trace trace={trace} id={`trace-${index + 1}`} />)}
    </>
  );
}

function Trace({ trace, id }: { readonly trace: ShownTrace; readonly id: string }): JSX.Element {
  const { title, status, facts, checks, faults, jwts } = trace;
  return (
    <section class="card guide" aria-labelledby={id}>
      <h2 id={id}>{title}: {status}</h2>
      {faults.map((fault) => <Fault fault={fault} />)}
      {jwts.map((jwt) => <Jwt jwt={jwt} faults={faults} />)}
      {checks.length > 0 && (
        <>
          <h3>Checks, in order</h3>
          <ol class="steps">
            {checks.map(({ name, about = name, result }) => (
              <li class={result.replace(" ", "-")}>
                <strong>{MARKS[result]} {result}</strong> {about} <small>{name}</small>
              </li>
            ))}
          </ol>
        </>
      )}
      {factsOf(facts)}
    </section>
  );
}

const MARKS = { "passed": "✓", "failed": "✗", "not reached": "–" } as const;

function Fault({ fault: { part, expected, received, href } }: { readonly fault: ShownFault }): JSX.Element {
  const facts = [["Wrong", part], ["Expected", expected], ["Received", received]] as const;
  return (
    <>
      {factsOf(facts.filter(([, value]) => value !== ""))}
      {href !== undefined && (
        <p>
          <a href={href}>Cause, example and remedy</a>
        </p>
      )}
    </>
  );
}

/** Wrong members are marked in the part that they are in. */
function Jwt(
  { jwt: { name, header, claims }, faults }: {
    readonly jwt: ShownJwt;
    readonly faults: readonly ShownFault[];
  },
): JSX.Element {
  const own = faults.filter(({ part }) =>
    part === name || part.startsWith(`${name} `) || !part.includes(" ")
  );
  const ofHeader = own.filter(({ part }) => part.includes("header ") || claims === undefined);
  const ofClaims = own.filter(({ part }) => !part.includes("header "));
  return (
    <>
      <h3>{name}, as it arrived</h3>
      <Json about={`Header of the ${name}`} text={header} faults={ofHeader} />
      {claims !== undefined && <Json about={`Claims of the ${name}`} text={claims} faults={ofClaims} />}
    </>
  );
}

/** JSON whose wrong members are marked, each with the expected value beside it. */
function Json(
  { about, text, faults }: {
    readonly about: string;
    readonly text: string;
    readonly faults: readonly ShownFault[];
  },
): JSX.Element {
  const lines = text.split("\n").map((line) => {
    const found = faults.find(({ part }) => line.startsWith(`  ${JSON.stringify(part.split(" ").at(-1))}:`));
    return found === undefined
      ? escaped(line)
      : `<mark>${escaped(line)}</mark>   ← must be ${escaped(found.expected)}`;
  });
  return (
    <figure>
      <figcaption>{about}</figcaption>
      <pre tabindex={0} role="group" aria-label={about}>
        <code>{raw(lines.join("\n"))}</code>
      </pre>
    </figure>
  );
}
