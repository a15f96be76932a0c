/** Writes requests as a Postman collection, format 2.1. `examples/postman/signer.js` signs them. */
import type { Body, CollectionRequest } from "./requests.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const SIGNER = "http://127.0.0.1:8490";

const DESCRIPTION =
  "A payment as a TPP makes it. Needs examples/postman/signer.js and the client certificate: docs/tpp.md, Requests in Postman.";

/** Runs before each request. */
const PREPARE =
  `// signer.js has the keys: it returns what is signed, and the variables that later requests need.
const sent = pm.request;
const fields = sent.body?.mode === "urlencoded" ? sent.body.urlencoded : undefined;
const asked = {
  method: sent.method,
  url: sent.url.toString(),
  headers: Object.fromEntries(sent.headers.map(({ key, value }) => [key.toLowerCase(), value])),
  body: fields === undefined ? sent.body?.raw ?? "" : fields.map(({ key, value }) => ({ name: key, value })),
  variables: pm.variables.toObject(),
};
pm.sendRequest({
  url: pm.variables.get("signer") + "/prepare",
  method: "POST",
  header: { "content-type": "application/json" },
  body: { mode: "raw", raw: JSON.stringify(asked) },
}, (error, answer) => {
  pm.test("signer.js has prepared the request", () => {
    if (error) throw new Error("signer.js does not answer. Start it: node examples/postman/signer.js");
    const { fault, headers, body, variables } = answer.json();
    if (fault !== undefined) throw new Error(fault);
    for (const [name, value] of Object.entries(variables)) pm.collectionVariables.set(name, value);
    for (const [key, value] of Object.entries(headers)) sent.headers.upsert({ key, value });
    if (fields !== undefined) {
      sent.body.update({ mode: "urlencoded", urlencoded: body.map(({ name, value }) => ({ key: name, value })) });
    } else if (body !== "") sent.body.update({ mode: "raw", raw: body });
  });
});`;

/** Runs after each request. */
const VERIFY = `// signer.js verifies the platform's signature over the bytes received.
const asked = {
  url: pm.request.url.toString(),
  headers: Object.fromEntries(pm.request.headers.map(({ key, value }) => [key.toLowerCase(), value])),
  variables: {},
  status: pm.response.code,
  answerHeaders: Object.fromEntries(pm.response.headers.map(({ key, value }) => [key.toLowerCase(), value])),
  answer: pm.response.text(),
};
pm.sendRequest({
  url: pm.variables.get("signer") + "/verify",
  method: "POST",
  header: { "content-type": "application/json" },
  body: { mode: "raw", raw: JSON.stringify(asked) },
}, (error, answer) => {
  const { fault = error?.message, tests = [] } = error ? {} : answer.json();
  const results = fault === undefined ? tests : [{ name: "signer.js has verified the answer", fault }];
  for (const { name, fault } of results) {
    pm.test(name, () => {
      if (fault !== undefined) throw new Error(fault);
    });
  }
});`;

/** Returns the collection as the text of its file. */
export function postmanCollection(requests: readonly CollectionRequest[]): string {
  const folder = (name: string, part: readonly CollectionRequest[]): object => ({
    name,
    item: part.map(itemOf),
  });
  const collection = {
    info: { name: "Payment initiation, as a TPP", description: DESCRIPTION, schema: SCHEMA },
    auth: { type: "noauth" },
    event: [script("prerequest", PREPARE.split("\n")), script("test", VERIFY.split("\n"))],
    variable: [{ key: "signer", value: SIGNER }, { key: "bank", value: "BANKA" }],
    item: [
      folder("Payment", requests.filter(({ seq }) => seq !== undefined)),
      folder("More", requests.filter(({ seq }) => seq === undefined)),
    ],
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

/** Postman states the type of a body only if a header does. */
const TYPES: Readonly<Partial<Record<Body["kind"], string>>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
};

function itemOf(request: CollectionRequest): object {
  const { name, method, url, query, headers, body, docs } = request;
  const parameters = query.map((pair) => pair.join("=")).join("&");
  const type = TYPES[body.kind];
  const all = type === undefined ? headers : { ...headers, "content-type": type };
  return {
    name,
    event: [script("test", testOf(request))],
    request: {
      method: method.toUpperCase(),
      header: keyed(all),
      url: parameters === "" ? url : `${url}?${parameters}`,
      ...bodyOf(body),
      description: docs.join("\n\n"),
    },
  };
}

function bodyOf(body: Body): object {
  switch (body.kind) {
    case "none":
      return {};
    case "jose":
      return { body: { mode: "raw", raw: "made by signing.js" } };
    case "json":
      return { body: { mode: "raw", raw: JSON.stringify(body.value, null, 2) } };
    case "form":
      return { body: { mode: "urlencoded", urlencoded: keyed(body.fields) } };
  }
}

function testOf({ statuses, expected, keep }: CollectionRequest): readonly string[] {
  const values = Object.entries(expected).map(([part, value]) =>
    `pm.test(${quoted(part)}, () => pm.expect(${partOf(part)}).to.eql(pm.variables.replaceIn(${
      quoted(value)
    })));`
  );
  const kept = Object.entries(keep).map(([name, part]) =>
    `pm.collectionVariables.set(${quoted(name)}, ${partOf(part)});`
  );
  const status = `pm.test("status", () => pm.expect(${
    JSON.stringify(statuses)
  }).to.include(pm.response.code));`;
  return [status, ...values, ...kept];
}

/** Returns the expression of Postman for a part of the response, such as `res.body.code`. */
function partOf(part: string): string {
  const header = /^res\.headers\['([a-z-]+)'\]$/.exec(part)?.[1];
  if (header !== undefined) return `pm.response.headers.get(${quoted(header)})`;
  if (!part.startsWith("res.body.")) throw new Error(`${part} is no part of a response`);
  return part.replace("res.body", "pm.response.json()");
}

function script(listen: "prerequest" | "test", exec: readonly string[]): object {
  return { listen, script: { type: "text/javascript", exec } };
}

function keyed(values: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value }));
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
