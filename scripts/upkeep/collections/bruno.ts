/** Writes requests in Bruno's format. */
import type { Body, CollectionRequest } from "./requests.ts";

/** A block of Bruno's format: a name, and lines. */
type Block = readonly [name: string, lines: readonly string[]];

/** Returns the files of the collection by their names. Requests that are not part of the payment are in `more`. */
export function brunoFiles(requests: readonly CollectionRequest[]): Readonly<Record<string, string>> {
  return Object.fromEntries(requests.map((request) => [fileOf(request), formatRequest(request)]));
}

function fileOf({ seq, name }: CollectionRequest): string {
  return seq === undefined ? `more/${name}.bru` : `payment/${String(seq).padStart(2, "0")} ${name}.bru`;
}

function formatRequest(request: CollectionRequest): string {
  const { seq, name, method, headers, body, keep, docs } = request;
  const [mode, block] = bodyOf(body);
  const blocks: readonly Block[] = [
    ["meta", [`name: ${name}`, "type: http", ...(seq === undefined ? [] : [`seq: ${seq}`])]],
    [method, [`url: ${urlOf(request)}`, `body: ${mode}`, "auth: none"]],
    ["headers", pairs(headers)],
    ...(block === undefined ? [] : [block]),
    ["vars:post-response", pairs(keep)],
    ["assert", assertionsOf(request)],
    ["docs", docs],
  ];
  return blocks.filter(([, lines]) => lines.length > 0).map(written).join("\n");
}

function written([name, lines]: Block): string {
  return `${name} {\n${lines.map((line) => line === "" ? "\n" : `  ${line}\n`).join("")}}\n`;
}

function urlOf({ url, query }: CollectionRequest): string {
  return query.length === 0 ? url : `${url}?${query.map(([name, value]) => `${name}=${value}`).join("&")}`;
}

function bodyOf(body: Body): [mode: string, block?: Block] {
  switch (body.kind) {
    case "none":
      return ["none"];
    case "jose":
      return ["text", ["body:text", ["made by signing.js"]]];
    case "json":
      return ["json", ["body:json", JSON.stringify(body.value, null, 2).split("\n")]];
    case "form":
      return ["formUrlEncoded", ["body:form-urlencoded", pairs(body.fields)]];
  }
}

function assertionsOf({ statuses, expected }: CollectionRequest): readonly string[] {
  const values = Object.entries(expected).map(([part, value]) => `${part}: eq ${value}`);
  return [`res.status: in [${statuses.join(", ")}]`, ...values];
}

function pairs(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).map(([name, value]) => `${name}: ${value}`);
}
