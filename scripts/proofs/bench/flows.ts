/**
 * Payments side by side. Stage by stage: every request of a stage is made and signed first, then all are sent at the
 * wanted concurrency while the platform's processor time is read. Or payment by payment, each from its first request to
 * its last, for what a whole payment costs.
 */
import { clientToken, type FlowEnvironment } from "../../testing/flows.ts";
import { testKey } from "../../testing/keys.ts";
import { AUTH_URL } from "../../testing/environment.ts";
import { BANK, type Flow, newFlow, type Parties, requestOf, type Step, STEPS } from "./steps.ts";

/** The measured cost of a stage. */
export interface StageSample {
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds of the platform's processor time, all requests together. */
  readonly cpu: number;
  /** Milliseconds, one each. */
  readonly latencies: readonly number[];
  readonly failures: number;
}

/** Reads the processor time that the platform has used so far, milliseconds. */
export type Meter = () => Promise<number>;

/** For payments that are not measured. */
export const idle: Meter = (): Promise<number> => Promise.resolve(0);

/** The name of the row for whole payments. */
export const WHOLE = "whole payment";

/** Takes `count` payments through every stage, one stage after the other. */
export async function runStages(
  env: FlowEnvironment,
  meter: Meter,
  count: number,
  concurrency: number,
): Promise<StageSample[]> {
  const parties = await meet(env);
  const flows = Array.from({ length: count }, () => newFlow(env));
  const samples: StageSample[] = [];
  for (const step of STEPS) {
    const requests: Request[] = [];
    for (const flow of flows) requests.push(await requestOf(step, flow, parties));
    samples.push(await runStage(env, meter, step, flows, requests, concurrency));
  }
  return samples;
}

async function runStage(
  env: FlowEnvironment,
  meter: Meter,
  step: Step,
  flows: readonly Flow[],
  requests: readonly Request[],
  concurrency: number,
): Promise<StageSample> {
  const { answers, ...measured } = await sendAll(env, meter, requests, concurrency);
  let failures = 0;
  for (const [index, flow] of flows.entries()) {
    const answer = answers[index];
    if (answer?.status === step.status) await step.take?.(flow, answer);
    else failures++;
  }
  return { name: step.name, ...measured, failures };
}

/** Sends requests, `concurrency` at a time, and measures the server that answers them. */
export async function sendAll(
  server: Pick<FlowEnvironment, "api">,
  meter: Meter,
  requests: readonly Request[],
  concurrency: number,
): Promise<Omit<StageSample, "name" | "failures"> & { readonly answers: readonly Response[] }> {
  const latencies: number[] = [];
  const answers: Response[] = [];
  const [before, began] = [await meter(), performance.now()];
  await sideBySide(requests.length, concurrency, async (index) => {
    const { answer, milliseconds } = await send(server, requests[index] ?? new Request("about:blank"));
    latencies.push(milliseconds);
    answers[index] = answer;
  });
  const seconds = (performance.now() - began) / 1000;
  return { answers, requests: requests.length, seconds, cpu: await meter() - before, latencies };
}

/**
 * Takes `count` payments from first request to last, `concurrency` at a time. A payment's latency is the sum of its
 * requests'; what it takes to sign them does not count.
 */
export async function runPayments(
  env: FlowEnvironment,
  meter: Meter,
  count: number,
  concurrency: number,
): Promise<StageSample> {
  const parties = await meet(env);
  const latencies: number[] = [];
  let failures = 0;
  const [before, began] = [await meter(), performance.now()];
  await sideBySide(count, concurrency, async () => {
    const flow = newFlow(env);
    let all = 0;
    for (const step of STEPS) {
      const { answer, milliseconds } = await send(env, await requestOf(step, flow, parties));
      all += milliseconds;
      if (answer.status !== step.status) return void failures++;
      await step.take?.(flow, answer);
    }
    latencies.push(all);
  });
  const seconds = (performance.now() - began) / 1000;
  return { name: WHOLE, requests: count, seconds, cpu: await meter() - before, latencies, failures };
}

/** The parties' own tokens, and what the bank keeps of the platform's keys. */
export async function meet(env: FlowEnvironment): Promise<Parties> {
  const key = await testKey(9);
  const own = await clientToken(env, env.tpp, BANK);
  const jwks = await env.browser(new Request(`${AUTH_URL}/jwks`));
  const keySet = Object.assign(Object.create(env), { browser: () => Promise.resolve(jwks.clone()) });
  return { key, own, bank: await clientToken(env, env.bankB, BANK), keySet };
}

/** Sends one request and takes its whole answer. */
async function send(
  env: Pick<FlowEnvironment, "api">,
  request: Request,
): Promise<{ readonly answer: Response; readonly milliseconds: number }> {
  const began = performance.now();
  const { status, headers, ...answer } = await receiveAnswer(await env.api(request));
  const body = answer.bytes.byteLength === 0 ? null : answer.bytes;
  return { answer: new Response(body, { status, headers }), milliseconds: performance.now() - began };
}

async function receiveAnswer(
  answer: Response,
): Promise<{ readonly status: number; readonly headers: Headers; readonly bytes: ArrayBuffer }> {
  return { status: answer.status, headers: answer.headers, bytes: await answer.arrayBuffer() };
}

async function sideBySide(
  count: number,
  concurrency: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
