/**
 * Every kind of JWT that this platform's parties sign, put in the place of every other kind (checklist 12). One bank
 * signs nearly all of them with one key, so that nothing but their rules keeps them apart.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { compactDecrypt } from "jose";
import {
  type AtBank,
  authorize,
  Browser,
  call,
  clientToken,
  DEBTOR_ACCOUNT,
  dpopKey,
  requestToken,
  returnClaims,
  toBank,
} from "../support/flows.ts";
import { clientAssertion, dpopProof, payloadSignature, sealToPlatform, signJwt } from "../support/jwts.ts";
import { onboardOnly, type Participant, register, registrationClaims } from "../support/participants.ts";
import { BASE_URL, DIRECTORY_URL, openWorld, type World } from "../support/world.ts";
import { segment } from "../unit/jose/raw_jws.ts";

type Kind =
  | "client assertion"
  | "DPoP proof"
  | "registration JWT"
  | "software statement"
  | "platform's hand-over"
  | "bank's return"
  | "payload signature with its body";

/** A place for a JWT: what belongs there, and how it and anything else is answered. */
interface Slot {
  readonly name: string;
  readonly own: Kind;
  readonly good: RegExp;
  readonly refusal: RegExp;
  readonly send: (jwt: string) => Promise<Response>;
}

Deno.test("POST token, PUT back-channel-auth and GET authorization.sca.oauth2 take no JWT of another kind [J26, J27, CA-N22, BR-N18]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  for (const slot of await slotsOfBank(world, flow)) await everyKind(t, world, world.bankA, flow, slot);
});

Deno.test("POST register takes no JWT of another kind, around or as a statement [J26, J28, DC-N27]", async (t) => {
  for (const number of [0, 1]) {
    await using world = await openWorld();
    const flow = await toBank(world);
    const newcomer = await onboardOnly(world, {
      name: "Bank C plc",
      role: "ASPSP",
      orgId: "BANKC",
      keys: [10, 11],
      redirectUris: ["https://bank-c.example/sca"],
    });
    const slot = slotsOfRegistration(world, newcomer)[number];
    if (slot !== undefined) await everyKind(t, world, newcomer, flow, slot);
  }
});

Deno.test("POST token knows a client's keys by its own key set alone, though another's has the same kid [J7]", async (t) => {
  await using world = await openWorld();
  const { tpp, otherTpp } = world;
  const directory = world.network;
  world.network = async (request) => {
    const answer = await directory(request);
    if (request.url !== `${DIRECTORY_URL}/participants/${otherTpp.orgId}/jwks`) return answer;
    return new Response((await answer.text()).replaceAll(otherTpp.signing.kid, tpp.signing.kid), answer);
  };
  world.now += 301_000; // key sets are kept 300 s
  const { kid } = tpp.signing;
  const cases = {
    "the other's key for the first client": [tpp, otherTpp, 401],
    "the first client's key for the other": [otherTpp, tpp, 401],
    "the first client's own key": [tpp, tpp, 200],
  } as const;
  for (const [name, [client, signer, status]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const signed = { ...client, signing: { ...signer.signing, kid } };
      const client_assertion = await clientAssertion(world, signed, "BANKA");
      const answer = await requestToken(world, client, "BANKA", { form: { client_assertion } });
      assertEquals([answer.status, (await answer.json()).error], [
        status,
        status === 200 ? undefined : "invalid_client",
      ]);
    });
  }
  assertEquals(world.fetched.includes(`${DIRECTORY_URL}/participants/${otherTpp.orgId}/jwks`), true);
});

async function everyKind(
  t: Deno.TestContext,
  world: World,
  signer: Participant,
  flow: AtBank,
  slot: Slot,
): Promise<void> {
  for (const [kind, jwt] of Object.entries(await kindsOf(world, signer, flow))) {
    if (kind === slot.own) continue;
    await t.step(`${kind} as ${slot.name}`, async () => {
      const before = await world.snapshot();
      assertMatch(await outcomeOf(slot.send(jwt)), slot.refusal);
      assertEquals(await world.snapshot(), before);
    });
  }
  await t.step(`${slot.own} as ${slot.name}`, async () => {
    assertMatch(await outcomeOf(slot.send((await kindsOf(world, signer, flow))[slot.own])), slot.good);
  });
}

