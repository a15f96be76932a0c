/** The directory's OpenAPI document: what it describes is what answers, member by member, on each listener. */
import { LUIS_TOKEN, openTwo } from "../changes/two_administrators.ts";
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { openCertifiers } from "../../../src/directory/certification/certifiers.ts";
import type { Certification, Onboarded } from "testing/directory_answers.ts";
import { present } from "testing/answers.ts";
import {
  bank,
  contacts,
  type DirectoryEnvironment,
  ISSUER,
  openDirectoryEnvironment,
  signingRequest,
  thirdParty,
} from "testing/directory_environment.ts";
import { certifierKeys, reportOf } from "../certification/certified.ts";

const METHODS = ["get", "post", "put", "delete", "patch"] as const;

interface Operation {
  readonly key: string;
  readonly of: DescribedOperation;
}

/** The part of an OpenAPI document that these tests read. */
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly scheme: string }>>;
  };
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: unknown;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

interface DescribedAnswer {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
}

/** The part of an answer that later requests use. */
type Answered = Partial<Onboarded & Pick<Certification, "certification_id">> & {
  readonly login_id?: string;
  readonly proposal_id?: string;
};

function operations(document: Described): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const of = item[method];
      return of === undefined ? [] : [{ key: `${method.toUpperCase()} ${path}`, of }];
    })
  );
}

async function documentOf(fetch: (request: Request) => Promise<Response>): Promise<Described> {
  const answer = await fetch(new Request(`${ISSUER}/openapi.json`));
  assertEquals(answer.status, 200);
  assert(answer.headers.get("etag") !== null);
  return await answer.json() as Described;
}

/** A JSON Schema with its references to components put in their places. */
function resolved(document: Described, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => resolved(document, one));
  if (typeof schema !== "object" || schema === null) return schema;
  if ("$ref" in schema && typeof schema.$ref === "string") {
    const name = schema.$ref.replace("#/components/schemas/", "");
    assert(document.components.schemas[name] !== undefined, name);
    return resolved(document, document.components.schemas[name]);
  }
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolved(document, value)]));
}

Deno.test("every answer of the directory is one that its OpenAPI document describes [E1] [E2] [E3]", async () => {
  const certifiers = await openCertifiers(await certifierKeys());
  await using env = await openTwo({ certification: { certifiers }, fourEyes: ["suspend"] });
  const document = await documentOf(env.fetch);
  const seen = new Set<string>();
  const check = async (method: string, template: string, request: Request): Promise<Answered> => {
    const answer = await env.fetch(request);
    const of = document.paths[template]?.[method.toLowerCase()];
    const said = of?.responses[String(answer.status)];
    const name = `${method} ${template} ${answer.status}`;
    assert(said !== undefined, `${name} is not described`);
    seen.add(`${method} ${template}`);
    for (const header of Object.keys(said?.headers ?? {})) {
      assert(answer.headers.has(header), `${name} ${header}`);
    }
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    const text = await answer.text();
    if (said?.content === undefined) return assertEquals(text, "", name);
    assert(said?.content[type] !== undefined, `${name} ${type}`);
    const body = /json/.test(type) ? JSON.parse(text) : text;
    const judged = z.fromJSONSchema(Object(resolved(document, said?.content[type]?.schema))).safeParse(body);
    assert(judged.success, `${name}: ${judged.error?.message}\n${text.slice(0, 500)}`);
    return body as Answered;
  };
  await tryEverything(env, check);
  assertEquals(
    [...seen].sort(),
    operations(document).map(({ key }) => key).sort(),
    "every operation was tried",
  );
});

