/** `PUT back-channel-auth/{ConsentId}`: the payer's accounts as a bank reports them (endpoint 12; Decision C11). */
import { assertEquals } from "@std/assert";
import {
  ACCOUNTS,
  assertIndistinguishable,
  assertNotFound,
  bankCall,
  consentPath,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  orderPath,
  report,
} from "../support/back_channel.ts";
import {
  type AtBank,
  authorise,
  call,
  type CallOptions,
  clientToken,
  codeOf,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  decide,
  dpopKey,
  good,
  type Json,
  pay,
  redeem,
  returnPath,
  toBank,
} from "../support/flows.ts";
import { openGatedStore } from "../support/gated_store.ts";
import { payloadSignature } from "../support/jwts.ts";
import {
  assertBare,
  assertChallenge,
  assertCommonHeaders,
  assertFaults,
  unchanged,
} from "../support/resource_answers.ts";
import { openWorld, START, type World } from "../support/world.ts";

/** The bank's report for a flow; the body may be any. */
async function put(world: World, flow: AtBank, body: Json, options: CallOptions = {}): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await bankCall(world, flow.bank, consentPath(flow.consentId, flow.bank.orgId), {
    method: "PUT",
    body: text,
    ...options,
  });
}

/** A report that must change nothing. */
async function idlePut(world: World, flow: AtBank, body: Json, options: CallOptions = {}): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const path = consentPath(flow.consentId, flow.bank.orgId);
  return await idleBankCall(world, flow.bank, path, { method: "PUT", body: text, ...options });
}

function reportFor(flow: AtBank, changes: Json = {}): Json {
  return report(flow.bank.orgId, flow.consentId, changes);
}

/** The account that pays in the end, as the bank reads it in the order. */
async function debtorOf(world: World, flow: AtBank, redirect: Response): Promise<Json> {
  const code = codeOf(redirect);
  const bank = flow.bank.orgId;
  const { access_token } = await good(redeem(world, { consentId: flow.consentId, code }, { bank }), 200);
  const payment = { token: access_token, key: await dpopKey() };
  const paid = await good(pay(world, { ...flow, payment, body: consentBody() }), 201);
  const path = orderPath(paid.Data.DomesticPaymentId, bank);
  return (await good(bankCall(world, flow.bank, path), 200)).Data.DebtorAccount;
}

Deno.test("PUT back-channel-auth takes a list for the platform's screen and echoes it [BCH-03]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const response = await put(world, flow, reportFor(flow));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertEquals(await response.json(), {
    Data: { BankId: "BANKA", ConsentId: flow.consentId, Sub: "customer-1", DebtorAccount: ACCOUNTS },
  });
});

Deno.test("PUT back-channel-auth takes an account with its least and its most [BCH-03]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const lists = {
    "scheme and identification alone": [{ ...DEBTOR_ACCOUNT }],
    "every member, a negative balance": [{
      SchemeName: "UK.OBIE.SortCodeAccountNumber",
      Identification: "20201555555555",
      Balance: "-20.12345",
      Currency: "GBP",
      SecondaryIdentification: "ROLL-7",
    }],
    "100 accounts": Array.from({ length: 100 }, (_, n) => ({
      SchemeName: "UK.OBIE.SortCodeAccountNumber",
      Identification: `1128000${String(n).padStart(7, "0")}`,
    })),
  };
  for (const [name, DebtorAccount] of Object.entries(lists)) {
    await t.step(name, async () => {
      const answer = await good(put(world, flow, reportFor(flow, { DebtorAccount })), 200);
      assertEquals(answer.Data.DebtorAccount, DebtorAccount);
    });
  }
});

Deno.test("PUT back-channel-auth takes exactly one account for the bank's own screen [BCH-03]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { bank: world.bankB });
  await assertFaults(await idlePut(world, flow, reportFor(flow)), 400, [[
    "Field.Invalid",
    "Data.DebtorAccount",
  ]]);
  const [, chosen] = ACCOUNTS;
  await good(put(world, flow, reportFor(flow, { DebtorAccount: [chosen] })), 200);
  const redirect = await flow.browser.open(await returnPath(world, world.bankB, flow.handover));
  assertEquals((await debtorOf(world, flow, redirect)).Identification, chosen?.Identification);
});

Deno.test("PUT back-channel-auth takes nothing for an implicit consent [BCH-03]", async () => {
  await using world = await openWorld();
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  for (const bank of [world.bankA, world.bankB]) {
    const flow = await toBank(world, { bank, body });
    const response = await idlePut(world, flow, reportFor(flow, { DebtorAccount: [DEBTOR_ACCOUNT] }));
    await assertFaults(response, 400, [["Field.Unexpected", "Data.DebtorAccount"]]);
  }
});

