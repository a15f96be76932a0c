/** The page of the banks' service levels: its plot has the values of its table. */
import { assertStringIncludes } from "@std/assert";
import { renderServiceLevels } from "../../src/pages/service_levels_page.tsx";

Deno.test("one minute without an answer is the same in the table and in the plot of a bank", () => {
  const day = { availability: 1439 / 1440, answerRate: 1, median: 250, percentile95: null };
  const one = { bank: "BANKA", name: "Bank A", total: day, days: [{ ...day, day: "2026-01-31" }] };
  const page = renderServiceLevels({
    site: {
      sandbox: false,
      operator: { name: undefined, logo: undefined, support: undefined, timeZone: "UTC" },
    },
    languageSwitch: [],
    from: "2026-01-31",
    until: "2026-01-31",
    at: 0,
    banks: [one],
    one,
    addressOf: () => "/service-levels",
    healthOf: () => undefined,
    slowest: 5000,
  }, "en");
  assertStringIncludes(page, ">99.93%<");
  assertStringIncludes(page, "31 January 2026: 0.07%");
});
