/**
 * How long a key or a participant that the directory has given up is still believed: never longer than 300 s
 * (Decision A9), wherever a key is used: assertion, certificate, payload signature, bank JWT, redirect, sealing.
 */
import { assertEquals } from "@std/assert";
import {
  type AtBank,
  authorize,
  Browser,
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  openHandover,
  push,
  putAccounts,
  requestToken,
  returnPath,
  toBank,
} from "../support/flows.ts";
import {
  addKey,
  fetchedAnew,
  keyUrls,
  revokeKey,
  setOrganisation,
  setSoftware,
} from "../support/directory_network.ts";
import type { Participant } from "../support/participants.ts";
import { postRegistration, renewedStatement } from "../support/registration.ts";
import { assertBare, assertFaults, unchanged } from "../support/resource_answers.ts";
import { openWorld, type World } from "../support/world.ts";

const BOUND_MS = 300_000;
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

/** Something that a participant can do as long as it is believed; `refused` judges the answer when it is not. */
interface Act {
  readonly attempt: () => Promise<Response>;
  readonly accepted: number;
  readonly refused: (response: Response) => Promise<void> | void;
}

/** Everything a TPP does, prepared while it is in good standing. */
async function actsOfTpp(world: World): Promise<Readonly<Record<string, Act>>> {
  const { tpp } = world;
  const bound = await clientToken(world, tpp);
  const { ConsentId } = (await createConsent(world, bound)).Data;
  const pushed = await good(push(world, ConsentId), 201);
  const path = "/BANKA/domestic-payment-consents/v1";
  const body = JSON.stringify(consentBody());
  return {
    "client assertion at token": {
      attempt: () => requestToken(world, tpp),
      accepted: 200,
      refused: (response) => invalidClient(response),
    },
    "client assertion at PAR": {
      attempt: () => push(world, ConsentId),
      accepted: 201,
      refused: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(world, tpp, bound, `${path}/${ConsentId}`),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => call(world, tpp, bound, path, { body }),
      accepted: 201,
      refused: (response) => invalidToken(response),
    },
    "authorize redirect": {
      attempt: () => authorize(new Browser(world), tpp, pushed.request_uri),
      accepted: 303,
      refused: (response) => page(response),
    },
  };
}

/** Everything a bank does. Each return takes a flow of its own. */
async function actsOfBank(
  world: World,
  bank: Participant,
  flow: AtBank,
): Promise<Readonly<Record<string, Act>>> {
  const bound = await clientToken(world, bank, bank.orgId);
  const path = `/${bank.orgId}/back-channel-auth/v1/${flow.consentId}`;
  return {
    "client assertion at token": {
      attempt: () => requestToken(world, bank, bank.orgId),
      accepted: 200,
      refused: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(world, bank, bound, path),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => putAccounts(world, bank, flow.consentId, undefined, { bound }),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "bank JWT": {
      attempt: async () => await flow.browser.open(await returnPath(world, bank, flow.handover)),
      accepted: 303,
      refused: (response) => page(response),
    },
  };
}

async function invalidClient(response: Response): Promise<void> {
  assertEquals([response.status, (await response.json()).error], [401, "invalid_client"]);
}

async function invalidToken(response: Response): Promise<void> {
  assertEquals(response.headers.get("www-authenticate"), INVALID_TOKEN);
  await assertBare(response, 401);
}

async function unknownSigner(response: Response): Promise<void> {
  await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
}

function page(response: Response): void {
  assertEquals([response.status, response.headers.get("location")], [400, null]);
}

async function refuseAll(
  t: Deno.TestContext,
  world: World,
  acts: Readonly<Record<string, Act>>,
): Promise<void> {
  for (const [name, { attempt, refused }] of Object.entries(acts)) {
    await t.step(name, async () => await refused(await unchanged(world, attempt)));
  }
}

async function acceptAll(acts: Readonly<Record<string, Act>>): Promise<void> {
  for (const [name, { attempt, accepted }] of Object.entries(acts)) {
    assertEquals([name, (await attempt()).status], [name, accepted]);
  }
}

Deno.test("a TPP in good standing may do all of it, 299 s after its keys were fetched as well [A9]", async () => {
  await using world = await openWorld();
  const acts = await actsOfTpp(world);
  await acceptAll(acts);
  fetchedAnew(world);
  world.now += BOUND_MS - 1;
  await acceptAll(acts);
  assertEquals(fetchedAnew(world).filter((url) => keyUrls(world.tpp).includes(url)), []);
});

const downfalls: Readonly<Record<string, (world: World, who: Participant) => Promise<void>>> = {
  "whose software is Inactive": (world, who) => setSoftware(world, who, "Inactive"),
  "whose software is Revoked": (world, who) => setSoftware(world, who, "Revoked"),
  "that is Suspended": (world, who) => setOrganisation(world, who, "Suspended"),
  "that is Withdrawn": (world, who) => setOrganisation(world, who, "Withdrawn"),
};

for (const [name, fall] of Object.entries(downfalls)) {
  Deno.test(`a TPP ${name} is refused everywhere within 300 s [A9]`, async (t) => {
    await using world = await openWorld();
    const acts = await actsOfTpp(world);
    await fall(world, world.tpp);
    world.now += BOUND_MS;
    await refuseAll(t, world, acts);
    await t.step("registration with the statement it has", async () => {
      const response = await unchanged(world, () => postRegistration(world, world.tpp));
      assertEquals([response.status, (await response.json()).error], [400, "invalid_client_metadata"]);
    });
    await t.step("while others go on", async () => {
      assertEquals((await requestToken(world, world.otherTpp)).status, 200);
    });
  });

  Deno.test(`a bank ${name} is refused everywhere within 300 s [A9]`, async (t) => {
    await using world = await openWorld();
    const flow = await toBank(world);
    const acts = await actsOfBank(world, world.bankA, flow);
    const bound = await clientToken(world, world.tpp);
    const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
    await fall(world, world.bankA);
    world.now += BOUND_MS;
    await refuseAll(t, world, acts);
    await t.step("no customer is sent there", async () => {
      const attempt = (): Promise<Response> => authorize(new Browser(world), world.tpp, pushed.request_uri);
      const to = new URL((await unchanged(world, attempt)).headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], [
        "https://shop.example",
        "temporarily_unavailable",
      ]);
    });
    await t.step("while the other bank goes on", async () => {
      assertEquals((await requestToken(world, world.bankB, "BANKB")).status, 200);
    });
  });
}

