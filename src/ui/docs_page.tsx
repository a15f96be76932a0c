// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/**
 * The API reference as a page, drawn from the OpenAPI document that the routes themselves produce. English, for
 * developers; no script, nothing from other hosts.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import {
  anchor,
  type ApiAnswer,
  type ApiContent,
  type ApiEndpoint,
  type ApiGroup,
  type ApiReference,
  type Parameter,
  readApiReference,
} from "./api_reference.ts";
import { type ErrorEntry, ErrorTable } from "./error_table.tsx";
import { Layout, renderDocument } from "./layout.tsx";
import { Entry, Fields, inline, Prose, ShapeView, typeAnchor } from "./schema_view.tsx";

/** What the page needs beside the OpenAPI document. */
export interface DocsParts {
  /** Browser host, without a trailing slash. */
  readonly authUrl: string;
  readonly errors: readonly ErrorEntry[];
}

/** The page as a whole HTML document. `document` is an OpenAPI 3.1 document as plain data. */
export function renderDocsPage(document: unknown, parts: DocsParts): string {
  const reference = readApiReference(document);
  return renderDocument(
    <Layout language="en" title={`${reference.title}: API reference`} sandbox={false} wide>
      <div class="reference">
        <Introduction reference={reference} authUrl={parts.authUrl} />
        <Contents reference={reference} />
        <div class="body">
          {reference.groups.map((group) => <Group group={group} />)}
          {reference.types.length === 0 ? null : <Types types={reference.types} />}
          {reference.common.length === 0 ? null : <Common parameters={reference.common} />}
          <ErrorTable errors={parts.errors} />
        </div>
      </div>
    </Layout>,
  );
}

function Contents({ reference }: { readonly reference: ApiReference }): JSX.Element {
  return (
    <nav class="toc" aria-label="Contents">
      <ul>
        {reference.groups.map(({ name, endpoints }) => (
          <li>
            <a href={`#${groupAnchor(name)}`}>{name}</a>
            <ul>
              {endpoints.map(({ id, title }) => (
                <li>
                  <a href={`#${id}`}>{title}</a>
                </li>
              ))}
            </ul>
          </li>
        ))}
        {reference.types.length === 0 ? null : (
          <li>
            <a href="#types">Data types</a>
          </li>
        )}
        <li>
          <a href="#errors">Errors</a>
        </li>
      </ul>
    </nav>
  );
}

function Introduction(
  { reference, authUrl }: { readonly reference: ApiReference; readonly authUrl: string },
): JSX.Element {
  const addresses: readonly (readonly [string, string])[] = [
    ...reference.servers.map(({ url, description }) => [description ?? "API", url] as const),
    ["Browser authorization", authUrl],
    ["Server metadata of a bank", `${authUrl}/.well-known/oauth-authorization-server/{BANK}`],
    ["Public keys", `${authUrl}/jwks`],
  ];
  return (
    <section class="introduction" aria-labelledby="title">
      <h1 id="title">{reference.title}</h1>
      <p class="lead">API reference, version {reference.version}</p>
      <Prose text={reference.description} />
      <div class="card">
        <dl class="facts">
          {addresses.map(([name, url]) => (
            <div>
              <dt>{name}</dt>
              <dd>
                <code>{url}</code>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  );
}

function Group({ group }: { readonly group: ApiGroup }): JSX.Element {
  return (
    <section aria-labelledby={groupAnchor(group.name)}>
      <h2 id={groupAnchor(group.name)}>{group.name}</h2>
      <Prose text={group.description} />
      {group.endpoints.map((endpoint) => <Endpoint endpoint={endpoint} />)}
    </section>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: ApiEndpoint }): JSX.Element {
  const { id, method, path, title, description, parameters, body, answers, security } = endpoint;
  return (
    <article class="card" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <p>
        <span class="method">{method}</span> <code class="path">{path}</code>
        {endpoint.deprecated ? <strong>deprecated</strong> : null}
      </p>
      <Prose text={description} />
      {security.length === 0 ? null : <p>Needs: {list(security)}</p>}
      <Parameters own={parameters} common={endpoint.common} />
      {body.length === 0 ? null : (
        <Part title="Request body">
          <Contained contents={body} />
        </Part>
      )}
      <Part title="Answers">
        <ul class="fields">{answers.map((answer) => <Answer answer={answer} />)}</ul>
      </Part>
    </article>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: Child }): JSX.Element {
  return (
    <>
      <h4>{title}</h4>
      {children}
    </>
  );
}

function Parameters(
  { own, common }: { readonly own: readonly Parameter[]; readonly common: readonly Parameter[] },
): JSX.Element | null {
  if (own.length + common.length === 0) return null;
  return (
    <Part title="Parameters">
      {own.length === 0 ? null : <Fields fields={own} />}
      {common.length === 0 ? null : (
        <p>
          As everywhere: {common.map(({ name }, place) => (
            <>
              {place === 0 ? null : ", "}
              <a href={`#${parameterAnchor(name)}`}>
                <code>{name}</code>
              </a>
            </>
          ))}
        </p>
      )}
    </Part>
  );
}

function Answer({ answer }: { readonly answer: ApiAnswer }): JSX.Element {
  const { status, description, headers, contents } = answer;
  return (
    <li>
      <strong>{status}</strong> {inline(description)}
      {headers.length === 0
        ? null
        : <Fields fields={headers.map((header) => ({ ...header, place: "header" }))} />}
      <Contained contents={contents} />
    </li>
  );
}

function Contained({ contents }: { readonly contents: readonly ApiContent[] }): JSX.Element {
  return (
    <>
      {contents.map(({ mediaType, shape, example }) => (
        <>
          <div>
            <code>{mediaType}</code>: <ShapeView shape={shape} />
          </div>
          {example === undefined ? null : <Example text={example} />}
        </>
      ))}
    </>
  );
}

// A box that scrolls must be reachable by keyboard (WCAG 2.1.1), and says what it is (4.1.2).
function Example({ text }: { readonly text: string }): JSX.Element {
  return <pre tabindex={0} role="group" aria-label="Example"><code>{text}</code></pre>;
}

function Types({ types }: { readonly types: ApiReference["types"] }): JSX.Element {
  return (
    <section aria-labelledby="types">
      <h2 id="types">Data types</h2>
      {types.map(({ name, shape, example }) => (
        <article class="card" aria-labelledby={typeAnchor(name)}>
          <h3 id={typeAnchor(name)}>{name}</h3>
          <ShapeView shape={shape} />
          {example === undefined ? null : <Example text={example} />}
        </article>
      ))}
    </section>
  );
}

function Common({ parameters }: { readonly parameters: readonly Parameter[] }): JSX.Element {
  return (
    <section aria-labelledby="common">
      <h2 id="common">Common parameters</h2>
      <div class="card">
        <ul class="fields">
          {parameters.map((parameter) => (
            <li id={parameterAnchor(parameter.name)}>
              <Entry field={parameter} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function groupAnchor(name: string): string {
  return `group-${anchor(name)}`;
}

function list(names: readonly string[]): string {
  return new Intl.ListFormat("en").format(names);
}

function parameterAnchor(name: string): string {
  return `parameter-${anchor(name)}`;
}
