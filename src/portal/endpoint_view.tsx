/** Draws one endpoint of the API reference: what it takes and what it answers. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ApiAnswer, ApiContent, ApiEndpoint, ApiReference, SecurityScheme } from "./api_reference.ts";
import { apart, type CommonPart } from "./common_parts.ts";
import { COMMON_PATH } from "./paths.ts";
import { Fields, inline, Prose, ShapeView } from "./schema_view.tsx";

/** The endpoint under its heading, which is its anchor. */
export function Endpoint(
  { endpoint, reference }: { readonly endpoint: ApiEndpoint; readonly reference: ApiReference },
): JSX.Element {
  const { id, method, path, title, description, body, security } = endpoint;
  const parameters = apart(endpoint.parameters, reference.commonParameters);
  const answers = apart(endpoint.answers, reference.commonAnswers);
  return (
    <article class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>
        <span class="method">{method}</span> <code class="path">{path}</code>{" "}
        {endpoint.deprecated ? <strong>deprecated</strong> : null}
      </p>
      <Prose text={description} />
      <Chapter title="Security" there={security.length > 0}>
        <Security schemes={security} />
      </Chapter>
      <Chapter title="Parameters" there={endpoint.parameters.length > 0}>
        {parameters.own.length === 0 ? null : <Fields fields={parameters.own} />}
        <Shared parts={parameters.shared} nameOf={({ name }) => name} />
      </Chapter>
      <Chapter title="Request body" there={body.length > 0}>
        <Contents contents={body} />
      </Chapter>
      <Chapter title="Answers" there={endpoint.answers.length > 0}>
        {answers.own.length === 0 ? null : (
          <ul>
            {answers.own.map((answer) => (
              <li>
                <Answer answer={answer} />
              </li>
            ))}
          </ul>
        )}
        <Shared parts={answers.shared} nameOf={({ status }) => status} />
      </Chapter>
    </article>
  );
}

function Security({ schemes }: { readonly schemes: readonly SecurityScheme[] }): JSX.Element {
  return (
    <ul>
      {schemes.map(({ name, description }) => (
        <li>
          <code>{name}</code> {inline(description ?? "")}
        </li>
      ))}
    </ul>
  );
}

/** One status with its words, headers and bodies. */
export function Answer({ answer }: { readonly answer: ApiAnswer }): JSX.Element {
  const { status, description, headers, contents } = answer;
  return (
    <>
      <strong>{status}</strong> {inline(description)}
      {headers.length === 0
        ? null
        : <Fields fields={headers.map((header) => ({ ...header, place: "header" }))} />}
      <Contents contents={contents} />
    </>
  );
}

/** An example. A box that scrolls must be reachable by keyboard (WCAG 2.1.1) and say what it is (4.1.2). */
export function Example({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre tabindex={0} role="group" aria-label="Example">
      <code>{text}</code>
    </pre>
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
