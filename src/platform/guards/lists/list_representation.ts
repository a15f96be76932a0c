/** The representation that pages of consents and of payments share. */
import { z } from "@hono/zod-openapi";
import type { ListPage } from "./read_list.ts";

export type { ListPage };

/** Members of `Data`, for the OpenAPI document. */
export const pageData = {
  After: z.string().optional().openapi({ description: "Where the next page starts; absent at the end." }),
};

/** Schema of `Links` of a list, for the OpenAPI document. */
export const pageLinks = z.strictObject({
  Self: z.string().openapi({ format: "uri", description: "This request." }),
  Next: z.string().optional().openapi({ format: "uri", description: "The next page; absent at the end." }),
});

/** @param query the parameters of the request, each sent once */
export function linksOf(
  url: string,
  query: Readonly<Record<string, readonly string[]>>,
  { after }: ListPage<unknown>,
): z.infer<typeof pageLinks> {
  const sent = Object.entries(query).flatMap(([name, values]) => values.map((value) => [name, value]));
  const next = [...sent.filter(([name]) => name !== "after"), ["after", after ?? ""]];
  return {
    Self: sent.length === 0 ? url : `${url}?${new URLSearchParams(sent)}`,
    ...(after === undefined ? {} : { Next: `${url}?${new URLSearchParams(next)}` }),
  };
}

export function representPage({ after }: ListPage<unknown>): object {
  return after === undefined ? {} : { After: after };
}
