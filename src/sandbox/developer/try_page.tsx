/** The page of an operation: its request to edit, and what was sent, answered and checked, side by side. */
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoggedExchange } from "../../client/tpp/message_log.ts";
import { banks } from "../shop/catalogue.ts";
import { statusText } from "../shop/message_summary.tsx";
import { DeveloperPage, type PartAddresses } from "./frame.tsx";
import { type Operation, operationOf, type ShopAddresses, TRY_PATH, tryPath } from "./operations.ts";
import type { Trace } from "./trace.ts";
import type { Attempt, Fields, TokenKind, Walk } from "./walk.ts";

/** What the page shows. */
export interface TryView {
  readonly addresses: PartAddresses;
  readonly bank: string;
  readonly operation: Operation;
  readonly fields: Fields;
  readonly walk: Walk;
  readonly attempt?: Attempt | undefined;
  readonly csrf: string;
  /** The name of the TPP that signs. */
  readonly signer: string;
  readonly shop: ShopAddresses;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export function TryPage(view: TryView): JSX.Element {
  const { addresses, bank, operation, attempt } = view;
  const { id, title, method, path } = operation;
  return (
    <DeveloperPage
      title={title}
      lead={
        <>
          <span class="method">{method}</span> <code>/{bank}/{path}</code> signed for {view.signer}
        </>
      }
      addresses={addresses}
    >
      <Banks bank={bank} id={id} />
      <div class="exchange">
        <section aria-labelledby="edit">
          <h2 id="edit">Request</h2>
          <RequestForm {...view} />
        </section>
        {attempt === undefined ? null : <Answered view={view} attempt={attempt} />}
      </div>
      {attempt?.exchange === undefined ? null : <Sent attempt={attempt} />}
    </DeveloperPage>
  );
}

function Banks({ bank, id }: { readonly bank: string; readonly id: string }): JSX.Element {
  return (
    <nav aria-label="Bank">
      <ul class="links">
        {banks.map(({ code, name }) => (
          <li>
            <a href={tryPath(code, id)} {...(code === bank ? { "aria-current": "true" as const } : {})}>
              {name}
            </a>
          </li>
        ))}
        <li>
          <a href={TRY_PATH}>All operations</a>
        </li>
      </ul>
    </nav>
  );
}

function RequestForm({ bank, operation, fields, walk, csrf, now }: TryView): JSX.Element {
  const { id, path, body, query, hasKey, token } = operation;
  return (
    <form method="post" action={tryPath(bank, id)}>
      <input type="hidden" name="csrf" value={csrf} />
      {token === undefined ? null : <TokenField walk={walk} fields={fields} now={now} bank={bank} />}
      {path.includes("{id}")
        ? (
          <Field
            name="id"
            label={path.includes("consents") ? "Consent id" : "Payment id"}
            value={fields.id}
          />
        )
        : null}
      {query === undefined ? null : (
        <TextField name="query" label="Query" rows={3} value={fields.query}>
          One name=value a line. Names: {query}.
        </TextField>
      )}
      {hasKey === true ? <Field name="key" label="x-idempotency-key" value={fields.key} /> : null}
      {body === undefined
        ? null
        : (
          <TextField name="body" label="Body" rows={body === "form" ? 10 : 22} value={fields.body}>
            {ADDED[body]}
          </TextField>
        )}
      <p class="actions">
        <button type="submit">Send</button> <a href={`${tryPath(bank, id)}?new`}>New values</a>
      </p>
    </form>
  );
}

/** What the sandbox adds to each kind of body. */
const ADDED: Readonly<Record<NonNullable<Operation["body"]>, string>> = {
  form:
    "One name=value a line. The sandbox fills in what begins with $, and adds client_id, the client assertion and, for a token, the DPoP proof.",
  signed:
    "Sent as it is here, valid or not. The sandbox signs these bytes (x-jws-signature) and adds the DPoP proof.",
  unsigned: "Sent as it is here, valid or not. The sandbox adds the DPoP proof.",
};

function TokenField(
  { walk: { tokens }, fields, now, bank }: Pick<TryView, "walk" | "fields" | "now" | "bank">,
): JSX.Element {
  const kinds: readonly TokenKind[] = ["client_credentials", "authorization_code"];
  const there = kinds.filter((kind) => tokens.has(kind));
  return (
    <div class="field">
      <label for="token">Access token of the grant</label>
      <select id="token" name="token">
        {kinds.map((kind) => (
          <option value={kind} selected={kind === fields.token}>
            {kind}: {stateOf(tokens.get(kind), now)}
          </option>
        ))}
      </select>
      {there.includes(fields.token) ? null : (
        <p class="hint">
          There is none yet. <a href={`${tryPath(bank, "issueAccessToken")}?new`}>Get an access token</a>
        </p>
      )}
    </div>
  );
}

function stateOf(token: { readonly expiresAt: number } | undefined, now: number): string {
  if (token === undefined) return "none";
  const minutes = Math.floor((token.expiresAt - now) / 60_000);
  return minutes < 0 ? "expired" : `for ${minutes} minutes`;
}

/** A field of one line. */
export function Field(
  { name, label, value }: { readonly name: string; readonly label: string; readonly value: string },
): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} maxlength={128} autocomplete="off" spellcheck={false} />
    </div>
  );
}

