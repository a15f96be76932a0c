/** `deno task ops`: the operations API and the list of operators from the command line. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { BankStates, Controls, PlannedOutage } from "testing/operation_answers.ts";
import { COMMANDS } from "../../../../scripts/operators/ops/commands.ts";
import { ops, type OpsTools } from "../../../../scripts/operators/ops/main.ts";
import { CLEAR } from "../../../../scripts/operators/ops/watch.ts";
import type { Entry, Key } from "../../../../src/base/store/store.ts";
import { present } from "testing/answers.ts";
import { readCredentials } from "../../../../src/base/http/credentials.ts";
import { OPERATION_ROLES, OPERATORS } from "../../../../src/platform/guards/security/operator_roles.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { OPERATOR_TOKENS } from "testing/operators.ts";
import { down, openPushEnvironment, paid } from "support/orders.ts";

const REASON = ["--reason", "The desk has asked for it."];

/** Runs a command line against the environment; the printed lines. */
async function run(
  env: Environment,
  args: readonly string[],
  variables: Record<string, string> = {},
  more: Partial<OpsTools> = {},
): Promise<string> {
  const printed: string[] = [];
  const given: Record<string, string> = { PLATFORM_OPS_TOKEN: OPERATOR_TOKENS.maria, ...variables };
  await ops(args, {
    environment: (name) => given[name],
    readText: () => Promise.resolve(`${OPERATOR_TOKENS.viewer}\n`),
    fetch: ((url: string, init?: RequestInit) =>
      env.platform.operations.fetch(new Request(url, init))) as typeof fetch,
    print: (line) =>
      void printed.push(line),
    now: env.now,
    ...more,
  });
  return printed.join("\n");
}

Deno.test("ops changes controls and shows them as text and as JSON", async () => {
  await using env = await openEnvironment();
  const hold = (await run(env, ["bank", "hold", "BANKA", ...REASON])).split("\n").slice(2, 5);
  assertEquals(hold.map((line) => line.trim().split(/ +/)[0]), ["BankHold:", "BankId", "BANKA"]);
  const shown = JSON.parse(await run(env, ["controls", "--json"])) as Controls;
  assertEquals(shown.Data.BankHold.map(({ BankId, By }) => [BankId, By]), [["BANKA", "operator maria"]]);
  const [name, heads = "", held = ""] = (await run(env, ["history", "bank BANKA"])).split("\n");
  assertEquals([name, heads.indexOf("Event") > 0], ["Entry:", true], "a table");
  assertEquals(held.slice(heads.indexOf("Event")).split(" ")[0], "bank.held");
  await run(env, ["bank", "release", "BANKA", ...REASON]);
  const times = [
    "--from",
    "2040-02-01T00:00:00Z",
    "--until",
    "2040-02-01T01:00:00Z",
    "--text",
    "Maintenance.",
  ];
  const planned = await run(env, ["bank", "outage", "BANKA", ...times, ...REASON, "--json"]);
  const { Data } = JSON.parse(planned) as PlannedOutage;
  const changed = ["bank", "change-outage", "BANKA", Data.OutageId, ...times, ...REASON, "--json"];
  assertEquals((JSON.parse(await run(env, changed)) as PlannedOutage).Data.OutageId, Data.OutageId);
  await run(env, ["bank", "cancel-outage", "BANKA", Data.OutageId, ...REASON]);
  const left = JSON.parse(await run(env, ["controls", "--json"])) as Controls;
  assertEquals(left.Data.PlannedOutage, []);
});

Deno.test("ops watch draws the dashboard once, on a terminal again and again, and as JSON [OP31]", async () => {
  await using env = await openPushEnvironment(down);
  await paid(env);
  await env.platform.workOnce();
  const once = await run(env, ["watch"]);
  for (const shown of ["BankFailing", "BANKA  failing  1", "The hour until 2040-01-15 12:00 UTC", "1 of 2"]) {
    assertStringIncludes(once, shown);
  }
  assert(!once.includes("\x1b"), "no terminal, no control sequence");
  let drawn = 0;
  const again = await run(env, ["watch"], {}, { drawAgain: () => Promise.resolve(++drawn < 3) });
  assertEquals(again.split("\x1b[2J").length - 1, 3);
  const json = JSON.parse(await run(env, ["watch", "--json"])) as { readonly banks: BankStates["Data"] };
  assertEquals(json.banks.Bank.map(({ State }) => State), ["failing", "works"]);
  await assertRejects(() => run(env, ["watch", "--bank", "BANKA"]), Error, "watch has no option --bank");
});

Deno.test("ops watch on a terminal goes on when the platform does not answer, and says so", async () => {
  await using env = await openEnvironment();
  let drawn = 0;
  const fetch =
    ((url: string, init?: RequestInit) =>
      drawn === 1
        ? Promise.reject(new TypeError("connection refused"))
        : env.platform.operations.fetch(new Request(url, init))) as typeof globalThis.fetch;
  const drawAgain = (): Promise<boolean> => Promise.resolve(++drawn < 3);
  const screens = (await run(env, ["watch"], {}, { fetch, drawAgain })).split(CLEAR).slice(1);
  assertEquals(screens.map((screen) => screen.includes("PROCESSES")), [true, false, true]);
  assertStringIncludes(screens[1] ?? "", "does not answer: connection refused");
});

