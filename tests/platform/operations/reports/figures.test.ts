/** Figures in memory and in the store. */
import { assertEquals } from "@std/assert";
import { openFiguresStore } from "../../../../src/platform/observed/figures/figures_store.ts";
import { reportsOf } from "../../../../src/platform/operations/reports/report.ts";
import { openFiguresRecorder } from "../../../../src/platform/observed/figures/recorder.ts";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";

Deno.test("a clock that is put back over midnight adds to the figures of the day before [REP1]", async () => {
  await using store = await openTestStore();
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
});

Deno.test("a write that fails behind a later one after midnight loses no figures of the day before [REP1]", async () => {
  let now = Date.parse("2099-05-01T23:59:00Z");
  const clock = (): number => now;
  const failing = Promise.withResolvers<void>();
  const written: string[] = [];
  let calls = 0;
  const figures = {
    async write(rows: readonly { readonly day: string }[]) {
      if (calls++ === 0) await failing.promise;
      written.push(...rows.map(({ day }) => day));
    },
  };
  const recorder = openFiguresRecorder({ figures, clock, steady: clock, metrics: { count() {} } });
  recorder.order("BANKA", "answeredLater");
  now = Date.parse("2099-05-02T00:00:20Z");
  const [first, second] = [recorder.write(), recorder.write()];
  failing.reject(new Error("the store fails"));
  await Promise.allSettled([first, second]);
  await recorder.write();
  assertEquals(written, ["2099-05-01"]);
});

Deno.test("a report of one participant reads its own rows, however many others there are [REP4, OWN3]", async () => {
  await using store = await openTestStore();
  const clock = (): number => Date.parse("2099-05-03T12:00:00Z");
  const read: string[] = [];
  const counted = {
    ...store,
    async list<T>(listing: Parameters<typeof store.list>[0]) {
      const found = await store.list<T>(listing);
      read.push(...found.map(({ key }) => key.slice(1, 4).join(" ")));
      return found;
    },
  };
  const figures = openFiguresStore({ store: counted, clock, keepMs: 400 * 86_400_000 });
  const days = ["2099-05-01", "2099-05-02", "2099-05-03"];
  const request = { counts: { succeeded: 1 }, reasons: {}, times: {}, minutes: {} };
  const rows = days.flatMap((day) =>
    ["SC-1", "SC-10", "SC-2", "SC-3"].flatMap((subject) =>
      ["a", "b"].map((id) => ({ id, of: "client" as const, day, subject, figures: request }))
    )
  );
  await figures.write(rows);
  const subject = { id: "SC-1", name: "Shop", registeredAt: 0 };
  const reports = await reportsOf(figures, "client", [subject], days);
  assertEquals(reports.map(({ total }) => total.counts.succeeded), [6]);
  assertEquals(read, days.flatMap((day) => [`client ${day} SC-1`, `client ${day} SC-1`]));
  read.length = 0;
  assertEquals(await reportsOf(figures, "client", [], days), []);
  assertEquals(read, []);
});
