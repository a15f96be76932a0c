/** Content negotiation (RFC 9110 §12.5.1). Browsers name `text/html` in `Accept`, programs do not. */

const HTML = "text/html";
const JSON_TYPE = "application/json";

/**
 * Whether `Accept` admits JSON: the most specific of its ranges decides, and `q=0` is a refusal. Without a range it
 * admits everything. Older clients write the range of all types as `*`.
 */
export function acceptsJson(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map(rangeOf).filter(([type]) => type !== "");
  if (ranges.length === 0) return true;
  const qualities = new Map(ranges);
  const quality = [JSON_TYPE, "application/*", "*/*", "*"].map((type) => qualities.get(type))
    .find((each) => each !== undefined);
  return quality !== undefined && quality > 0;
}

/** Whether `Accept` names HTML and does not prefer JSON to it. Wildcards are ignored. */
export function prefersHtml(accept: string | undefined): boolean {
  const qualities = new Map((accept ?? "").split(",").map(rangeOf));
  const html = qualities.get(HTML) ?? 0;
  return html > 0 && html >= (qualities.get(JSON_TYPE) ?? 0);
}

function rangeOf(element: string): [type: string, quality: number] {
  const [type = "", ...parameters] = element.toLowerCase().split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const number = quality === undefined ? 1 : Number(quality);
  return [type, Number.isNaN(number) ? 0 : number];
}