Deno.test("PUT back-channel-auth twice: the last report is what the customer chooses from [BCH-04]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const [first, second] = ACCOUNTS;
  await good(put(world, flow, reportFor(flow, { DebtorAccount: [first] })), 200);
  await good(put(world, flow, reportFor(flow, { DebtorAccount: [second] })), 200);
  const screen = await flow.browser.open(await returnPath(world, world.bankA, flow.handover));
  const location = screen.headers.get("location") ?? "";
  const html = await (await flow.browser.open(location)).text();
  assertEquals([html.includes("9268 19"), html.includes("5555 55")], [true, false], html);
  const redirect = await decide(flow.browser, location, "accept", "0");
  assertEquals((await debtorOf(world, flow, redirect)).Identification, second?.Identification);
});

Deno.test("PUT back-channel-auth while the customer decides changes nothing of the choice [C11]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const [first, second] = ACCOUNTS;
  await good(put(world, flow, reportFor(flow, { DebtorAccount: [first, second] })), 200);
  const screen = await flow.browser.open(await returnPath(world, world.bankA, flow.handover));
  const other = reportFor(flow, { Sub: "customer-2", DebtorAccount: [second, first] });
  await (await put(world, flow, other)).body?.cancel();
  const redirect = await decide(flow.browser, screen.headers.get("location") ?? "", "accept", "0");
  assertEquals((await debtorOf(world, flow, redirect)).Identification, first?.Identification);
});

