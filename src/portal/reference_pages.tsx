/** The API reference, a page for each tag and one each for what they share, drawn from the OpenAPI document. */
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ApiGroup, ApiReference } from "./api_reference.ts";
import type { CommonParts } from "./common_parts.ts";
import { drawAnswer, Endpoint } from "./endpoint_view.tsx";
import { codeBlock } from "./markdown.ts";
import { fieldView, inline, shapeViewOf, typeAnchor } from "./schema_view.tsx";
import { COMMON_PATH, groupPath, REFERENCE_PATH, TYPES_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";

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
