/** Figures in memory and in the store. */
import { assertEquals } from "@std/assert";
import { openFiguresStore } from "../../../../src/platform/observed/figures/figures_store.ts";
import { openFiguresRecorder } from "../../../../src/platform/observed/figures/recorder.ts";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";

Deno.test("a clock that is put back over midnight adds to the figures of the day before [REP1]", async () => {
  const store = await openTestStore();
  let now = Date.parse("2099-05-01T23:59:00Z");
  const clock = (): number => now;
  const figures = openFiguresStore({ store, clock, keepMs: 400 * 86_400_000 });
  const recorder = openFiguresRecorder({ figures, clock, steady: clock, metrics: { count() {} } });
  const request = { bank: "BANKA", clientId: "SC-1", status: 401, reason: "token.expired", milliseconds: 5 };
  for (let count = 0; count < 5; count++) recorder.request(request);
  await recorder.write();
  now = Date.parse("2099-05-02T00:00:20Z");
  await recorder.write();
  now = Date.parse("2099-05-01T23:59:50Z");
  recorder.request(request);
  now = Date.parse("2099-05-02T00:00:30Z");
  await recorder.write();
  const { counts, reasons } = present((await figures.readDay("bank", "2099-05-01")).get("BANKA"));
  assertEquals([counts.rejected, reasons], [6, { "token.expired": 6 }]);
  await store.close();
});
