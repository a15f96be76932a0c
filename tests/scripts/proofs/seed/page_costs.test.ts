/** What the pages of a seeded platform cost, in a process of its own, so that its processor time is that of the pages. */
import { assertEquals, assertMatch } from "@std/assert";
import { tooDear } from "../../../../scripts/proofs/seed/page_costs.ts";
import { runScript } from "support/own_bank.ts";

/** `deno task seed --costs` measures the whole seed. */
const BOUNDED = "--payments 24 --days 2 --banks 3 --tpps 4";
const KINDS = [
  "/console",
  "/console/cases/*",
  "/console/orders?state=dead",
  "/console/participants/*/certificates",
  "/docs/tpp",
  "/service-levels",
  "/ALPIN/authorization.consent.oauth2?flow=*",
];

Deno.test("no page of a seeded platform has more than 300 kB or takes more than 100 ms of processor time [OP33]", async () => {
  const printed = await runScript(".data", `--allow-sys scripts/proofs/seed/main.ts --costs ${BOUNDED}`);
  assertMatch(printed, /\d{3} kinds of pages, 0 of them too dear/);
  const kinds = printed.split("\n").map((line) => line.split("  ").at(-1));
  for (const kind of KINDS) assertEquals(kinds.includes(kind), true, `${kind} was visited`);
});

Deno.test("a page that has too many bytes or takes too long is named [OP33]", () => {
  const cost = { bytes: 300_000, milliseconds: 100 };
  assertEquals(tooDear([{ ...cost, page: "/fits" }]), []);
  assertEquals(
    tooDear([{ ...cost, page: "/large", bytes: 300_001 }, { ...cost, page: "/slow", milliseconds: 101 }]),
    [
      "/large: 300001 bytes and 100 ms, at most 300000 and 100",
      "/slow: 300000 bytes and 101 ms, at most 300000 and 100",
    ],
  );
});
