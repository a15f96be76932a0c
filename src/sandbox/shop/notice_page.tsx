/**
 * A page with one sentence for a request that was not found, was rejected or failed. Does not reveal why a request was
 * rejected.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Reader } from "../pages/reader.ts";
import { ShopLayout } from "./layout.tsx";
import { phrase, words } from "./phrase.ts";

/** The kinds of notices. */
export type Notice = "failed" | "origin" | "cookies" | "choice" | "stray" | "not_found" | "too_long";

export function NoticePage(
  { reader, notice }: { readonly reader: Reader; readonly notice: Notice },
): JSX.Element {
  const { language } = reader;
  const title = words(language, `notice.${notice}.title`);
  return (
    <ShopLayout reader={reader} title={title}>
      <h1>{title}</h1>
      <p>{phrase(language, `notice.${notice}.text`)}</p>
      <ul class="links">
        <li>
          <a href="/" class="button">{phrase(language, "order.back")}</a>
        </li>
      </ul>
    </ShopLayout>
  );
}
