/** Erasures that cannot be completed, before one that can (contract EN11). */
import { assertEquals } from "@std/assert";
import type { ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { auditKey, caseErasureKey } from "../../../../src/platform/config/store_keys.ts";
import { openEnvironment } from "testing/environment.ts";

const idAt = (place: number): ConsentId =>
  `${place.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ConsentId;

Deno.test("if many erasures fail, one behind them is still completed [EN11]", async () => {
  await using env = await openEnvironment();
  const at = env.now;
  const note = (consentId: ConsentId) => ({
    consentId,
    actor: "operator maria",
    reason: "request 17",
    at,
    v: 1,
  });
  const failing = Array.from({ length: 45 }, (_, place) => idAt(place));
  const last = idAt(99);
  await env.store.commit({
    checks: [],
    writes: [
      ...[...failing, last].map((id) => ({ kind: "set", key: caseErasureKey(id), value: note(id) }) as const),
      ...failing.map((id) => ({ kind: "set", key: auditKey(id, 1), value: "damaged" }) as const),
    ],
  });
  let finished = 0;
  for (let pass = 0; pass < 4; pass++) finished += await env.platform.finishErasures();
  assertEquals([finished, await env.store.get(caseErasureKey(last))], [1, null]);
});
