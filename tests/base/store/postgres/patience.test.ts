/** How long a commit may take, with all its repetitions. */
import { assert } from "@std/assert";
import { COMMIT_WITHIN_MS } from "../../../../src/base/kernel/clock.ts";
import { SERVING, TURN_PATIENCE_MS } from "../../../../src/base/store/postgres/connections.ts";
import { UNKNOWN_PATIENCE_MS } from "../../../../src/base/store/postgres/postgres_store.ts";

Deno.test("The last repetition of a commit on PostgreSQL ends within the time that readers of ordered lists wait [M1]", () => {
  assert(UNKNOWN_PATIENCE_MS + TURN_PATIENCE_MS + SERVING.silenceMs <= COMMIT_WITHIN_MS);
  assert(
    SERVING.statementMs < SERVING.silenceMs,
    "the server ends a statement before it is taken for silent",
  );
});
