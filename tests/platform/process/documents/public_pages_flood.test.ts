/**
 * A flood of requests for documentation is not felt by those who pay. The reference proxies allow 80 requests a second
 * to four addresses. Processor time of `deno task serve` is compared, so a busy machine changes nothing.
 */
import { assertLess } from "@std/assert";
import { good, requestToken } from "testing/flows.ts";
import { cpuMilliseconds } from "../../../../scripts/proofs/bench/process.ts";
import { prepared } from "support/prepared_requests.ts";
import { openServedEnvironment } from "testing/served_environment.ts";

const PAGES = [
  "/openapi.json",
  "/docs",
  "/docs/reference/consents",
  "/docs/errors",
  "/docs/nothing",
  "/docs/reference/nothing",
  "/docs?q=payment+consent+status+of+the+bank",
];
const TOKENS = 50;
const ROUNDS = 30;
/** The flood takes no more than 60 tokens a second would, a small part of what a process serves. */
const MAX_TOKENS_A_PAGE = 0.75;

Deno.test({
  name: "a page of the documentation takes less processor time than three quarters of a token",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using env = await openServedEnvironment({ PLATFORM_RATE_LIMITS: "authorization=1000/1000" });
    const { pid } = env.process;
    const taken = async (count: number, act: () => Promise<void>): Promise<number> => {
      await act(); // what is made once, for all requests
      const before = await cpuMilliseconds(pid);
      await act();
      return (await cpuMilliseconds(pid) - before) / count;
    };
    const requests = await Promise.all(
      Array.from({ length: 2 * TOKENS }, () => prepared(env, (here) => requestToken(here, env.tpp))),
    );
    const token = await taken(TOKENS, async () => {
      for (const request of requests.splice(0, TOKENS)) await good(request.send(), 200);
    });
    const page = await taken(ROUNDS * PAGES.length, async () => {
      for (const path of Array.from({ length: ROUNDS }, () => PAGES).flat()) {
        const response = await fetch(`http://127.0.0.1:${env.fixture.env["PORT"]}${path}`);
        await response.arrayBuffer();
      }
    });
    assertLess(page / token, MAX_TOKENS_A_PAGE);
  },
});