Deno.test("a bank in good standing may do all of it [A9]", async () => {
  await using world = await openWorld();
  await acceptAll(await actsOfBank(world, world.bankA, await toBank(world)));
});

Deno.test("a revoked signing key of a TPP signs nothing any more within 300 s [A9] [RP-N4]", async (t) => {
  await using world = await openWorld();
  const { "DPoP-bound call": dpopCall, "signed payload": payload, ...rest } = await actsOfTpp(world);
  await revokeKey(world, world.tpp, world.tpp.signing);
  world.now += BOUND_MS;
  await refuseAll(t, world, rest); // the redirect too: without a signing key there is no standing
  await t.step("signed payload", async () => {
    await unknownSigner(await unchanged(world, payload?.attempt ?? unprepared));
  });
  await t.step("its certificate has not been revoked", async () => {
    assertEquals((await dpopCall?.attempt())?.status, 200);
  });
  await t.step("a registration JWT [DC-N8] [DC5]", async () => {
    const statement = await renewedStatement(world, world.tpp);
    const attempt = (): Promise<Response> => postRegistration(world, world.tpp, { statement });
    const response = await unchanged(world, attempt);
    assertEquals([response.status, (await response.json()).error], [400, "invalid_client_metadata"]);
  });
});

Deno.test("a revoked transport key of a TPP opens nothing any more within 300 s [A9]", async (t) => {
  await using world = await openWorld();
  const { "authorize redirect": redirect, ...rest } = await actsOfTpp(world);
  await revokeKey(world, world.tpp, world.tpp.transport);
  world.now += BOUND_MS;
  await refuseAll(t, world, rest);
  await t.step("registration [DC11] [DC-N18]", async () => {
    const statement = await renewedStatement(world, world.tpp);
    const response = await unchanged(world, () => postRegistration(world, world.tpp, { statement }));
    await invalidClient(response);
  });
  await t.step("its signing key has not been revoked", async () => {
    assertEquals((await redirect?.attempt())?.status, 303);
  });
});

Deno.test("a revoked signing key of a bank signs nothing any more within 300 s [A9]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const { "DPoP-bound call": dpopCall, "signed payload": payload, ...rest } = await actsOfBank(
    world,
    world.bankA,
    flow,
  );
  await good(putAccounts(world, world.bankA, flow.consentId), 200);
  await revokeKey(world, world.bankA, world.bankA.signing);
  world.now += BOUND_MS;
  await refuseAll(t, world, rest);
  await t.step("signed payload", async () => {
    await unknownSigner(await unchanged(world, payload?.attempt ?? unprepared));
  });
  await t.step("its certificate has not been revoked", async () => {
    assertEquals((await dpopCall?.attempt())?.status, 200);
  });
});

Deno.test("a revoked transport key of a bank opens nothing any more within 300 s [A9]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const { "bank JWT": bankJwt, ...rest } = await actsOfBank(world, world.bankA, flow);
  await good(putAccounts(world, world.bankA, flow.consentId), 200);
  await revokeKey(world, world.bankA, world.bankA.transport);
  world.now += BOUND_MS;
  await refuseAll(t, world, rest);
  await t.step("its signing key has not been revoked", async () => {
    assertEquals((await bankJwt?.attempt())?.status, 303);
  });
});

