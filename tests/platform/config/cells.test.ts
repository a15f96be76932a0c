/** Cells: each bank belongs to one, and a process answers for its own cell's banks alone. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { asBankCode } from "../../../src/base/kernel/identifiers.ts";
import { cellOf, HOME_CELL, readCells } from "../../../src/platform/config/cells.ts";
import { call, clientToken } from "testing/flows.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";

function bank(code: string): NonNullable<ReturnType<typeof asBankCode>> {
  const found = asBankCode(code);
  if (found === undefined) throw new Error(`${code} is no bank code`);
  return found;
}

Deno.test("A bank belongs to the cell that lists it, and every other bank to the home cell", () => {
  const cells = readCells(" eu = BANKB, BANKC ; us=BANKD ") ?? new Map();
  const servedBy = (name: string): string[] =>
    ["BANKA", "BANKB", "BANKC", "BANKD"].filter((code) => cellOf(name, cells)?.serves(bank(code)));
  assertEquals(["home", "eu", "us"].map(servedBy), [["BANKA"], ["BANKB", "BANKC"], ["BANKD"]]);
  assertEquals(cellOf("asia", cells), undefined);
  assertEquals(cellOf(HOME_CELL, readCells("") ?? cells)?.serves(bank("BANKD")), true);
});

Deno.test("PLATFORM_CELLS with a bank or a cell that stands in it twice, or of another form, is refused", () => {
  const refused = [
    "eu=BANKB;us=BANKB",
    "eu=BANKB,BANKB",
    "eu=BANKB;eu=BANKC",
    "home=BANKB",
    "EU=BANKB",
    "eu",
    "eu=",
    "eu=B B",
    "eu=BANKB=x",
  ];
  for (const text of refused) assertEquals(readCells(text), undefined, text);
});

Deno.test("A process answers for a bank of another cell as for an unknown one, at every host", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_CELLS: "eu=BANKB" } });
  const answers = async (code: string): Promise<number[]> => {
    const bound = await clientToken(env, env.tpp, "BANKA");
    const api = await call(env, env.tpp, bound, `/${code}/domestic-payment-consents/v1/x`);
    const token = await env.api(
      new Request(`${BASE_URL}/${code}/token.oauth2/v1`, { method: "POST" }),
      env.tpp,
    );
    const link = `${AUTH_URL}/${code}/authorization.oauth2?client_id=x&request_uri=x`;
    return [api.status, token.status, (await env.browser(new Request(link))).status];
  };
  const unknown = await answers("NOBANK");
  assertEquals(await answers("BANKB"), unknown);
  assertNotEquals(await answers("BANKA"), unknown);
  const metadata = new Request(`${AUTH_URL}/.well-known/oauth-authorization-server/BANKB`);
  assertEquals((await env.browser(metadata)).status, 200); // no path of a bank: the home cell answers for all
});