Deno.test("ops prints every page of a table, under one head [REP4]", async () => {
  await using env = await openEnvironment();
  const [key, { value }] = await clientEntry(env);
  const writes = Array.from({ length: 45 }, () => {
    const clientId = `SC-${crypto.randomUUID()}`;
    return { kind: "set", key: [...key.slice(0, -1), clientId], value: { ...value, clientId } } as const;
  });
  await env.store.commit({ checks: [], writes });
  const today = ["--from", "2040-01-15", "--until", "2040-01-15"];
  const lines = (await run(env, ["report", "tpps", "--csv", ...today])).split("\n");
  assertEquals(lines.filter((line) => line.startsWith("Date,Id,")).length, 1);
  const missing = writes.filter(({ value }) => !lines.some((line) => line.includes(`"${value.clientId}"`)));
  assertEquals(missing.length, 0);
});

async function clientEntry(env: Environment): Promise<readonly [Key, Entry<object>]> {
  const key = ["client", env.tpp.clientId];
  return [key, present(await env.store.get<object>(key))];
}

Deno.test("ops has a command for every change of the operations API", () => {
  const planned = new Set(COMMANDS.map(({ ids, plan }) => {
    const { method, path } = plan(ids.map((_, index) => `ID${index}`), {});
    return `${method} /operations${path.split("?")[0]?.replaceAll(/ID\d/g, "{}")}`;
  }));
  // reconcile has a command of its own, which walks through the pages
  const changes = Object.keys(OPERATION_ROLES).filter((name) =>
    name.startsWith("POST /operations/") && !name.includes("order-holds")
  );
  assertEquals(
    changes.map((name) => name.replaceAll(/\{\w+\}/g, "{}")).filter((name) => !planned.has(name)),
    [],
  );
  const known = new Set(Object.keys(OPERATION_ROLES).map((name) => name.replaceAll(/\{\w+\}/g, "{}")));
  assertEquals([...planned].filter((name) => !known.has(name)), []);
});

Deno.test("ops says why a request is rejected, and what a command line lacks", async () => {
  await using env = await openEnvironment();
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["bank", "hold", "NOBANK", ...REASON], "404: Does not exist."],
    [["bank", "hold", "BANKA", ...REASON, "--token-file", "viewer"], "403: None of your roles may do this."],
    [["bank", "hold", "BANKA"], "Missing: --reason."],
    [["bank", "hold", ...REASON], "Usage: deno task ops bank hold BANK --reason …"],
    [["bank", "explode", "BANKA"], "There is no command bank explode BANKA; --help"],
    [["controlls"], "There is no command controlls. Did you mean controls? --help"],
    [["--resaon", "x", "controls"], "Unknown option '--resaon'. Did you mean --reason?"],
    [["--text", "x", "controls"], "controls has no option --text"],
    [[], "order close PAYMENT_ID --reason … --status-reason …"],
    [["controls", "--yaml"], "--help lists the options"],
  ];
  for (const [args, words] of wrong) await assertRejects(() => run(env, args), Error, words);
  await assertRejects(() => run(env, ["controls"], { PLATFORM_OPS_TOKEN: "" }), Error, "No token");
});

Deno.test("ops operator adds, lists and revokes operators, and keeps no token", async () => {
  await using env = await openEnvironment();
  const folder = await Deno.makeTempDir();
  const file = `${folder}/operators.json`;
  const variables = { PLATFORM_OPERATORS: file };
  const token = await run(env, ["operator", "add", "--name", "ana", "--role", "viewer,security"], variables);
  assertMatch(token, /^oper-[0-9a-f]{16}\.[\w-]{43}$/);
  const text = await Deno.readTextFile(file);
  assert(!text.includes(token.split(".")[1] ?? ""));
  assertEquals(readCredentials(OPERATORS, text, 0).map(({ name, roles }) => [name, roles]), [["ana", [
    "viewer",
    "security",
  ]]]);
  for (const role of ["", "root", "viewer,root"]) {
    await assertRejects(
      () => run(env, ["operator", "add", "--name", "eva", "--role", role], variables),
      Error,
      "--role",
    );
  }
  await assertRejects(
    () => run(env, ["operator", "add", "--name", "ana", "--role", "viewer"], variables),
    Error,
    "already",
  );
  for (
    const [wrong, words] of [[["--days", "367"], "--days"], [["--days", "0"], "--days"], [
      ["--person", "eva"],
      "--person",
    ]] as const
  ) {
    const line = ["operator", "add", "--name", "eva", "--role", "viewer", ...wrong];
    await assertRejects(() => run(env, line, variables), Error, words);
  }
  const eva = ["operator", "add", "--name", "eva", "--role", "viewer", "--days", "2"];
  await run(env, [...eva, "--person", "eva@id.example.com"], variables);
  assertMatch(
    await run(env, ["operator", "list"], variables),
    /eva {2}viewer {2}is eva@id\.example\.com {2}added \S+ {2}in force until \S+/,
  );
  await run(env, ["operator", "revoke", "--name", "ana"], variables);
  assertMatch(await run(env, ["operator", "list"], variables), /ana {2}viewer,security .* revoked/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("deno task ops makes the first operator and lists it", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/operators.json`;
  const task = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "ops", "operator", ...args, "--file", file],
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  assertMatch(await task("add", "--name", "ana", "--role", "viewer"), /^oper-[0-9a-f]{16}\.[\w-]{43}\n$/);
  assertMatch(await task("list"), /ana {2}viewer/);
  await Deno.remove(folder, { recursive: true });
});
