/** Reads what an answer says to a developer, each statement by itself. */
import type { OAuthError, ResourceError } from "testing/answers.ts";

/** Returns the statements of an answer: a description, or one entry of `Errors` with its path. */
export async function statementsOf(response: Response): Promise<readonly string[]> {
  const text = await response.text();
  const location = response.headers.get("location");
  const challenge = response.headers.get("www-authenticate") ?? "";
  const described = /error_description="([^"]*)"/.exec(challenge)?.[1];
  const methods = response.headers.get("allow");
  return [
    ...(methods === null ? [] : [`The method must be ${methods}`]),
    ...(described === undefined ? [] : [described]),
    ...(location === null ? [] : redirected(location)),
    ...(response.headers.get("content-type")?.startsWith("text/html") === true ? [pageText(text)] : []),
    ...(response.headers.get("content-type")?.startsWith("application/json") === true ? ofJson(text) : []),
  ];
}

function redirected(location: string): string[] {
  const description = new URL(location).searchParams.get("error_description");
  return description === null ? [] : [description];
}

function ofJson(text: string): string[] {
  const body = JSON.parse(text) as Partial<OAuthError & ResourceError>;
  return [
    ...(body.error_description === undefined ? [] : [body.error_description]),
    ...(body.Errors ?? []).map(({ Path = "", Message }) => `${Path}: ${Message}`),
  ];
}

const ENTITIES: Readonly<Record<string, string>> = { "&#39;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">" };

function pageText(html: string): string {
  return html.replaceAll(/<[^>]*>/g, " ").replaceAll(
    /&(#39|quot|lt|gt);/g,
    (entity) => ENTITIES[entity] ?? "",
  )
    .replaceAll("&amp;", "&").replaceAll(/\s+/g, " ");
}
