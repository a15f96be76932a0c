/** Answers with what the operations API returns as a file. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Visit } from "../../../console/visit.ts";

/** @param name of the file: with `.csv` it is a table, else JSON */
export async function answerFile(visit: Visit, c: Context, path: string, name: string): Promise<Response> {
  const answer = await visit.readText(path);
  if (!answer.ok) return c.text(answer.description, answer.status as ContentfulStatusCode);
  return c.body(answer.value, 200, {
    "content-type": name.endsWith(".csv") ? "text/csv; charset=utf-8" : "application/json",
    "content-disposition": `attachment; filename="${name}"`,
  });
}
