/** Draws one endpoint of the API reference: what it takes and what it answers. */
import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ApiAnswer, ApiContent, ApiEndpoint, ApiReference } from "./api_reference.ts";
import { type CommonParts, partKey } from "./common_parts.ts";
import { COMMON_PATH, type Link } from "./paths.ts";
import { codeBlock } from "./markdown.ts";
import { bodyFile, samplesOf } from "./request_samples.ts";
import { fieldView, inline, linksOf, listOf, Prose, shapeViewOf } from "./schema_view.tsx";

/** The endpoint under its heading, which is its anchor. */
export function Endpoint(
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
export function drawAnswer({ status, description, headers, contents }: ApiAnswer): JSX.Element {
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
