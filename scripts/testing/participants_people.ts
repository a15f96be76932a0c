/** People of participants in tests, beside the operators: the token `person-of-<org>-0123456789abcdef` is one of `<org>`. */
import type { Credentials } from "../../src/base/http/credentials.ts";
import { PARTICIPANT } from "../../src/platform/guards/security/operator_roles.ts";
import { testOperators } from "./operators.ts";

const FORM = /^person-of-(.+)-0123456789abcdef$/;

export function personOf(orgId: string): { readonly authorization: string } {
  return { authorization: `Bearer person-of-${orgId}-0123456789abcdef` };
}

/** @param roles what the provider says of each person besides the organisation */
export async function testPeople(roles: readonly string[] = [PARTICIPANT]): Promise<Credentials> {
  const operators = await testOperators();
  return {
    identify(token) {
      const organisation = FORM.exec(token)?.[1];
      if (organisation === undefined) return operators.identify(token);
      return Promise.resolve({ credential: "person", name: `person@${organisation}`, roles, organisation });
    },
  };
}
