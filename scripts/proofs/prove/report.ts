/** The lines that a run of the prover ends with. */
import type { AnswerLog } from "./answers.ts";
import type { CheckResult, Evidence } from "./checks.ts";
import type { PushEvidence } from "./event_checks.ts";

const MAX_SHOWN = 20;

/** Prints the counts, the outcome of every check and the first violations. */
export function report(
  { consents, banks, pushedAgain }: Evidence,
  { answers }: AnswerLog,
  { deliveries }: PushEvidence,
  results: readonly CheckResult[],
  print: (line: string) => void,
): void {
  const posts = consents.flatMap(({ posts }) => posts);
  const orders = Object.values(banks).flatMap(({ orders }) => orders);
  const counts: readonly (readonly [string, number])[] = [
    ["consents", consents.length],
    [
      "consents lost to a kill before they could be used",
      consents.filter((each) => each.posts.length === 0).length,
    ],
    ["payments", orders.length],
    ["payments that the bank rejected", orders.filter(({ Status }) => Status === "Rejected").length],
    [
      "orders that banks were told to go wrong with",
      consents.filter(({ fault }) => fault !== undefined).length,
    ],
    ["orders pushed again to a bank that had them", pushedAgain.size],
    ["POSTs of payments, repetitions counted", posts.reduce((sum, { tries }) => sum + tries, 0)],
    ["answers dropped by the client", posts.filter(({ dropped }) => dropped).length],
    [
      "POSTs cut off by a kill, or put off by a rate limit",
      posts.filter(({ tries, dropped }) => tries > (dropped ? 2 : 1)).length,
    ],
    ["POSTs with another amount", posts.filter(({ mismatch }) => mismatch).length],
    ["events that were pushed", new Set(deliveries.map(({ token }) => token.split(".")[1])).size],
    ["pushes of them", deliveries.length],
    ["pushes without an answer", deliveries.filter(({ answer }) => answer === undefined).length],
    [
      "pushes answered otherwise than with 202",
      deliveries.filter(({ answer = 202 }) => answer !== 202).length,
    ],
    ["answers to the TPPs", answers.length],
    ["answers 503 with Retry-After", answers.filter(({ status }) => status === 503).length],
    ["answers 502 of the proxy for a killed process", answers.filter(({ status }) => status === 502).length],
    ["requests without an answer", answers.filter(({ status }) => status === undefined).length],
  ];
  for (const [name, count] of counts) print(`${name.padEnd(56)}${String(count).padStart(8)}`);
  print(`${"".padEnd(56)}${"judged".padStart(8)}${"broken".padStart(8)}`);
  for (const { name, judged, violations } of results) {
    print(`${name.padEnd(56)}${String(judged).padStart(8)}${String(violations.length).padStart(8)}`);
  }
  const violations = results.flatMap((each) => each.violations);
  for (const violation of violations.slice(0, MAX_SHOWN)) print(`VIOLATION ${violation}`);
  if (violations.length > MAX_SHOWN) print(`and ${violations.length - MAX_SHOWN} more`);
  print(violations.length === 0 ? "Everything held." : "Something did not hold.");
}
