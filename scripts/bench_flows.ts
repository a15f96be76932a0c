/**
 * Many payments side by side, stage by stage: every request of a stage is made and signed first, then all are sent at
 * the wanted concurrency while the platform's processor time is read. What one stage answers, the next one needs.
 */
import {
  type BoundToken,
  Browser,
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  type FlowWorld,
  type Json,
  openHandover,
  paymentBody,
  push,
  putAccounts,
  redeem,
  requestToken,
  returnPath,
} from "../tests/support/flows.ts";
import { testKey } from "../tests/support/keys.ts";
import { throughProxy } from "../tests/support/world.ts";
import { AUTH_URL } from "../tests/support/world.ts";
import type { StageName } from "./bench_stages.ts";

/** What a stage cost. */
export interface StageSample {
  readonly name: StageName;
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds of the platform's processor time, all requests together. */
  readonly cpu: number;
  /** Milliseconds, one each. */
  readonly latencies: readonly number[];
  readonly failures: number;
}

interface Meter {
  readonly cpu: () => Promise<number>;
}

interface Flow {
  consentId: string;
  requestUri: string;
  handover: Json;
  code: string;
  payment: BoundToken;
  paymentId: string;
  readonly browser: Browser;
}

const BANK = "BANKB"; // its own consent screen: the return leads straight to the code

/** Takes `count` payments through every stage. */
export async function runFlows(
  world: FlowWorld,
  meter: Meter,
  count: number,
  concurrency: number,
): Promise<StageSample[]> {
  const samples: StageSample[] = [];
  const recorder = recording(world);
  const flows = Array.from({ length: count }, (): Flow => emptyFlow(recorder.world));
  const key = await testKey(9);
  const own = await clientToken(world, world.tpp, BANK);
  const bankToken = await clientToken(world, world.bankB, BANK);
  const stage = async (
    name: StageName,
    status: number,
    make: (flow: Flow) => Promise<unknown>,
    take: Take,
  ): Promise<void> => {
    const requests = await recorder.made(() => eachInTurn(flows, make));
    samples.push(
      await send(
        world,
        meter,
        { name, status, requests, concurrency },
        (index, answer) => take(flowAt(flows, index), answer),
      ),
    );
  };
  const consents = `/${BANK}/domestic-payment-consents/v1`;
  const body = consentBody();
  await stage(
    "token (client credentials)",
    200,
    () => requestToken(recorder.world, world.tpp, BANK, { key }),
    nothing,
  );
  await stage(
    "consent POST",
    201,
    () => call(recorder.world, world.tpp, own, consents, { body: JSON.stringify(body) }),
    async (flow, answer) => {
      flow.consentId = (await answer.json()).Data.ConsentId;
    },
  );
  await stage(
    "consent GET",
    200,
    (flow) => call(recorder.world, world.tpp, own, `${consents}/${flow.consentId}`),
    nothing,
  );
  await stage(
    "PAR",
    201,
    (flow) => push(recorder.world, flow.consentId, { bank: BANK }),
    async (flow, answer) => {
      flow.requestUri = (await answer.json()).request_uri;
    },
  );
  await stage(
    "authorize",
    303,
    (flow) => flow.browser.open(authorizePath(world, flow)),
    async (flow, answer) => {
      keepCookie(flow.browser, answer);
      flow.handover = (await openHandover(world.bankB, answer)).claims;
    },
  );
  const details = `/${BANK}/back-channel-auth/v1`;
  await stage(
    "back channel GET",
    200,
    (flow) => call(recorder.world, world.bankB, bankToken, `${details}/${flow.consentId}`),
    nothing,
  );
  const accounts = [{ ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" }];
  await stage(
    "back channel PUT",
    200,
    (flow) => putAccounts(recorder.world, world.bankB, flow.consentId, accounts, { bound: bankToken }),
    nothing,
  );
  const paths = await eachInTurn(flows, (flow) => returnPath(world, world.bankB, flow.handover));
  await stage(
    "bank return",
    303,
    (flow) => flow.browser.open(paths[flows.indexOf(flow)] ?? ""),
    (flow, answer) => {
      flow.code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
      return Promise.resolve();
    },
  );
  await stage(
    "token (code)",
    200,
    (flow) => redeem(recorder.world, flow, { bank: BANK, key }),
    async (flow, answer) => {
      flow.payment = { token: (await answer.json()).access_token, key };
    },
  );
  const payments = `/${BANK}/domestic-payments/v1`;
  await stage(
    "payment POST",
    201,
    (flow) =>
      call(recorder.world, world.tpp, flow.payment, payments, {
        body: JSON.stringify(paymentBody(flow.consentId, body)),
      }),
    async (flow, answer) => {
      flow.paymentId = (await answer.json()).Data.DomesticPaymentId;
    },
  );
  await stage(
    "payment GET",
    200,
    (flow) => call(recorder.world, world.tpp, own, `${payments}/${flow.paymentId}`),
    nothing,
  );
  return samples;
}

type Take = (flow: Flow, answer: Response) => Promise<void>;

const nothing: Take = async (_flow, answer) => void await answer.body?.cancel();

interface Load {
  readonly name: StageName;
  readonly status: number;
  readonly requests: readonly Request[];
  readonly concurrency: number;
}

/** Sends all requests, `concurrency` at a time. */
async function send(
  world: FlowWorld,
  meter: Meter,
  { name, status, requests, concurrency }: Load,
  take: (index: number, answer: Response) => Promise<void>,
): Promise<StageSample> {
  const latencies: number[] = [];
  const answers: Response[] = [];
  let failures = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const began = performance.now();
      const answer = await world.api(requests[index] ?? new Request("about:blank"));
      const bytes = await answer.arrayBuffer();
      latencies.push(performance.now() - began);
      if (answer.status !== status) failures++;
      answers[index] = new Response(bytes.byteLength === 0 ? null : bytes, {
        status: answer.status,
        headers: answer.headers,
      });
    }
  };
  const [cpu, began] = [await meter.cpu(), performance.now()];
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - began) / 1000;
  const used = await meter.cpu() - cpu;
  for (const [index, answer] of answers.entries()) if (answer.status === status) await take(index, answer);
  return { name, requests: requests.length, seconds, cpu: used, latencies, failures };
}