Deno.test("PUT back-channel-auth is refused unless a customer is at the bank [BCH-04] [RP-N25] [C11]", async (t) => {
  const refuse = async (world: World, flow: AtBank): Promise<void> => {
    const response = await idlePut(world, flow, reportFor(flow));
    await assertFaults(response, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  };
  await t.step("nobody has opened the link yet", async () => {
    await using world = await openWorld();
    const { ConsentId } = (await createConsent(world, await clientToken(world, world.tpp))).Data;
    const flow = await toBank(world);
    await refuse(world, { ...flow, consentId: ConsentId });
  });
  await t.step("the flow is over after 900 s", async () => {
    await using world = await openWorld();
    const flow = await toBank(world);
    world.now = START + 899_999;
    await good(put(world, flow, reportFor(flow)), 200);
    world.now = START + 900_000;
    await refuse(world, flow);
  });
  await t.step("Authorized", async () => {
    await using world = await openWorld();
    const flow = await toBank(world);
    assertEquals((await authorise(world, flow)).status, 303);
    await refuse(world, flow);
  });
  await t.step("Consumed", async () => {
    await using world = await openWorld();
    const flow = await toBank(world);
    await debtorOf(world, flow, await authorise(world, flow));
    await refuse(world, flow);
  });
  await t.step("Rejected by the bank", async () => {
    await using world = await openWorld();
    const flow = await toBank(world);
    await flow.browser.open(
      await returnPath(world, world.bankA, flow.handover, { claims: { status_code: "failure" } }),
    );
    await refuse(world, flow);
  });
  await t.step("Rejected by its deadline, though the flow is open", async () => {
    await using world = await openWorld();
    const Authorisation = { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:05:00+00:00" };
    const flow = await toBank(world, { body: consentBody({ data: { Authorisation } }) });
    world.now = START + 300_000;
    await refuse(world, flow);
  });
});

Deno.test("PUT back-channel-auth for another bank's consent, or none, answers what does not exist [RP-N25] [C2]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const atB = await toBank(world, { bank: world.bankB });
  const answers: Response[] = [];
  for (const id of [atB.consentId, "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11", "consent"]) {
    const response = await idlePut(world, { ...flow, consentId: id }, report("BANKA", id));
    await assertNotFound(response.clone());
    answers.push(response);
  }
  await assertIndistinguishable(answers);
});

Deno.test("PUT back-channel-auth names every field that is wrong [BCH-04] [RP-N25]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const [first] = ACCOUNTS;
  const other = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
  const cases: Readonly<Record<string, readonly [Json, ...(readonly [string, string])[]]>> = {
    "BankId of another bank": [{ BankId: "BANKB" }, ["Field.Invalid", "Data.BankId"]],
    "BankId in other case": [{ BankId: "banka" }, ["Field.Invalid", "Data.BankId"]],
    "BankId missing": [{ BankId: undefined }, ["Field.Missing", "Data.BankId"]],
    "ConsentId of another consent": [{ ConsentId: other }, ["Field.Invalid", "Data.ConsentId"]],
    "ConsentId missing": [{ ConsentId: undefined }, ["Field.Missing", "Data.ConsentId"]],
    "Sub is an account number of the list": [{ Sub: first?.Identification }, ["Field.Invalid", "Data.Sub"]],
    "Sub is another account number": [{ Sub: "DE89370400440532013000" }, ["Field.Invalid", "Data.Sub"]],
    "Sub missing": [{ Sub: undefined }, ["Field.Missing", "Data.Sub"]],
    "Sub empty": [{ Sub: "" }, ["Field.Invalid", "Data.Sub"]],
    "Sub of 71 characters": [{ Sub: "s".repeat(71) }, ["Field.Invalid", "Data.Sub"]],
    "an empty list": [{ DebtorAccount: [] }, ["Field.Missing", "Data.DebtorAccount"]],
    "no list": [{ DebtorAccount: undefined }, ["Field.Missing", "Data.DebtorAccount"]],
    "an account in place of the list": [{ DebtorAccount: first }, ["Field.Invalid", "Data.DebtorAccount"]],
    "an account twice": [{ DebtorAccount: [first, first] }, ["Field.Invalid", "Data.DebtorAccount[1]"]],
    "101 accounts": [{
      DebtorAccount: Array.from({ length: 101 }, (_, n) => ({
        SchemeName: "UK.OBIE.SortCodeAccountNumber",
        Identification: `1128000${String(n).padStart(7, "0")}`,
      })),
    }, ["Field.Invalid", "Data.DebtorAccount"]],
    "a Balance that is a number": [
      { DebtorAccount: [{ ...first, Balance: 1000 }] },
      ["Field.Invalid", "Data.DebtorAccount[0].Balance"],
    ],
    "a Currency in small letters": [
      { DebtorAccount: [{ ...first, Currency: "eur" }] },
      ["Field.Invalid", "Data.DebtorAccount[0].Currency"],
    ],
    "an IBAN with a wrong check digit": [
      { DebtorAccount: [{ ...first, Identification: "GB34BUKB20201555555555" }] },
      ["Unsupported.AccountIdentifier", "Data.DebtorAccount[0].Identification"],
    ],
    "an unknown scheme": [
      { DebtorAccount: [{ ...first, SchemeName: "UK.OBIE.Unknown" }] },
      ["Unsupported.Scheme", "Data.DebtorAccount[0].SchemeName"],
    ],
    "a Name, which is not the bank's to give": [
      { DebtorAccount: [{ ...first, Name: "Alice" }] },
      ["Field.Unexpected", "Data.DebtorAccount[0].Name"],
    ],
    "an unknown member": [{ Status: "Authorized" }, ["Field.Unexpected", "Data.Status"]],
    "three faults at once": [
      { BankId: "BANKB", Sub: "", DebtorAccount: [] },
      ["Field.Invalid", "Data.BankId"],
      ["Field.Missing", "Data.DebtorAccount"],
      ["Field.Invalid", "Data.Sub"],
    ],
  };
  for (const [name, [changes, ...faults]] of Object.entries(cases)) {
    await t.step(name, async () => {
      await assertFaults(await idlePut(world, flow, reportFor(flow, changes)), 400, faults);
    });
  }
  await t.step("and nothing else was wrong with it", async () => {
    await good(put(world, flow, reportFor(flow)), 200);
  });
});

Deno.test("PUT back-channel-auth refuses what is no JSON of the right kind [RP-N10] [RP-N12] [RP-N13] [RP-N14] [RP-N15]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const body = JSON.stringify(reportFor(flow));
  const malformed = {
    "half of it": body.slice(0, -1),
    "more behind it": `${body}{}`,
    "a member twice": body.replace('"Sub":"customer-1"', '"Sub":"customer-2","Sub":"customer-1"'),
    "a byte order mark": `\uFEFF${body}`,
    "nothing": "",
  };
  for (const [name, text] of Object.entries(malformed)) {
    await t.step(name, async () => {
      await assertFaults(await idlePut(world, flow, text), 400, [["Resource.InvalidFormat"]]);
    });
  }
  await t.step("text/plain", async () => {
    const headers = { "content-type": "text/plain" };
    await assertFaults(await idlePut(world, flow, body, { headers }), 415, [[
      "Header.Invalid",
      "Content-Type",
    ]]);
  });
  await t.step("gzip", async () => {
    const headers = { "content-encoding": "gzip" };
    const response = await idlePut(world, flow, body, { headers });
    await assertFaults(response, 415, [["Header.Invalid", "Content-Encoding"]]);
  });
  await t.step("more than 64 KiB", async () => {
    assertEquals((await idlePut(world, flow, body.padEnd(65_537))).status, 413);
  });
});