Deno.test("a revoked key is refused at 300 s though its fetch is still under way for another call [A9]", async () => {
  await using world = await openWorld();
  await revokeKey(world, world.tpp, world.tpp.signing);
  world.now += BOUND_MS;
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  world.network = async (request) => {
    asked.resolve();
    await gate.promise;
    return await world.directory.fetch(request);
  };
  const first = requestToken(world, world.tpp);
  await asked.promise;
  const second = requestToken(world, world.tpp);
  assertEquals(await Promise.race([first, second, manyTurns()]), "waiting");
  gate.resolve();
  assertEquals([(await first).status, (await second).status], [401, 401]);
});

Deno.test("a revoked encryption key is sealed to no more within 300 s [A9] [A10]", async () => {
  await using world = await openWorld();
  const { tpp, bankA } = world;
  world.now += 1000; // newer than the one it has
  const encryption = await addKey(world, bankA, "encryption", 10);
  world.now += BOUND_MS;
  assertEquals(await sealedTo(encryption.kid), encryption.kid); // the newest one
  await revokeKey(world, bankA, encryption);
  world.now += BOUND_MS;
  assertEquals(await sealedTo(bankA.encryption?.kid ?? ""), bankA.encryption?.kid);
  await revokeKey(world, bankA, bankA.encryption ?? encryption);
  world.now += BOUND_MS;
  assertEquals(await sealedTo(bankA.transport.kid), bankA.transport.kid);

  /** The kid of the next hand-over's JWE; opened with the key that is expected to fit. */
  async function sealedTo(kid: string): Promise<string> {
    const bound = await clientToken(world, tpp);
    const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
    const departure = await authorize(new Browser(world), tpp, pushed.request_uri);
    const keys = [encryption, bankA.encryption, bankA.transport];
    const fitting = keys.find((key) => key?.kid === kid);
    if (fitting === undefined) throw new Error(`no key ${kid}`);
    assertEquals((await openHandover({ ...bankA, encryption: fitting }, departure)).claims.aud, "BANKA");
    const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
    return JSON.parse(atob(sealed.split(".")[0] ?? "")).kid;
  }
});

Deno.test("an added key is good as soon as the directory may be asked again, beside the old one [A9]", async (t) => {
  await using world = await openWorld();
  const { tpp } = world;
  const signing = await addKey(world, tpp, "signing", 10);
  const transport = await addKey(world, tpp, "transport", 11);
  await t.step("not within 30 s of the last fetch", async () => {
    world.now += 29_999;
    assertEquals((await requestToken(world, { ...tpp, signing })).status, 401);
    assertEquals((await requestToken(world, { ...tpp, transport })).status, 401);
  });
  await t.step("signing key, after 30 s", async () => {
    world.now += 1;
    assertEquals((await requestToken(world, { ...tpp, signing })).status, 200);
  });
  await t.step("transport key", async () => {
    assertEquals((await requestToken(world, { ...tpp, transport })).status, 200);
  });
  await t.step("both old keys", async () => {
    assertEquals((await requestToken(world, tpp)).status, 200);
  });
  await t.step("after the old ones were revoked, only the new ones", async () => {
    await revokeKey(world, tpp, tpp.signing);
    await revokeKey(world, tpp, tpp.transport);
    world.now += BOUND_MS;
    assertEquals((await requestToken(world, { ...tpp, signing, transport })).status, 200);
    assertEquals((await requestToken(world, { ...tpp, transport })).status, 401);
    assertEquals((await requestToken(world, { ...tpp, signing })).status, 401);
  });
});

Deno.test("a bank's JWT by an added key is good as soon as the directory may be asked again [A9]", async () => {
  await using world = await openWorld();
  const { bankA } = world;
  const flow = await toBank(world);
  await good(putAccounts(world, bankA, flow.consentId), 200);
  const renewed = { ...bankA, signing: await addKey(world, bankA, "signing", 10) };
  world.now += 30_000;
  assertEquals((await flow.browser.open(await returnPath(world, renewed, flow.handover))).status, 303);
});

Deno.test("a participant that is Active again is believed again after 30 s [A9]", async () => {
  await using world = await openWorld();
  const { tpp } = world;
  await setOrganisation(world, tpp, "Suspended");
  world.now += BOUND_MS;
  assertEquals((await requestToken(world, tpp)).status, 401);
  await setOrganisation(world, tpp, "Active");
  await setSoftware(world, tpp, "Active");
  world.now += 30_000;
  assertEquals((await requestToken(world, tpp)).status, 200);
});

function unprepared(): Promise<Response> {
  throw new Error("no such act");
}

/** Time for everything that can go on without the network to go on. */
async function manyTurns(): Promise<"waiting"> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setTimeout(resolve, 0));
  return "waiting";
}
