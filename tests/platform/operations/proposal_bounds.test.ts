/** Proposals: what a second operator sees, how many there can be, and what becomes of an approval that was cut. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { reconcile } from "../../../scripts/operators/reconcile/main.ts";
import { ops } from "../../../scripts/operators/ops/main.ts";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";
import { historyOf } from "testing/histories.ts";
import { isExactPath } from "../../../src/platform/guards/security/four_eyes.ts";
import { openConsole } from "testing/console_browser.ts";
import { changeAs, OPERATIONS_URL, OPERATOR_TOKENS, type TestOperator } from "testing/operators.ts";
import {
  AGREED,
  approvedAndCut,
  blocks,
  HOUR,
  listed,
  openTwo,
  post,
  proposed,
  type ProposedBody,
  REASON,
} from "support/four_eyes.ts";

Deno.test("an approved change whose process ended can be withdrawn, and expires [FE2]", async () => {
  await using env = await openTwo();
  const withdrawn = await approvedAndCut(env);
  assertEquals(
    (await post(env, `/proposals/${withdrawn}/withdraw`, "security")).body.Data?.State,
    "withdrawn",
  );
  assertEquals((await post(env, `/proposals/${withdrawn}/approve`, "maria")).status, 409);
  const late = await approvedAndCut(env);
  env.now += 24 * HOUR;
  assertEquals((await listed(env)).map(({ State }) => State).toSorted(), ["expired", "withdrawn"]);
  assertEquals((await post(env, `/proposals/${late}/approve`, "maria")).status, 409);
  assertEquals((await post(env, `/proposals/${late}/withdraw`, "security")).status, 409);
  assertEquals(await blocks(env), []);
});

Deno.test("a repeated approval that finds the change made is unclear, and not failed [FE3]", async () => {
  await using env = await openTwo();
  const id = await approvedAndCut(env, 2);
  assertEquals((await blocks(env)).length, 1);
  const { status, body } = await post(env, `/proposals/${id}/approve`, "maria", AGREED);
  assertEquals([status, body.Data?.State, typeof body.Data?.Fault], [200, "unclear", "string"]);
  assertEquals((await listed(env))[0]?.State, "unclear");
  assertEquals((await historyOf(env.store, `proposal ${id}`)).at(-1)?.event, "proposal.unclear");
  assertEquals((await post(env, `/proposals/${id}/approve`, "maria", AGREED)).status, 409);
});

Deno.test("a change that is made during its withdrawal is done [FE2, FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = async (staged) => {
    if (++commits === 2) {
      env.store.commit = commit;
      assertEquals((await post(env, `/proposals/${id}/withdraw`, "security")).status, 200);
    }
    return await commit(staged);
  };
  const { body } = await post(env, `/proposals/${id}/approve`, "maria", AGREED);
  assertEquals([body.Data?.State, body.Data?.DecidedBy], ["done", "operator maria"]);
  assertEquals((await blocks(env)).length, 1);
});

Deno.test("a path that names another endpoint than it shows is neither proposed nor carried out [FE5]", async () => {
  await using env = await openTwo();
  const send = async (path: string, as: TestOperator) => {
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${OPERATOR_TOKENS[as as "maria"]}`,
    };
    const body = JSON.stringify({ Data: { Reason: REASON } });
    const request = new Request(`${OPERATIONS_URL}/x`, { method: "POST", headers, body });
    Object.defineProperty(request, "url", { value: `${OPERATIONS_URL}/operations${path}` }); // as a socket sends it
    const answer = await env.platform.operations.fetch(request);
    return { status: answer.status, body: await answer.json() };
  };
  const software = `/organisations/NOBODY\\..\\..\\software\\${env.tpp.clientId}/block`;
  const paths = [software, "/organisations/NOBODY\\..\\BANKA/block"];
  for (const path of paths) assertEquals((await send(path, "security")).status, 400, path);
  for (const path of ["/a/%2e%2e/b", "/a/../b", "//a/b", "/a b"]) {
    assertEquals(isExactPath(path), false, path);
  }
  for (const path of paths) {
    const id = await proposed(env, "/organisations/BANKA/block");
    const stored = await env.store.get<object>(["proposal", id]);
    const value = { ...stored?.value, path: `/operations${path}` };
    await env.store.commit({ checks: [], writes: [{ kind: "set", key: ["proposal", id], value }] });
    assertEquals((await post(env, `/proposals/${id}/approve`, "maria")).status, 409, path);
  }
  const id = await proposed(env, "/organisations/BANKA/block");
  const stored = await env.store.get<object>(["proposal", id]);
  const value = { ...stored?.value, path: `/operations/software/${env.tpp.clientId}/block` };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key: ["proposal", id], value }] });
  const { body } = await post(env, `/proposals/${id}/approve`, "maria");
  assertEquals(body.Data?.State, "failed", "only the endpoint that was matched");
  assertEquals(await blocks(env), []);
});

Deno.test("the second operator sees the whole change, and its history has the digest of the body [FE5]", async () => {
  await using env = await openTwo();
  const Data = { Reason: REASON, StatusReason: 'No money "was" \u202emoved.', MayBeAtBank: true };
  const path = `/payment-orders/${crypto.randomUUID()}/close` as const;
  const sent = await changeAs(env, path, Data, "operator");
  const id = (await bodyOf<ProposedBody>(sent)).Data?.ProposalId;
  const [shown] = await listed(env);
  assertEquals([shown?.Path, JSON.parse(shown?.Body ?? "")], [`/operations${path}`, { Data }]);
  const [entry] = await historyOf(env.store, `proposal ${id}`);
  assertEquals(
    entry?.reason,
    `body SHA-256 ${await sha256(shown?.Body ?? "")}, /operations${path}: ${REASON}`,
  );
  const browser = await openConsole(env);
  const { html } = await browser.get("/console/proposals");
  const text = html.replaceAll("&quot;", '"').replaceAll("&#39;", "'");
  assert(text.includes(shown?.Body.replace("\u202e", "\\u{202e}") ?? "no body"), text);
  let printed = "";
  await ops(["proposals"], {
    environment: (name) => name === "PLATFORM_OPS_TOKEN" ? OPERATOR_TOKENS.maria : undefined,
    readText: () => Promise.reject(new Error("no file")),
    fetch: ((url: string, init) => env.platform.operations.fetch(new Request(url, init))) as typeof fetch,
    print: (line) => void (printed += line),
    now: env.now,
  });
  assert(printed.includes(`Body: ${shown?.Body.replace("\u202e", "?")}`), printed);
});

Deno.test("open proposals are bounded for each operator and in all, and ended ones do not count [FE6]", async () => {
  await using env = await openTwo();
  const propose = (as: TestOperator) => post(env, `/software/${env.tpp.clientId}/block`, as);
  const first = await proposed(env, "/organisations/BANKA/block");
  const statuses = (await Promise.all(Array.from({ length: 4 }, () => propose("security"))))
    .map(({ status }) => status);
  for (let count = 0; count < 20; count++) statuses.push((await propose("security")).status);
  assertEquals(statuses.filter((status) => status === 202).length, 19);
  assertEquals((await propose("security")).body.error, "conflict");
  await post(env, `/proposals/${first}/withdraw`, "security");
  assertEquals((await propose("security")).status, 202);
  assertEquals((await propose("security")).status, 409);
  assertEquals((await propose("maria")).status, 202, "the others have their own");
  for (let count = 0; count < 19; count++) assertEquals((await propose("maria")).status, 202);
  const close = `/payment-orders/${crypto.randomUUID()}/close` as const;
  const data = { Reason: REASON, StatusReason: "No money was moved." };
  const closes: number[] = [];
  for (let count = 0; count < 11; count++) {
    const answer = await changeAs(env, close, data, "operator");
    await answer.body?.cancel();
    closes.push(answer.status);
  }
  assertEquals(closes, [...Array(10).fill(202), 409]);
  env.now += 24 * HOUR;
  assertEquals((await propose("security")).status, 202, "expired ones do not count");
});

Deno.test("ended proposals neither stop a new one nor hide it [FE6]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  await post(env, `/proposals/${id}/withdraw`, "security");
  const ended = await env.store.get<object>(["proposal", id]);
  for (let count = 0; count < 600; count += 100) {
    const writes = Array.from({ length: 100 }, () => {
      const other = `00000000-${crypto.randomUUID().slice(9)}`;
      return { kind: "set" as const, key: ["proposal", other], value: { ...ended?.value, id: other } };
    });
    await env.store.commit({ checks: [], writes });
  }
  env.now += 1;
  const open = await proposed(env, "/organisations/BANKA/block", "maria");
  const [newest, ...others] = await listed(env);
  assertEquals([newest?.ProposalId, others.length >= 499], [open, true]);
});

Deno.test("deno task reconcile prints the proposal of a step that needs two operators, and that the bank stays held [FE1]", async () => {
  await using env = await openTwo("reconcile,release-restored");
  const printed: string[] = [];
  const tools = {
    environment: (name: string) => name === "PLATFORM_OPS_TOKEN" ? OPERATOR_TOKENS.operator : undefined,
    readText: () => Promise.reject(new Error("no file")),
    fetch: ((url: string, init) => env.platform.operations.fetch(new Request(url, init))) as typeof fetch,
    print: (line: string) => void printed.push(line),
  };
  await reconcile(["--bank", "BANKA", "--url", OPERATIONS_URL], tools);
  await reconcile(["--bank", "BANKA", "--release", REASON, "--url", OPERATIONS_URL], tools);
  const ids = (await listed(env)).map(({ ProposalId }) => ProposalId);
  assertEquals(ids.length, 2);
  for (const [index, step] of ["BANKA/reconcile", "BANKA/release"].entries()) {
    const line = printed.filter((one) => one.startsWith(`${step}: proposed.`));
    assertEquals(line.length, 1, printed[index]);
    assert(ids.some((id) => line[0]?.includes(`deno task ops proposal approve ${id}`)));
  }
});
