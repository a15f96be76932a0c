// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/**
 * The API reference as a page, drawn from the OpenAPI document that the routes themselves produce. English, for
 * developers; no script, nothing from other hosts.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { anchor, type ApiGroup, type ApiReference, readApiReference } from "./api_reference.ts";
import type { CommonParts } from "./common_parts.ts";
import { Answer, Endpoint, Example } from "./endpoint_view.tsx";
import { type ErrorEntry, ErrorTable } from "./error_table.tsx";
import { Layout, renderDocument } from "./layout.tsx";
import { Entry, Prose, ShapeView, typeAnchor } from "./schema_view.tsx";

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
          {reference.groups.map((group) => <Group group={group} reference={reference} />)}
          {reference.types.length === 0 ? null : <Types types={reference.types} />}
          <Common
            id="common-parameters"
            title="Common parameters"
            parts={reference.commonParameters}
            draw={(parameter) => <Entry field={parameter} />}
          />
          <Common
            id="common-answers"
            title="Common answers"
            parts={reference.commonAnswers}
            draw={(answer) => <Answer answer={answer} />}
          />
          <ErrorTable errors={parts.errors} />
        </div>
      </div>
    </Layout>,
  );
}

function Introduction(
  { reference, authUrl }: { readonly reference: ApiReference; readonly authUrl: string },
): JSX.Element {
  const addresses = new Map([
    [authUrl, "Browser authorization host"],
    ...reference.servers.map(({ url, description }) => [url, description ?? "API host"] as const),
    [`${authUrl}/.well-known/oauth-authorization-server/{BANK}`, "Server metadata of a bank"],
    [`${authUrl}/jwks`, "The platform’s public keys"],
    [`${authUrl}/openapi.json`, "This reference for machines"],
  ]);
  return (
    <section class="introduction" aria-labelledby="title">
      <h1 id="title">{reference.title}</h1>
      <p class="lead">API reference, version {reference.version}</p>
      <Prose text={reference.description} />
      <div class="card">
        <dl class="facts">
          {[...addresses].map(([url, name]) => (
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

function Contents({ reference }: { readonly reference: ApiReference }): JSX.Element {
  const chapters: readonly (readonly [string, string, boolean])[] = [
    ["types", "Data types", reference.types.length > 0],
    ["common-parameters", "Common parameters", reference.commonParameters.size > 0],
    ["common-answers", "Common answers", reference.commonAnswers.size > 0],
    ["errors", "Errors", true],
  ];
  return (
    <nav class="toc" aria-label="Contents">
      <ul>
        {reference.groups.map(({ name, endpoints }) => (
          <li>
            <a href={`#${groupAnchor(name)}`}>{name}</a>
            <ul>{endpoints.map(({ id, title }) => <ContentsEntry id={id} title={title} />)}</ul>
          </li>
        ))}
        {chapters.map(([id, title, there]) => there ? <ContentsEntry id={id} title={title} /> : null)}
      </ul>
    </nav>
  );
}

function ContentsEntry({ id, title }: { readonly id: string; readonly title: string }): JSX.Element {
  return (
    <li>
      <a href={`#${id}`}>{title}</a>
    </li>
  );
}

function Group(
  { group, reference }: { readonly group: ApiGroup; readonly reference: ApiReference },
): JSX.Element {
  return (
    <section aria-labelledby={groupAnchor(group.name)}>
      <h2 id={groupAnchor(group.name)}>{group.name}</h2>
      <Prose text={group.description} />
      {group.endpoints.map((endpoint) => <Endpoint endpoint={endpoint} reference={reference} />)}
    </section>
  );
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

function Common<Part>(
  { id, title, parts, draw }: {
    readonly id: string;
    readonly title: string;
    readonly parts: CommonParts<Part>;
    readonly draw: (part: Part) => JSX.Element;
  },
): JSX.Element | null {
  if (parts.size === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div class="card">
        <ul>{[...parts.values()].map((common) => <li id={common.id}>{draw(common.part)}</li>)}</ul>
      </div>
    </section>
  );
}

function groupAnchor(name: string): string {
  return anchor(`group-${name}`);
}