function TextField(
  { name, label, value, rows, children }: {
    readonly name: string;
    readonly label: string;
    readonly value: string;
    readonly rows: number;
    readonly children: Child;
  },
): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea
        id={name}
        name={name}
        rows={rows}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${name}-hint`}
      >
        {`\n${value}`}
      </textarea>
      <p class="hint" id={`${name}-hint`}>{children}</p>
    </div>
  );
}

/** Answer and trace. */
function Answered({ view, attempt }: { readonly view: TryView; readonly attempt: Attempt }): JSX.Element {
  const { exchange, fault, traces, interactionId } = attempt;
  return (
    <>
      <section id="answer" aria-labelledby="answer-title">
        <h2 id="answer-title">Answer</h2>
        {fault === undefined ? null : <p class="fault" role="alert">{fault}</p>}
        {exchange?.response === undefined
          ? null
          : (
            <Response response={exchange.response} tookMs={exchange.tookMs}>
              <Next view={view} />
            </Response>
          )}
      </section>
      <section aria-labelledby="trace-title">
        <h2 id="trace-title">Trace</h2>
        {traces.map((trace) => <Checks trace={trace} />)}
        {interactionId === undefined ? <p>Nothing reached the platform.</p> : (
          <p>
            <a href={`${view.addresses.authUrl}/docs/traces?id=${interactionId}`}>The whole trace</a>
          </p>
        )}
      </section>
    </>
  );
}

function Response(
  { response: { status, body, headers, jwts }, tookMs, children }: {
    readonly response: NonNullable<LoggedExchange["response"]>;
    readonly tookMs: number | undefined;
    readonly children: Child;
  },
): JSX.Element {
  return (
    <>
      <p>
        <strong class={`status ${status < 300 ? "good" : "bad"}`}>{statusText(status)}</strong> in {tookMs} ms
      </p>
      {children}
      <Code label="Body of the answer" text={body} />
      <Folded title="Headers and signature">
        <Code label="Headers of the answer" text={headersText(headers)} />
        {jwts.map(({ where, header }) => <Code label={`${where}, header`} text={header} />)}
      </Folded>
    </>
  );
}

const RESULTS = { Passed: "✓ passed", Failed: "✗ failed", NotReached: "– not reached" } as const;

function Checks({ trace: { Check, Rejection, Milliseconds } }: { readonly trace: Trace }): JSX.Element {
  const told = [
    ...(Rejection?.Message === undefined ? [] : [Rejection.Message]),
    ...(Rejection?.Errors ?? []).map(({ Message, Path }) => `${Path ?? ""} ${Message}`.trim()),
  ];
  return (
    <>
      <p>The platform took {Milliseconds} ms.</p>
      {Rejection === undefined ? null : (
        <div class="fault">
          <p>
            <strong>{Rejection.Reason}</strong>
          </p>
          {told.map((text) => <p>{text}</p>)}
          {Rejection.Url === undefined ? null : (
            <p>
              <a href={Rejection.Url}>Cause and remedy</a>
            </p>
          )}
        </div>
      )}
      <ol class="steps">
        {Check.filter(({ Name }) => Name !== "prefetch").map(({ Name, Result }) => (
          <li class={Result.toLowerCase()}>
            <strong>{RESULTS[Result]}</strong> {Name}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The request as it was sent, masked. */
function Sent({ attempt: { exchange } }: { readonly attempt: Attempt }): JSX.Element | null {
  if (exchange === undefined) return null;
  const { method, url, request: { headers, body, jwts } } = exchange;
  return (
    <Folded title="The request as it was sent, with what the sandbox added">
      <Code label="Request" text={`${method} ${url}\n${headersText(headers)}\n\n${body}`.trimEnd()} />
      {jwts.map(({ where, header, payload }) => (
        <Code
          label={`${where}, decoded`}
          text={payload === undefined ? header : `${header}\n.\n${payload}`}
        />
      ))}
    </Folded>
  );
}

/** Where a payment goes on from here. */
function Next(
  { view: { bank, operation, attempt, walk, shop } }: { readonly view: TryView },
): JSX.Element | null {
  const status = attempt?.exchange?.response?.status ?? 0;
  if (status < 200 || status > 299 || attempt?.fault !== undefined) return null;
  if (operation.id === "pushAuthorizationRequest" && walk.pending !== undefined) {
    return (
      <p class="onward">
        <a class="button" href={walk.pending.url}>Open the link as the customer</a>{" "}
        <span>
          Sign in as alice with the password sandbox and the code 123456.{" "}
          {shop.returnsHere ? "You come back here with the code." : (
            <>
              Your browser ends at <code>{shop.redirectUri}</code>. Copy the code of its address and{" "}
              <a href={`${tryPath(bank, "issueAccessToken")}?new`}>get the access token</a>.
            </>
          )}
        </span>
      </p>
    );
  }
  const [paid, ...others] = operation.id === "issueAccessToken"
    ? [walk.tokens.has("authorization_code") ? operation.next[1] : operation.next[0]]
    : operation.next;
  const steps = [paid, ...others].flatMap((id) => operationOf(id ?? "") ?? []);
  if (steps.length === 0) return null;
  return (
    <p class="onward">
      {steps.map(({ id, title }, place) => (
        <a class={place === 0 ? "button" : undefined} href={`${tryPath(bank, id)}?new`}>{title}</a>
      ))}
    </p>
  );
}

function Folded({ title, children }: { readonly title: string; readonly children: Child }): JSX.Element {
  return (
    <details>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function headersText(headers: readonly (readonly [name: string, value: string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** A box that scrolls must be reachable by keyboard (WCAG 2.1.1). */
function Code({ label, text }: { readonly label: string; readonly text: string }): JSX.Element | null {
  if (text === "") return null;
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return (
    <figure class="code">
      <figcaption>{label}</figcaption>
      <pre tabindex={0} role="group" aria-label={label}>{raw(escaped)}</pre>
    </figure>
  );
}
