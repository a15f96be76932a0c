/** The limits that the guides name are those of the platform. */
import { assertEquals } from "@std/assert";
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG } from "../../src/base/limits.ts";
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  DPOP_MAX_AGE_SECONDS,
  FLOW_SECONDS,
  HANDOVER_SECONDS,
  IDEMPOTENCY_SECONDS,
  MAX_BANK_RETURN_SECONDS,
  MAX_SESSIONS_PER_REQUEST,
  ORDER_PUSH_SECONDS,
  ORDER_RETRY_SECONDS,
  REQUEST_URI_SECONDS,
  USE_WITHIN_SECONDS,
} from "../../src/base/profile.ts";

const retried = Math.round(ORDER_RETRY_SECONDS.reduce((sum, wait) => sum + wait, 0) / 60);
const lives = [ACCESS_TOKEN_SECONDS, CODE_SECONDS, REQUEST_URI_SECONDS, FLOW_SECONDS].map((time) =>
  `${time} s`
);

const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  "tpp.md": [
    `and lives ${ACCESS_TOKEN_SECONDS} seconds.`,
    `\`request_uri\` lives ${REQUEST_URI_SECONDS} seconds.`,
    `Exchange it within ${CODE_SECONDS} seconds, once.`,
    `the customer took more than ${FLOW_SECONDS / 60} minutes`,
    `starts at most ${MAX_SESSIONS_PER_REQUEST} sessions.`,
    `opened more than ${MAX_SESSIONS_PER_REQUEST} times`,
    `within ${USE_WITHIN_SECONDS} seconds of the authorization`,
    `for ${IDEMPOTENCY_SECONDS / 3600} hours it counts once`,
    `no older than ${DPOP_MAX_AGE_SECONDS} seconds`,
    `| ${lives.join(" / ")} |`,
  ],
  "bank.md": [
    `\`alg\` ${KEY_MANAGEMENT_ALG}, \`enc\` ${CONTENT_ENCRYPTION_ALG}`,
    `\`exp\` at most ${HANDOVER_SECONDS} seconds after \`iat\``,
    `The whole visit has ${FLOW_SECONDS / 60} minutes`,
    `It lives at most ${MAX_BANK_RETURN_SECONDS} seconds`,
    `Answer 200 within ${ORDER_PUSH_SECONDS} seconds`,
    `up to ${ORDER_RETRY_SECONDS.length} times over at least ${retried} minutes`,
    `(at most ${ORDER_RETRY_SECONDS.at(-1)} seconds)`,
  ],
  "signatures.md": [
    `\`iat\` at most ${DPOP_MAX_AGE_SECONDS} seconds old`,
    `(\`alg\` ${KEY_MANAGEMENT_ALG}, \`enc\` ${CONTENT_ENCRYPTION_ALG}`,
    `alg: "${KEY_MANAGEMENT_ALG}", enc: "${CONTENT_ENCRYPTION_ALG}"`,
  ],
};

for (const [page, sentences] of Object.entries(SENTENCES)) {
  Deno.test(`docs/${page} names the platform's limits`, async () => {
    const text = await Deno.readTextFile(new URL(`../../docs/${page}`, import.meta.url));
    const plain = text.replaceAll(/\s+/g, " ");
    assertEquals(sentences.filter((sentence) => !plain.includes(sentence)), []);
  });
}