async function kindsOf(world: World, signer: Participant, flow: AtBank): Promise<Record<Kind, string>> {
  const body = reportOf(flow);
  const [header = "", , signature = ""] = (await payloadSignature(world, signer, body)).split(".");
  const target = { method: "POST", url: `${BASE_URL}/${signer.orgId}/token.oauth2/v1` };
  return {
    "client assertion": await clientAssertion(world, signer, signer.orgId),
    "DPoP proof": await dpopProof(world, await dpopKey(), target),
    "registration JWT": await signJwt(signer.signing, registrationClaims(world, signer)),
    "software statement": signer.statement,
    "platform's hand-over": await handoverJws(world, flow),
    "bank's return": await signJwt(signer.signing, returnClaims(world, signer, flow.handover)),
    "payload signature with its body": `${header}.${segment(body)}.${signature}`,
  };
}

/** In this order the good ones are a flow: the accounts are reported before the customer returns. */
async function slotsOfBank(world: World, flow: AtBank): Promise<readonly Slot[]> {
  const { bankA } = world;
  const bound = await clientToken(world, bankA);
  return [{
    name: "client_assertion",
    own: "client assertion",
    good: /^200 DPoP$/,
    refusal: /^401 invalid_client$/,
    send: (jwt) => requestToken(world, bankA, "BANKA", { form: { client_assertion: jwt } }),
  }, {
    name: "DPoP",
    own: "DPoP proof",
    good: /^200 DPoP$/,
    refusal: /^400 invalid_dpop_proof$/,
    send: (jwt) => requestToken(world, bankA, "BANKA", { proof: jwt }),
  }, {
    name: "x-jws-signature over its own payload",
    own: "payload signature with its body",
    good: /^200 $/,
    refusal: /^400 UK\.OBIE\.(Signature|Field)\.\w+$/,
    send: (jwt) => {
      const [header, payload = "", signature] = jwt.split(".");
      const body = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
      const path = `/BANKA/back-channel-auth/v1/${flow.consentId}`;
      return call(world, bankA, bound, path, { method: "PUT", body, signature: `${header}..${signature}` });
    },
  }, {
    name: "oAuthUrl",
    own: "bank's return",
    good: /^303 \/BANKA\/authorization\.consent\.oauth2$/,
    refusal: /^400 page$/,
    send: async (jwt) => {
      const query = new URLSearchParams({ oAuthUrl: await sealToPlatform(world, jwt) });
      return await flow.browser.open(`/BANKA/authorization.sca.oauth2?${query}`);
    },
  }];
}

function slotsOfRegistration(world: World, newcomer: Participant): readonly Slot[] {
  return [{
    name: "registration JWT",
    own: "registration JWT",
    good: /^201 SC-/,
    refusal: /^400 invalid_client_metadata$/,
    send: (jwt) => register(world, newcomer, jwt),
  }, {
    name: "software_statement",
    own: "software statement",
    good: /^201 SC-/,
    refusal: /^400 (invalid|unapproved)_software_statement$/, // unapproved: it names another issuer
    send: async (jwt) => {
      const claims = { ...registrationClaims(world, newcomer), software_statement: jwt };
      return await register(world, newcomer, await signJwt(newcomer.signing, claims));
    },
  }];
}

function reportOf({ bank, consentId }: AtBank): string {
  return JSON.stringify({
    Data: {
      BankId: bank.orgId,
      ConsentId: consentId,
      Sub: "customer-1",
      DebtorAccount: [{ ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" }],
    },
  });
}

/** The signed layer of a hand-over: opening the link once more makes a fresh one. */
async function handoverJws(world: World, { bank, requestUri }: AtBank): Promise<string> {
  const departure = await authorize(new Browser(world), world.tpp, requestUri);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const recipient = bank.encryption ?? bank.transport;
  const { plaintext } = await compactDecrypt(sealed, await recipient.key.privateKey("decrypt"));
  return new TextDecoder().decode(plaintext);
}

/** Status, and what names the outcome. */
async function outcomeOf(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const text = await response.text();
  if (response.headers.get("content-type")?.startsWith("text/html") === true) {
    return `${response.status} page`;
  }
  const location = response.headers.get("location");
  if (location !== null) return `${response.status} ${new URL(location, BASE_URL).pathname}`;
  const body = text === "" ? {} : JSON.parse(text);
  const named = body.error ?? body.Errors?.[0].ErrorCode ?? body.token_type ?? body.client_id ?? "";
  return `${response.status} ${named}`;
}