/** A world that keeps the requests it is asked to send, as its proxy would pass them on. */
function recording(
  world: FlowWorld,
): { world: FlowWorld; made: (make: () => Promise<unknown>) => Promise<readonly Request[]> } {
  let kept: Request[] = [];
  const keep = (request: Request, as?: Parameters<FlowWorld["api"]>[1]): Promise<Response> => {
    kept.push(throughProxy(request, as));
    return Promise.resolve(new Response("{}"));
  };
  const recorder: FlowWorld = {
    tpp: world.tpp,
    bankA: world.bankA,
    bankB: world.bankB,
    api: keep,
    browser: (request) => keep(request),
    get now(): number {
      return world.now;
    },
  };
  return {
    world: recorder,
    async made(make) {
      kept = [];
      await make();
      return kept;
    },
  };
}

function emptyFlow(world: FlowWorld): Flow {
  const none = { consentId: "", requestUri: "", handover: {}, code: "", paymentId: "" };
  return { ...none, payment: { token: "", key: undefined as never }, browser: new Browser(world) };
}

function authorizePath(world: FlowWorld, flow: Flow): string {
  const query = new URLSearchParams({ client_id: world.tpp.clientId, request_uri: flow.requestUri });
  return `${AUTH_URL}/${BANK}/authorization.oauth2?${query}`;
}

function keepCookie(browser: Browser, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
    browser.cookies.set(name, value);
  }
}

function flowAt(flows: readonly Flow[], index: number): Flow {
  const flow = flows[index];
  if (flow === undefined) throw new Error(`no flow ${index}`);
  return flow;
}

async function eachInTurn<T>(flows: readonly Flow[], make: (flow: Flow) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (const flow of flows) made.push(await make(flow));
  return made;
}
