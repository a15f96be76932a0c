/**
 * An external party's TPP and an external party's bank as processes of their own: the README's commands against a sandbox's folder
 * (or anything else that has an `endpoints.json`), with fresh keys, and the customer who goes from one to the other.
 */
import { type CustomerPlan, goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  pushAuthorization,
} from "../../src/client/tpp/authorization.ts";
import { createConsent, createPayment, readConsent } from "../../src/client/tpp/domestic_payments.ts";
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../src/client/tpp/payment_journey.ts";
import { paymentRequest } from "../../src/client/tpp/payment_request.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import type { SandboxEndpoints } from "../../src/sandbox/shop/sandbox_endpoints.ts";

const root = new URL("../../", import.meta.url).pathname;
const decoder = new TextDecoder();

/** Variables for a process, beside those it has from this one. */
export type Env = Readonly<Record<string, string>>;

/** Runs a script of the project to its end; gives what it printed. @throws {Error} with its words when it fails */
export async function runScript(dir: string, line: string, env: Env = {}): Promise<string> {
  const { code, stdout, stderr } = await command(dir, line, env).output();
  if (code !== 0) throw new Error(`${line}: ${code} ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** A process that goes on; `said` resolves with all it has printed once that matches. */
export interface Running {
  said(words: RegExp): Promise<string>;
  stop(signal?: Deno.Signal): Promise<void>;
}

/** Starts a script of the project. */
export function startScript(dir: string, line: string, env: Env = {}): Running {
  return startProcess(line, command(dir, line, env));
}

/** Starts a process; both its outputs must be piped. */
export function startProcess(name: string, command: Deno.Command): Running {
  const child = command.spawn();
  const errors = new Response(child.stderr).text();
  const printed = follow(child.stdout);
  return {
    async said(words): Promise<string> {
      const text = await printed.until(words);
      if (words.test(text)) return text;
      throw new Error(`${name} ended without ${words}: ${text}${await errors}`);
    },
    async stop(signal = "SIGTERM"): Promise<void> {
      try {
        child.kill(signal);
      } catch {
        // it has ended
      }
      await Promise.all([child.status, errors, printed.until(/$^/)]);
    },
  };
}

function command(dir: string, line: string, env: Env): Deno.Command {
  const permissions = ["net", "read", "write", "env"].map((name) => `--allow-${name}`);
  const args = ["run", "--quiet", "--no-prompt", "--no-check", ...permissions, ...line.split(" ")];
  const settings = { SANDBOX_DIR: dir, NO_COLOR: "1", ...env };
  return new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: settings,
    stdout: "piped",
    stderr: "piped",
  });
}

/** A stream's text as it comes; `until` resolves with all of it when it matches, or at the end. */
function follow(stream: ReadableStream<Uint8Array<ArrayBuffer>>): { until(words: RegExp): Promise<string> } {
  let text = "";
  let ended = false;
  const looks = new Set<() => void>();
  const tell = (): void => [...looks].forEach((look) => look());
  void (async (): Promise<void> => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      text += part;
      tell();
    }
    ended = true;
    tell();
  })();
  return {
    until: (words) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!ended && !words.test(text)) return;
          looks.delete(look);
          resolve(text);
        };
        looks.add(look);
        look();
      }),
  };
}

/** An external party's company and bank, onboarded: folder names `mine` and `my-bank`. */
export interface Outsiders {
  readonly bankCode: string;
  /** Where the TPP waits for its customers. */
  readonly redirectUri: string;
}

/** Onboards both at the directory by the command line, from its own examples with free ports in place of theirs. */
export async function onboardOutsiders(dir: string, env: Env = {}): Promise<Outsiders> {
  const [tppHome, bankHome] = [freePort(), freePort()].map((port) => `http://localhost:${port}`);
  const example = async (role: string): Promise<string> =>
    (await runScript(dir, `scripts/integrators/participant/main.ts onboard --example ${role}`, env))
      .replaceAll("http://localhost:9000", tppHome ?? "").replaceAll("http://localhost:9001", bankHome ?? "");
  const onboard = async (name: string, details: string, flags = ""): Promise<void> => {
    await Deno.writeTextFile(`${dir}/${name}.json`, details);
    await runScript(
      dir,
      `scripts/integrators/participant/main.ts onboard --name ${name} --details ${dir}/${name}.json${flags}`,
      env,
    );
  };
  await onboard("mine", await example("PISP"));
  await onboard("my-bank", await example("ASPSP"), " --encryption");
  return { bankCode: "BANKC", redirectUri: `${tppHome}/callback` };
}

/** Starts `examples/first_bank.ts`; resolves when it serves, with how its registration was answered. */
export async function startOwnBank(
  dir: string,
  env: Env = {},
): Promise<Running & { readonly registered: string }> {
  const bank = startScript(dir, `examples/first_bank.ts ${dir}/participants/my-bank`, env);
  const text = await bank.said(/^register: .*\n/m);
  return { ...bank, registered: /^register: (.*)$/m.exec(text)?.[1] ?? "" };
}

/** How the README's payment is made. */
export interface FirstPayment {
  readonly env?: Env;
  /** The customer waits for it before the link is opened. */
  readonly first?: () => Promise<void>;
  /** Starts the example; default: `examples/first_payment.ts`. */
  readonly start?: (dir: string, bankCode: string, env: Env) => Running;
}

/** Makes the README's payment by an example, as its TPP and its customer. Returns the lines that it printed. */
export async function firstPayment(
  dir: string,
  { bankCode, redirectUri }: Outsiders,
  { env = {}, first = () => Promise.resolve(), start = startFirstPayment }: FirstPayment = {},
): Promise<string> {
  const script = start(dir, bankCode, env);
  try {
    const link = /^http\S+authorization\.oauth2\S+$/m;
    const startUrl = link.exec(await script.said(/^http\S+authorization\.oauth2\S+\n/m))?.[0] ?? "";
    await first();
    const back = await goThroughAuthorization({ startUrl, redirectUri }, () => {});
    await (await fetch(back)).body?.cancel();
    return await script.said(/^payment .*\n/m);
  } finally {
    await script.stop();
  }
}

function startFirstPayment(dir: string, bankCode: string, env: Env): Running {
  return startScript(dir, `examples/first_payment.ts ${dir}/participants/mine ${bankCode}`, env);
}

/** Deviations from the usual purchase. */
export interface Purchase {
  readonly amount?: string;
  /** With it the consent is implicit. */
  readonly debtorIban?: string;
  readonly rejectAt?: "otp" | "consent";
}

/** How a purchase went. */
export interface Outcome {
  /** Where the platform sent the customer, with its JWT. */
  readonly arrival: string;
  /** `host form` of each page that the customer answered. */
  readonly pages: readonly string[];
  /** Status of the payment, or the error in the redirect to the TPP. */
  readonly end: string;
  readonly consent: string;
}

/** A purchase through the registered TPP, step by step, as `pages` show it. */
export async function purchase(
  dir: string,
  { bankCode, redirectUri }: Outsiders,
  { amount = "4.20", debtorIban, rejectAt }: Purchase = {},
): Promise<Outcome> {
  const file = await Deno.readTextFile(`${dir}/endpoints.json`);
  const endpoints = JSON.parse(file) as Pick<SandboxEndpoints, "auth_url" | "base_url" | "directory_url">;
  const tpp = await openTpp({ dir, name: "mine", endpoints, redirectUri });
  try {
    const flow = await openFlow(tpp, bankCode, emptyMessageLog());
    const token = await grantClientToken(flow);
    const request = paymentRequest({
      orderId: crypto.randomUUID(),
      description: "Lunch of the day",
      amount,
      merchant: { name: "Company Limited", iban: "FR1420041010050500013M02606", categoryCode: "5812" },
      ...(debtorIban === undefined ? {} : { debtorIban }),
    });
    const { consentId } = await createConsent(flow, token, request);
    const pending = await pushAuthorization(flow, consentId);
    const plan = { startUrl: pending.url, redirectUri, ...(rejectAt === undefined ? {} : { rejectAt }) };
    const { callback, arrival, pages } = await visit(plan, endpoints.auth_url);
    const error = callback.searchParams.get("error");
    const end = error ?? (await createPayment(
      flow,
      await exchangeCode(flow, pending, checkCallback(flow, pending, callback)),
      { consentId, ...request },
    )).status;
    return { arrival, pages, end, consent: await statusOf(flow, token, consentId) };
  } finally {
    tpp.close();
  }
}

async function statusOf(flow: PaymentFlow, token: AccessToken, consentId: string): Promise<string> {
  return (await readConsent(flow, token, consentId)).status;
}

async function visit(
  plan: CustomerPlan,
  authUrl: string,
): Promise<{ callback: URL; arrival: string; pages: string[] }> {
  const pages: string[] = [];
  let arrival = "";
  const callback = await goThroughAuthorization(plan, ({ visit: { url, location }, form }) => {
    if (form !== undefined) pages.push(`${url.origin === authUrl ? "platform" : "bank"} ${form}`);
    if (arrival === "" && location !== undefined) arrival = location.href;
  });
  return { callback, arrival, pages };
}
