/** Statuses of organisations and software: legal moves, the cascade, and what others see of them. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { firstOf } from "testing/answers.ts";
import { type Answer, type DirectoryEnvironment } from "testing/directory_environment.ts";
import { onboarded } from "./onboarded.ts";

/**
 * One step: the status that is set, and the resulting statuses of organisation and software. A 409 changes no status.
 */
type Step = readonly [of: "organisation" | "software", to: string, status: 200 | 409, then: string];

const JOURNEYS: Readonly<Record<string, readonly Step[]>> = {
  "software goes Inactive and back": [
    ["software", "Inactive", 200, "Active/Inactive"],
    ["software", "Inactive", 200, "Active/Inactive"],
    ["software", "Active", 200, "Active/Active"],
  ],
  "Revoked software is final": [
    ["software", "Revoked", 200, "Active/Revoked"],
    ["software", "Active", 409, "Active/Revoked"],
    ["software", "Inactive", 409, "Active/Revoked"],
  ],
  "suspension makes software Inactive, and reactivation wakes none": [
    ["organisation", "Suspended", 200, "Suspended/Inactive"],
    ["software", "Active", 409, "Suspended/Inactive"],
    ["organisation", "Active", 200, "Active/Inactive"],
    ["software", "Active", 200, "Active/Active"],
  ],
  "withdrawal revokes software and is final": [
    ["organisation", "Withdrawn", 200, "Withdrawn/Revoked"],
    ["organisation", "Active", 409, "Withdrawn/Revoked"],
    ["organisation", "Suspended", 409, "Withdrawn/Revoked"],
    ["software", "Active", 409, "Withdrawn/Revoked"],
  ],
  "withdrawal out of suspension revokes too": [
    ["organisation", "Suspended", 200, "Suspended/Inactive"],
    ["organisation", "Withdrawn", 200, "Withdrawn/Revoked"],
  ],
  "software may be revoked under a suspended organisation, which changes nothing for it later": [
    ["organisation", "Suspended", 200, "Suspended/Inactive"],
    ["software", "Revoked", 200, "Suspended/Revoked"],
    ["organisation", "Active", 200, "Active/Revoked"],
    ["organisation", "Suspended", 200, "Suspended/Revoked"],
  ],
};

for (const [name, steps] of Object.entries(JOURNEYS)) {
  Deno.test(`PUT status: ${name} [E3]`, async () => {
    await using env = await onboarded();
    for (const [of, to, status, then] of steps) {
      const answer = await setStatus(env, of, to);
      assertEquals(answer.status, status, `${of} ${to}`);
      if (status === 409) assertEquals(answer.body.error, "conflict");
      const [line] = (await env.get("/participants")).body;
      assertEquals(`${line?.org_status}/${line?.software_client_status}`, then);
      const active = (await env.get("/participants/SHOP/jwks")).body.keys;
      assertEquals(active.length, then === "Active/Active" ? 2 : 0, then);
      const revoked = (await env.get("/participants/SHOP/jwks/revoked")).body.keys;
      assertEquals(revoked.length, then.endsWith("/Revoked") ? 2 : 0, then);
    }
  });
}

/** How each state is reached from Active/Active, organisation first. */
const REACHED: Readonly<Record<string, readonly (readonly [of: Step[0], to: string])[]>> = {
  "Active/Active": [],
  "Active/Inactive": [["software", "Inactive"]],
  "Active/Revoked": [["software", "Revoked"]],
  "Suspended/Inactive": [["organisation", "Suspended"]],
  "Suspended/Revoked": [["organisation", "Suspended"], ["software", "Revoked"]],
  "Withdrawn/Revoked": [["organisation", "Withdrawn"]],
};

