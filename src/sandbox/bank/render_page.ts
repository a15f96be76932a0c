/** Sends a page as a complete HTML document. */
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDocument } from "../../pages/html_document.tsx";

/** The page with its document type; default status 200. */
export function renderPage(
  c: Context,
  page: JSX.Element,
  status: 200 | 400 | 403 | 404 | 410 | 413 | 503 = 200,
): Response | Promise<Response> {
  return c.html(renderDocument(page), status);
}
