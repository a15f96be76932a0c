/** The API reference, a page for each tag and one each for what they share, drawn from the OpenAPI document. */
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import {
  type ApiAnswer,
  type ApiContent,
  type ApiEndpoint,
  type ApiGroup,
  type ApiReference,
  type CommonParts,
  partKey,
} from "./api_reference.ts";
import { codeBlock } from "./markdown.ts";
import { fieldView, inline, linksOf, listOf, Prose, shapeViewOf, typeAnchor } from "./schema_view.tsx";
import { COMMON_PATH, groupPath, type Link, REFERENCE_PATH, TYPES_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";
import { bodyFile, samplesOf } from "./request_samples.ts";

/** The list of all endpoints. */
export function renderReferenceIndex(reference: ApiReference): string {
  const more = [[TYPES_PATH, "Data types"], [COMMON_PATH, "Common parameters and answers"]] as const;
  return renderPortalPage({
    path: REFERENCE_PATH,
    title: "API reference",
    lead: `Version ${reference.version}. Generated from the routes that answer.`,
    contents: [...reference.groups.map(({ name }) => [groupPath(name), name] as const), ...more],
    children: reference.groups.map((group) => <GroupSummary group={group} />),
  });
}

function GroupSummary({ group: { name, endpoints } }: { readonly group: ApiGroup }): JSX.Element {
  const path = groupPath(name);
  return (
    <section class="card guide">
      <h2>
        <a href={path}>{name}</a>
      </h2>
      <ul class="endpoints">
        {endpoints.map(({ id, method, path: at, title }) => (
          <li>
            <a href={`${path}#${id}`}>{title}</a>{" "}
            <span>
              <span class="method">{method}</span> <code class="path">{at}</code>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The endpoints of one tag. */
export function renderGroup(group: ApiGroup, reference: ApiReference): string {
  return renderPortalPage({
    path: groupPath(group.name),
    title: group.name,
    lead: group.description === undefined ? "API reference" : <>{inline(group.description)}</>,
    contents: group.endpoints.map(({ id, title }) => [`#${id}`, title]),
    children: group.endpoints.map((endpoint) => <Endpoint endpoint={endpoint} reference={reference} />),
  });
}

/** Schemas that several endpoints use. */
export function renderTypes({ types }: ApiReference): string {
  return renderPortalPage({
    path: TYPES_PATH,
    title: "Data types",
    lead: "What several endpoints use.",
    contents: types.map(({ name }) => [`#${typeAnchor(name)}`, name]),
    children: types.map(({ name, shape, example }) => (
      <article class="card" aria-labelledby={typeAnchor(name)}>
        <h2 id={typeAnchor(name)}>{name}</h2>
        {shapeViewOf(shape)}
        {example === undefined ? null : raw(codeBlock(example, "json", "Example"))}
      </article>
    )),
  });
}

/** Parameters and answers that many endpoints have. */
export function renderCommonParts({ commonParameters, commonAnswers }: ApiReference): string {
  return renderPortalPage({
    path: COMMON_PATH,
    title: "Common parameters and answers",
    lead: "What many endpoints have in common, word for word.",
    contents: [["#common-parameters", "Common parameters"], ["#common-answers", "Common answers"]],
    children: [
      common("common-parameters", "Common parameters", commonParameters, fieldView),
      common("common-answers", "Common answers", commonAnswers, drawAnswer),
    ],
  });
}

function common<Part>(
  id: string,
  title: string,
  parts: CommonParts<Part>,
  draw: (part: Part) => Child,
): JSX.Element {
  return (
    <section aria-labelledby={id} class="card">
      <h2 id={id}>{title}</h2>
      <ul>{[...parts.values()].map(({ id, part }) => <li id={id}>{draw(part)}</li>)}</ul>
    </section>
  );
}

/** The endpoint under its heading, which is its anchor. */
function Endpoint(
  { endpoint, reference }: { readonly endpoint: ApiEndpoint; readonly reference: ApiReference },
): JSX.Element {
  const { id, method, path, title, description, parameters, body, security, answers } = endpoint;
  const { tryLink, commonParameters, commonAnswers } = reference;
  const tried = tryLink(endpoint.operationId);
  return (
    <article class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>
        <span class="method">{method}</span> {endpoint.isSent ? "sent by the platform, " : null}
        <code class="path">{path}</code> {endpoint.deprecated ? <strong>deprecated</strong> : null}
      </p>
      <Prose text={description} />
      {tried !== undefined && (
        <p>
          <a class="try" href={tried}>Try it in the sandbox</a>
        </p>
      )}
      {endpoint.isSent ? null : <Samples endpoint={endpoint} />}
      {chapter("Security", listOf(security, securityView))}
      {chapter("Parameters", partsOf(parameters, commonParameters, fieldView, ({ name }) => name))}
      {chapter("Request body", body.length === 0 ? null : contentsOf(body))}
      {chapter("Answers", partsOf(answers, commonAnswers, drawAnswer, ({ status }) => status))}
    </article>
  );
}

/** One status with its words, headers and bodies. */
function drawAnswer({ status, description, headers, contents }: ApiAnswer): JSX.Element {
  return (
    <>
      <strong>{status}</strong> {inline(description)}
      {listOf(headers.map((header) => ({ ...header, place: "header" })), fieldView)}
      {contentsOf(contents)}
    </>
  );
}

/** The request in each language, and beside it the answer. The first language is open until the reader chooses another one. */
function Samples({ endpoint }: { readonly endpoint: ApiEndpoint }): JSX.Element | null {
  const samples = samplesOf(endpoint);
  if (samples.length === 0) return null;
  const [body] = endpoint.body;
  const isFile = body?.example !== undefined && body.mediaType === "application/json";
  const answer = endpoint.answers.find(({ status }) => status.startsWith("2"));
  const example = answer?.contents[0]?.example;
  return (
    <div class="samples">
      <div>
        {samples.map(({ title, language, code }, place) => (
          <details name={endpoint.id} data-language={title} open={place === 0}>
            <summary>{title}</summary>
            {raw(codeBlock(code, language))}
          </details>
        ))}
      </div>
      <div>
        {isFile && raw(codeBlock(body.example ?? "", "json", bodyFile(body.mediaType)))}
        {example === undefined ? null : raw(codeBlock(example, "json", `Answer ${answer?.status}`))}
      </div>
    </div>
  );
}

function securityView({ name, description = "" }: ApiEndpoint["security"][number]): JSX.Element {
  return (
    <>
      <code>{name}</code> {inline(description)}
    </>
  );
}

function chapter(title: string, children: Child): Child {
  return children === null ? null : [<h3>{title}</h3>, children];
}

/** The endpoint's own parts, and links to those that it has in common with others. */
function partsOf<Part>(
  parts: readonly Part[],
  common: CommonParts<Part>,
  draw: (part: Part) => Child,
  nameOf: (part: Part) => string,
): Child {
  const own = parts.filter((part) => !common.has(partKey(part)));
  const links = parts.flatMap((part) => common.get(partKey(part)) ?? [])
    .map(({ id, part }): Link => [`${COMMON_PATH}#${id}`, nameOf(part)]);
  const shared = links.length === 0 ? null : <p>As everywhere: {linksOf(links)}</p>;
  return parts.length === 0 ? null : [listOf(own, draw), shared];
}

function contentsOf(contents: readonly ApiContent[]): Child[] {
  return contents.map(({ mediaType, shape }) => (
    <div>
      <code>{mediaType}</code>: {shapeViewOf(shape)}
    </div>
  ));
}