Deno.test("PUT back-channel-auth needs the bank's signature over these bytes [BCH-02] [RP-N2] [RP-N3] [RP-N4]", async (t) => {
  await using world = await openWorld();
  const { bankA, bankB, tpp } = world;
  const flow = await toBank(world);
  const body = JSON.stringify(reportFor(flow));
  await t.step("none", async () => {
    const response = await idlePut(world, flow, body, { signature: null });
    await assertFaults(response, 400, [["Signature.Missing", "x-jws-signature"]]);
  });
  await t.step("over other bytes", async () => {
    const signature = await payloadSignature(world, bankA, `${body} `);
    const response = await idlePut(world, flow, body, { signature });
    await assertFaults(response, 400, [["Signature.Invalid", "x-jws-signature"]]);
  });
  for (const [name, signer] of Object.entries({ "another bank": bankB, "a TPP": tpp })) {
    await t.step(`by ${name} in its own name`, async () => {
      const signature = await payloadSignature(world, signer, body);
      const response = await idlePut(world, flow, body, { signature });
      await assertFaults(response, 400, [["Signature.InvalidClaim", "http://openbanking.org.uk/iss"]]);
    });
    await t.step(`by ${name} in the bank's name`, async () => {
      const signature = await payloadSignature(world, bankA, body, { key: signer.signing });
      const response = await idlePut(world, flow, body, { signature });
      await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
    });
  }
  await t.step("by the bank's transport key", async () => {
    const signature = await payloadSignature(world, bankA, body, { key: bankA.transport });
    const response = await idlePut(world, flow, body, { signature });
    await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
  });
  for (const profile of ["A", "B"] as const) {
    await t.step(`the bank's own in profile ${profile} [RP-N8]`, async () => {
      await good(put(world, flow, body, { profile }), 200);
    });
  }
});

Deno.test("PUT back-channel-auth refuses TPPs, other banks and other certificates [BCH-02] [RG-N9] [RP-N1]", async (t) => {
  await using world = await openWorld();
  const { tpp, bankB } = world;
  const flow = await toBank(world);
  const path = consentPath(flow.consentId);
  const options = { method: "PUT", body: JSON.stringify(reportFor(flow)) };
  await t.step("a TPP", async () => {
    const response = await unchanged(world, () => call(world, tpp, flow.bound, path, options));
    await assertChallenge(response, 403, NOT_A_BANK);
  });
  await t.step("another bank", async () => {
    await assertChallenge(await idleBankCall(world, bankB, path, options), 401, NO_TOKEN_HERE);
  });
  await t.step("the TPP's certificate", async () => {
    await assertChallenge(await idlePut(world, flow, reportFor(flow), { as: tpp }), 401, NO_TOKEN_HERE);
  });
  await t.step("no proof", async () => {
    const response = await idlePut(world, flow, reportFor(flow), { proof: null });
    await assertChallenge(response, 401, 'DPoP error="invalid_dpop_proof", algs="PS256"');
  });
});

Deno.test("PUT back-channel-auth: the FAPI headers are optional, malformed ones refused [RP-N26] [C10]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await good(put(world, flow, reportFor(flow)), 200);
  const headers = { "x-fapi-customer-ip-address": "somewhere" };
  const response = await idlePut(world, flow, reportFor(flow), { headers });
  await assertFaults(response, 400, [["Header.Invalid", "x-fapi-customer-ip-address"]]);
  await assertBare(await idlePut(world, flow, reportFor(flow), { headers: { accept: "text/html" } }), 406);
});

Deno.test("PUT back-channel-auth: of parallel reports both are taken, one is the last [BCH-04]", async () => {
  const store = await openGatedStore();
  await using world = await openWorld({ store });
  const flow = await toBank(world);
  const bound = await clientToken(world, world.bankA);
  const lists = ACCOUNTS.map((account) => [account]);
  store.gather(2);
  const answers = await Promise.all(
    lists.map((DebtorAccount) =>
      call(world, world.bankA, bound, consentPath(flow.consentId), {
        method: "PUT",
        body: JSON.stringify(reportFor(flow, { DebtorAccount })),
      })
    ),
  );
  assertEquals(answers.map(({ status }) => status), [200, 200]);
  const redirect = await flow.browser.open(await returnPath(world, world.bankA, flow.handover));
  const chosen = await decide(flow.browser, redirect.headers.get("location") ?? "", "accept", "0");
  const { Identification } = await debtorOf(world, flow, chosen);
  assertEquals(ACCOUNTS.some((account) => account.Identification === Identification), true);
});
