/**
 * Faults of a bank, each planted in a copy of `examples/first_bank.ts`, with the one case of the certification that
 * must find it.
 */
import { HANDOVER_FAULTS } from "./bank_handover_faults.ts";
import { ORDER_FAULTS } from "./bank_order_faults.ts";
import { VISIT_FAULTS } from "./bank_visit_faults.ts";
import type { BankFault } from "./planted.ts";

/** Faults that appear when the platform changes its keys. They run last and alone. */
export const KEY_FAULTS: readonly BankFault[] = [
  {
    name: "reads the platform's keys once",
    found: "BANK-K01",
    changes: [[
      "jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`), { cooldownDuration: 0 })",
      "jose.createLocalJWKSet(await (await fetch(`${platform.auth_url}/jwks`)).json())",
    ]],
  },
  {
    name: "knows the first of the platform's keys only",
    found: "BANK-K02",
    changes: [[
      "jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`), { cooldownDuration: 0 })",
      `async ({ kid }: Json) => {
  const { keys } = await (await fetch(\`\${platform.auth_url}/jwks\`)).json();
  const first = keys.find(({ use }: Json) => use === "sig");
  if (first.kid !== kid) throw new Error("another key");
  return await jose.importJWK(first, "PS256");
}`,
    ]],
  },
];

/** All others. */
export const BANK_FAULTS: readonly BankFault[] = [...VISIT_FAULTS, ...HANDOVER_FAULTS, ...ORDER_FAULTS];
