/** Draws one endpoint of the API reference: what it takes and what it answers. */
import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ApiAnswer, ApiContent, ApiEndpoint, ApiReference } from "./api_reference.ts";
import { apart, type CommonPart } from "./common_parts.ts";
import { COMMON_PATH } from "./paths.ts";
import { codeBlock } from "./markdown.ts";
import { samplesOf } from "./request_samples.ts";
import { bodyFile } from "./sample_request.ts";
import { Fields, inline, listOf, Prose, ShapeView } from "./schema_view.tsx";

/** The endpoint under its heading, which is its anchor. */
export function Endpoint(
  { endpoint, reference }: { readonly endpoint: ApiEndpoint; readonly reference: ApiReference },
): JSX.Element {
  const { id, method, path, title, description, body, security } = endpoint;
  const tried = reference.tryLink(endpoint.operationId);
  const parameters = apart(endpoint.parameters, reference.commonParameters);
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
      <Chapter title="Security" there={security.length > 0}>
        {listOf(security, (scheme) => (
          <>
            <code>{scheme.name}</code> {inline(scheme.description ?? "")}
          </>
        ))}
      </Chapter>
      <Chapter title="Parameters" there={endpoint.parameters.length > 0}>
        <Fields fields={parameters.own} />
        <Shared parts={parameters.shared} nameOf={({ name }) => name} />
      </Chapter>
      <Chapter title="Request body" there={body.length > 0}>
        <Contents contents={body} />
      </Chapter>
      <Answers endpoint={endpoint} reference={reference} />
    </article>
  );
}

function Answers(
  { endpoint, reference }: { readonly endpoint: ApiEndpoint; readonly reference: ApiReference },
): JSX.Element {
  const { own, shared } = apart(endpoint.answers, reference.commonAnswers);
  return (
    <Chapter title="Answers" there={endpoint.answers.length > 0}>
      {own.length > 0 && listOf(own, (answer) => <Answer answer={answer} />)}
      <Shared parts={shared} nameOf={({ status }) => status} />
    </Chapter>
  );
}

/** One status with its words, headers and bodies. */
export function Answer({ answer }: { readonly answer: ApiAnswer }): JSX.Element {
  const { status, description, headers, contents } = answer;
  return (
    <>
      <strong>{status}</strong> {inline(description)}
      <Fields fields={headers.map((header) => ({ ...header, place: "header" }))} />
      <Contents contents={contents} />
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

function Chapter(
  { title, there, children }: { readonly title: string; readonly there: boolean; readonly children: Child },
): JSX.Element | null {
  if (!there) return null;
  return (
    <>
      <h3>{title}</h3>
      {children}
    </>
  );
}

function Shared<Part>(
  { parts, nameOf }: {
    readonly parts: readonly CommonPart<Part>[];
    readonly nameOf: (part: Part) => string;
  },
): JSX.Element | null {
  if (parts.length === 0) return null;
  return (
    <p>
      {"As everywhere: "}
      {parts.map(({ id, part }, place) => (
        <>
          {place === 0 ? null : ", "}
          <a href={`${COMMON_PATH}#${id}`}>{nameOf(part)}</a>
        </>
      ))}
    </p>
  );
}

function Contents({ contents }: { readonly contents: readonly ApiContent[] }): JSX.Element {
  return (
    <>
      {contents.map(({ mediaType, shape }) => (
        <div>
          <code>{mediaType}</code>: <ShapeView shape={shape} />
        </div>
      ))}
    </>
  );
}