/**
 * Every move from every state, "-" where it is rejected: organisation to Active, Suspended, Withdrawn; software to
 * Active, Inactive, Revoked. The Australian CDR register cascades in the same way: suspended -> inactive, revoked or
 * surrendered -> removed, end states are final, and no software is active under a participant that is not.
 */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  "Active/Active": [
    "Active/Active",
    "Suspended/Inactive",
    "Withdrawn/Revoked",
    "Active/Active",
    "Active/Inactive",
    "Active/Revoked",
  ],
  "Active/Inactive": [
    "Active/Inactive",
    "Suspended/Inactive",
    "Withdrawn/Revoked",
    "Active/Active",
    "Active/Inactive",
    "Active/Revoked",
  ],
  "Active/Revoked": ["Active/Revoked", "Suspended/Revoked", "Withdrawn/Revoked", "-", "-", "Active/Revoked"],
  "Suspended/Inactive": [
    "Active/Inactive",
    "Suspended/Inactive",
    "Withdrawn/Revoked",
    "-",
    "Suspended/Inactive",
    "Suspended/Revoked",
  ],
  "Suspended/Revoked": [
    "Active/Revoked",
    "Suspended/Revoked",
    "Withdrawn/Revoked",
    "-",
    "-",
    "Suspended/Revoked",
  ],
  "Withdrawn/Revoked": ["-", "-", "Withdrawn/Revoked", "-", "-", "Withdrawn/Revoked"],
};
const TARGETS = [
  ["organisation", "Active"],
  ["organisation", "Suspended"],
  ["organisation", "Withdrawn"],
  ["software", "Active"],
  ["software", "Inactive"],
  ["software", "Revoked"],
] as const;

Deno.test("PUT status: every move from every state, with one line in the history where something changed [E3]", async (t) => {
  for (const [state, moves] of Object.entries(MOVES)) {
    for (const [index, [of, to]] of TARGETS.entries()) {
      await t.step(`${state}: ${of} to ${to}`, async () => {
        await using env = await onboarded();
        for (const [which, status] of REACHED[state] ?? []) await setStatus(env, which, status);
        const before = (await env.admin("GET", "/participants/SHOP/history")).body.history;
        const { status } = await setStatus(env, of, to);
        const wanted = moves[index] ?? "";
        assertEquals(status, wanted === "-" ? 409 : 200);
        const [line] = (await env.get("/participants")).body;
        const then = `${line?.org_status}/${line?.software_client_status}`;
        assertEquals(then, wanted === "-" ? state : wanted);
        const after = (await env.admin("GET", "/participants/SHOP/history")).body.history.slice(
          before.length,
        );
        const [org, software] = state.split("/");
        assertEquals(
          after.map(({ what, details }) => [what, details.from, details.to]),
          [
            ["organisation.status", org, line?.org_status],
            ["software.status", software, line?.software_client_status],
          ].filter(([, from, to]) => from !== to),
        );
      });
    }
  }
});

Deno.test("PUT status answers both statuses [E3]", async () => {
  await using env = await onboarded();
  const { headers, body } = await setStatus(env, "organisation", "Suspended");
  const { software_client_id } = firstOf((await env.get("/participants")).body);
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(body, {
    org_id: "SHOP",
    org_status: "Suspended",
    software_client_id,
    software_client_status: "Inactive",
  });
});

Deno.test("PUT software status Revoked publishes the keys as revoked, with time and reason [E3]", async () => {
  await using env = await onboarded();
  const active = (await env.get("/participants/SHOP/jwks")).body.keys;
  env.now += 60_000;
  await setStatus(env, "software", "Revoked");
  const revoked = (await env.get("/participants/SHOP/jwks/revoked")).body.keys;
  const why = { revoked_at: "2026-02-01T10:01:00.000Z", reason: "software revoked" };
  assertEquals(revoked, active.map((key) => ({ ...key, ...why })));
});

Deno.test("PUT status needs a known status and a reason [E3]", async () => {
  await using env = await onboarded();
  const rejected: readonly [path: string, body: unknown, words: string][] = [
    ["status", { status: "Active" }, "reason: must be text"],
    ["status", { status: "Revoked", reason: "x" }, "status: must be Active, Suspended, Withdrawn"],
    ["software/status", { status: "Withdrawn", reason: "x" }, "status: must be Active, Inactive, Revoked"],
    ["software/status", { status: "Active", reason: "x", force: true }, "body: has unknown members (force)"],
  ];
  for (const [path, body, words] of rejected) {
    const answer = await env.admin("PUT", `/participants/SHOP/${path}`, body);
    assertEquals(answer.status, 400);
    assertStringIncludes(answer.body.error_description, words);
  }
});

function setStatus(env: DirectoryEnvironment, of: Step[0], status: string): Promise<Answer> {
  const path = of === "organisation" ? "status" : "software/status";
  return env.admin("PUT", `/participants/SHOP/${path}`, { status, reason: "test" });
}
