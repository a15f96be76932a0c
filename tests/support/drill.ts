/** Parts of the drills that follow a page of docs/operations: the page's commands, a bank with books, and tasks. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Payment } from "testing/answers.ts";
import { call, clientToken, type FlowEnvironment, good } from "testing/flows.ts";
import { taskCommand } from "testing/served_platform.ts";
import type { ServedFixture } from "testing/served_environment.ts";
import { serverIdentity } from "testing/web_authority.ts";
import { ORDERS_URI } from "./orders.ts";

/** Bank A's own server, over TLS. */
export interface BankServer {
  answer: (body: string) => Promise<Response>;
  readonly server: Deno.HttpServer<Deno.NetAddr>;
}

export async function openBankServer(fixture: ServedFixture): Promise<BankServer> {
  const { hostname } = new URL(ORDERS_URI);
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity([hostname]);
  const bank = { answer: (_: string): Promise<Response> => Promise.reject(new Error("no books")) };
  const listen = { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} };
  const server = Deno.serve(listen, async (request) => await bank.answer(await request.text()));
  fixture.names.ports.set(hostname, server.addr.port);
  return Object.assign(bank, { server });
}

/** Where a drill's commands run: a folder of their own, and their variables. */
export interface Workplace {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Returns the page's block of commands that contains these words, or a line of it, with the values of its placeholders.
 */
export async function commandsOf(
  page: string,
  words: string,
  placeholders: Readonly<Record<string, string>> = {},
  line?: string,
): Promise<string> {
  const text = await Deno.readTextFile(new URL(`../../docs/operations/${page}`, import.meta.url));
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
  let commands = line ?? blocks.find((block) => block.includes(words)) ?? "";
  assertStringIncludes(blocks.join(""), commands);
  assertStringIncludes(commands, words);
  for (const [name, value] of Object.entries(placeholders)) {
    assertStringIncludes(commands, name);
    commands = commands.replaceAll(name, value);
  }
  return commands;
}

/** Runs commands in bash after lines of the drill's own. In both, `store` is `deno task store`. Returns what they print. */
export async function runCommands(
  { folder, env }: Workplace,
  own: string,
  commands: string,
): Promise<string> {
  const store = (await taskCommand("store")).map((word) => `'${word}'`).join(" ");
  const script = `set -eu\n${own}\ndeno() { shift 2; ${store} "$@"; }\n${commands}`;
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", script],
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Runs a task as an operator does beside the platform; returns what it printed. */
export async function runTask(
  { folder, env }: Workplace,
  task: string,
  args: readonly string[],
  code = 0,
): Promise<string> {
  const [program = "", ...words] = await taskCommand(task);
  const command = new Deno.Command(program, {
    args: [...words, ...args],
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
  });
  const { code: ended, stdout, stderr } = await command.output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(ended, code, said);
  return said;
}

/** The answer to the TPP's read of a payment at bank A. */
export async function readPayment(environment: FlowEnvironment, id: string): Promise<Payment> {
  const bound = await clientToken(environment, environment.tpp);
  const path = `/BANKA/domestic-payments/v1/${id}`;
  return await good<Payment>(call(environment, environment.tpp, bound, path), 200);
}