/** A request of the second administrator. */
function asLuis(path: string, body: object): Request {
  const headers = { authorization: `Bearer ${LUIS_TOKEN}`, "content-type": "application/json" };
  return new Request(`${ISSUER}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

type Check = (method: string, template: string, request: Request) => Promise<Answered>;

async function tryEverything(env: DirectoryEnvironment, check: Check): Promise<void> {
  const authorization = `Bearer directory-test-token-0123456789abcdef`;
  const one = "/participants/{org_id}";
  const call = (
    method: string,
    template: string,
    body?: unknown,
    kid = "",
    orgId = "SHOP",
  ): Promise<Answered> => {
    const path = template.replace("{org_id}", orgId).replace("{kid}", kid).replace("{certification_id}", kid)
      .replace("{login_id}", kid).replace("{proposal_id}", kid);
    const init = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const headers = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    return check(method, template, new Request(`${ISSUER}${path}`, { method, headers, ...init }));
  };
  const { jwks, software_client_id } = await call("POST", "/participants", await thirdParty([0, 1]));
  await call("POST", "/participants", await bank([2, 3]));
  await call("POST", "/participants", await thirdParty([0, 1])); // 409
  await call("POST", "/participants", {}); // 400
  await call("POST", "/participants", JSON.stringify("x".repeat(70_000))); // 413
  await call("GET", one);
  await call("GET", "/people/history");
  await call("GET", one, undefined, "", "BANKA");
  await call("POST", `${one}/statement`, { version: "2" });
  await call("POST", `${one}/statement`);
  await call("POST", `${one}/certificates`, { csrs: { signing: await signingRequest(4) } });
  const report = await reportOf(env, present(software_client_id));
  const { certification_id } = await call("POST", `${one}/certifications`, { report });
  await call("POST", `${one}/certifications`, { report: "x" }); // 400
  const { login_id } = await call("POST", `${one}/logins`, { name: "luis" });
  await call("POST", `${one}/logins`, { name: "luis" }); // 409
  await call("POST", `${one}/logins/{login_id}/revoke`, { reason: "left" }, login_id);
  await call("GET", one);
  await call("GET", `${one}/certifications/{certification_id}`, undefined, certification_id);
  await call("GET", `${one}/certifications/{certification_id}`, undefined, "A".repeat(43)); // 404
  await call("POST", `${one}/keys/{kid}/revoke`, { reason: "lost" }, jwks?.keys[0]?.kid);
  await call("POST", `${one}/keys/{kid}/revoke`, { reason: "lost" }, "A".repeat(27)); // 404
  const open = ["/health", "/participants", "/status", "/jwks", "/ca.pem", "/openapi.json"];
  for (const path of [...open, `${one}/statement`, `${one}/jwks`, `${one}/jwks/revoked`]) {
    const url = `${ISSUER}${path.replace("{org_id}", "SHOP")}`;
    await check("GET", path, new Request(url, { redirect: "manual" }));
  }
  await check(
    "GET",
    "/participants",
    new Request(`${ISSUER}/participants`, { headers: { accept: "text/html" } }),
  );
  const tag = (await env.get("/status")).headers.get("etag") ?? "";
  await check("GET", "/status", new Request(`${ISSUER}/status`, { headers: { "if-none-match": tag } })); // 304
  await check("GET", `${one}/jwks`, new Request(`${ISSUER}/participants/NOBODY/jwks`)); // 404
  await call("PUT", `${one}/software/status`, { status: "Active", reason: "audit" });
  const proposal = (): Promise<Answered> =>
    call("PUT", `${one}/status`, { status: "Suspended", reason: "audit" });
  const decide = (id: string | undefined, decision: string): Promise<Answered> =>
    call("POST", `/proposals/{proposal_id}/${decision}`, { reason: "agreed" }, id);
  const { proposal_id } = await proposal();
  await call("GET", "/proposals/{proposal_id}", undefined, proposal_id);
  await decide(proposal_id, "approve"); // 409
  const template = "/proposals/{proposal_id}/approve";
  await check(
    "POST",
    template,
    asLuis(template.replace("{proposal_id}", present(proposal_id)), { reason: "agreed" }),
  );
  await decide((await proposal()).proposal_id, "reject");
  await call("GET", "/proposals");
  await call("GET", "/proposals/{proposal_id}", undefined, "x"); // 404
  await call("GET", `${one}/history`);
  await call("GET", "/restored");
  await call("POST", "/restored/confirm");
  await check("GET", `${one}/history`, new Request(`${ISSUER}/participants/SHOP/history`)); // 401
}

Deno.test("each listener describes what it serves, and only that [E2] [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  const [open, administrators] = [await documentOf(env.publicFetch), await documentOf(env.adminFetch)];
  const keys = (document: Described): string[] => operations(document).map(({ key }) => key);
  const shared = ["GET /health", "GET /openapi.json"];
  assertEquals(keys(open).filter((key) => keys(administrators).includes(key)).sort(), shared);
  assertEquals(open.components.securitySchemes, undefined);
  assertEquals(administrators.components.securitySchemes?.["administrator"]?.scheme, "bearer");
  for (const { key, of } of operations(administrators)) {
    assertEquals(of.security, shared.includes(key) ? [] : [{ administrator: [] }], key);
  }
  for (const document of [open, administrators, await documentOf(env.fetch)]) {
    const all = operations(document).map(({ of }) => of);
    assertEquals(new Set(all.map(({ operationId }) => operationId)).size, all.length);
    for (const { operationId, summary, responses, tags } of all) {
      assert(
        summary && tags.length === 1 && Object.keys(responses).some((code) => code.startsWith("4")),
        operationId,
      );
    }
  }
});

Deno.test("the document states the bounds that requests are held to [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const document = await documentOf(env.adminFetch);
  const schema = document.paths["/participants"]?.["post"]?.requestBody?.content["application/json"]?.schema;
  const judge = z.fromJSONSchema(Object(resolved(document, present(schema))));
  assert(judge.safeParse(await thirdParty([0, 1])).success);
  assert(judge.safeParse(await bank([2, 3])).success);
  for (
    const changes of [
      { role: "TPP" },
      { org_id: "x" },
      { org_name: "x".repeat(129) },
      { unknown: true },
      { contacts: Array(21).fill(contacts()[0]) },
    ]
  ) {
    const request = await thirdParty([0, 1], changes);
    assert(!judge.safeParse(request).success, JSON.stringify(changes).slice(0, 80));
    assertEquals((await env.admin("POST", "/participants", request)).status, 400);
  }
});
