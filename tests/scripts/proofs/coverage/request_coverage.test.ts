/** A reader follows a request through so many files. The numbers may fall; a new file on the way needs a reason. */
import { assert, assertLessOrEqual } from "@std/assert";
import { requestCoverage } from "../../../../scripts/proofs/coverage/main.ts";

const MOST_FILES = { payment: 90, token: 60 };

Deno.test("one payment and one token request run few files", async () => {
  const coverage = await requestCoverage();
  assert("platform/core/payments/create_payment.ts" in coverage.payment);
  assertLessOrEqual(Object.keys(coverage.payment).length, MOST_FILES.payment);
  assertLessOrEqual(Object.keys(coverage.token).length, MOST_FILES.token);
});
