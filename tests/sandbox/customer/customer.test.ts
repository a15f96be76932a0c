/** The demo's customer in front of pages with the forms of the sandbox, served over HTTP. */
import { assertEquals, assertRejects } from "@std/assert";
import { type CustomerPlan, goThroughAuthorization } from "../../../src/sandbox/customer/customer.ts";

const redirectUri = "http://localhost:1/callback";

interface Seen {
  readonly path: string;
  readonly cookie: string;
  readonly form: Record<string, string>;
}

type Pages = Readonly<Record<string, (seen: Seen) => Response>>;

const pages: Pages = {
  "GET /BANKA/authorization.oauth2": () =>
    redirect("/sca?oAuthUrl=x", "flow=platform; Path=/BANKA; HttpOnly"),
  "GET /sca": () => redirect("/sca/1", "visit=bank; Path=/sca/1; HttpOnly; SameSite=Lax"),
  "GET /sca/1": () =>
    html(form("login", `<input name="username"><input name="password" type="password">`, "continue")),
  "POST /sca/1": ({ form: { decision } }) =>
    decision === "continue" ? redirect("/sca/1/code") : redirect("/sca/1/back"),
  "GET /sca/1/code": () => html(form("otp", `<input name="code">`, "confirm", "/sca/1/code/")),
  "POST /sca/1/code/": ({ form: { decision } }) =>
    decision === "confirm"
      ? redirect("/BANKA/consent", "visit=; Path=/sca/1; Max-Age=0")
      : redirect(`${redirectUri}?error=access_denied`),
  "GET /BANKA/consent": () =>
    html(form(
      "consent",
      `<input type="hidden" name="csrf" value="t&amp;t"><input type="radio" name="account" value="0" disabled>
       <input type="radio" name="account" value="1"><input type="radio" name="account" value="2">`,
      "accept",
    )),
  "POST /BANKA/consent": ({ form: { decision } }) =>
    redirect(`${redirectUri}?${decision === "accept" ? "code=c" : "error=access_denied"}`),
};

Deno.test("goThroughAuthorization logs in, confirms, accepts with the first account that can pay", () =>
  withPages(pages, async (plan, seen) => {
    const steps: string[] = [];
    const back = await goThroughAuthorization(
      plan,
      ({ visit, form }) => steps.push(form ?? String(visit.status)),
    );
    assertEquals(back.href, `${redirectUri}?code=c`);
    assertEquals(steps, ["303", "303", "login", "303", "otp", "303", "consent", "303"]);
    assertEquals(
      seen.map(({ path, form }) => [path, form]).filter(([path]) => String(path).startsWith("POST")),
      [
        ["POST /sca/1", { username: "alice", password: "sandbox", keep: "k", decision: "continue" }],
        ["POST /sca/1/code/", { code: "123456", keep: "k", decision: "confirm" }],
        ["POST /BANKA/consent", { csrf: "t&t", account: "1", keep: "k", decision: "accept" }],
      ],
    );
  }));

Deno.test("goThroughAuthorization keeps cookies to their paths and drops them when told", () =>
  withPages(pages, async (plan, seen) => {
    await goThroughAuthorization(plan, () => {});
    assertEquals(seen.map(({ path, cookie }) => `${path} ${cookie}`.trimEnd()), [
      "GET /BANKA/authorization.oauth2",
      "GET /sca",
      "GET /sca/1 visit=bank",
      "POST /sca/1 visit=bank",
      "GET /sca/1/code visit=bank",
      "POST /sca/1/code/ visit=bank",
      "GET /BANKA/consent flow=platform",
      "POST /BANKA/consent flow=platform",
    ]);
  }));

for (const rejectAt of ["otp", "consent"] as const) {
  Deno.test(`goThroughAuthorization rejects at the ${rejectAt} form`, () =>
    withPages(pages, async (plan) => {
      const back = await goThroughAuthorization({ ...plan, rejectAt }, () => {});
      assertEquals(back.search, "?error=access_denied");
    }));
}

Deno.test("goThroughAuthorization gives up where a customer would", async (t) => {
  const start = "GET /BANKA/authorization.oauth2";
  const cases: readonly (readonly [string, () => Response, string])[] = [
    ["error page", (): Response => html("<h1>Link &amp; gone</h1>", 400), "answered 400 Link & gone"],
    ["page without a known form", (): Response => html(form("survey", "", "ok")), "no next page"],
    [
      "redirect that would repeat a POST",
      (): Response => new Response(null, { status: 307, headers: { location: "/" } }),
      "307",
    ],
    ["endless redirects", (): Response => redirect("/BANKA/authorization.oauth2"), "not back"],
    [
      "no account can pay",
      (): Response =>
        html(form("consent", `<input type="radio" name="account" value="0" disabled>`, "accept")),
      "None",
    ],
  ];
  for (const [name, page, message] of cases) {
    await t.step(name, () =>
      withPages({ [start]: page }, async (plan) => {
        await assertRejects(() => goThroughAuthorization(plan, () => {}), Error, message);
      }));
  }
});

async function withPages(
  served: Pages,
  test: (plan: CustomerPlan, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: (): void => {} }, async (request) => {
    const path = `${request.method} ${new URL(request.url).pathname}`;
    const body = Object.fromEntries(new URLSearchParams(await request.text()));
    const visit = { path, cookie: request.headers.get("cookie") ?? "", form: body };
    seen.push(visit);
    return served[path]?.(visit) ?? html("<h1>Not found</h1>", 404);
  });
  try {
    const startUrl =
      `http://127.0.0.1:${server.addr.port}/BANKA/authorization.oauth2?client_id=c&request_uri=r`;
    await test({ startUrl, redirectUri }, seen);
  } finally {
    await server.shutdown();
  }
}

function redirect(location: string, cookie?: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, ...(cookie === undefined ? {} : { "set-cookie": cookie }) },
  });
}

function html(body: string, status = 200): Response {
  return new Response(`<!DOCTYPE html>${body}`, { status, headers: { "content-type": "text/html" } });
}

function form(id: string, inside: string, yes: string, action = ""): string {
  const target = action === "" ? "" : ` action="${action}"`;
  return `<form id="${id}" method="post"${target}>${inside}<input type="hidden" name="keep" value="k">` +
    `<button name="decision" value="${yes}">Yes</button><button name="decision" value="refuse">No</button></form>`;
}

Deno.test("goThroughAuthorization never visits a TPP, not even one whose redirect URL looks like a bank's [SB6]", async () => {
  const visited: string[] = [];
  const options = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const tpp = Deno.serve(options, (request) => {
    visited.push(request.url);
    return new Response("internal");
  });
  const address = `http://127.0.0.1:${tpp.addr.port}/meta?oAuthUrl=1&code=c&iss=i`;
  const platform = Deno.serve(options, () => Response.redirect(address, 303));
  try {
    const startUrl = `http://127.0.0.1:${platform.addr.port}/BANKA/authorization.oauth2`;
    assertEquals((await goThroughAuthorization({ startUrl }, () => {})).href, address);
    assertEquals(visited, []);
  } finally {
    await platform.shutdown();
    await tpp.shutdown();
  }
});
