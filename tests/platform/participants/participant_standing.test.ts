/** Participants whom the directory has given up are refused everywhere within 15 s (Decisions A9, G5). */
import { assertEquals } from "@std/assert";
import { fetchedAnew, keyUrls, setOrganisation, setSoftware } from "../../support/directory_network.ts";
import {
  authorize,
  Browser,
  clientToken,
  createConsent,
  good,
  push,
  requestToken,
  toBank,
} from "../../../scripts/testing/flows.ts";
import type { Participant } from "../../../scripts/testing/participants.ts";
import { postRegistration } from "../../../scripts/testing/registration.ts";
import { unchanged } from "../../../scripts/testing/resource_answers.ts";
import { acceptActs, actsOfBank, actsOfTpp, BOUND_MS, refuseActs } from "../../support/standing.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

Deno.test("a TPP in good standing may do all of it, just before its status is asked for again as well [A9]", async () => {
  await using world = await openWorld();
  const acts = await actsOfTpp(world);
  await acceptActs(acts);
  fetchedAnew(world);
  world.now += BOUND_MS - 1;
  await acceptActs(acts);
  assertEquals(fetchedAnew(world).filter((url) => keyUrls(world.tpp).includes(url)), []);
});

interface Downfall {
  readonly fall: (world: World, who: Participant) => Promise<void>;
  /** What the TPP's redirect URI receives if it is a bank. */
  readonly error: string;
}

const downfalls: Readonly<Record<string, Downfall>> = {
  "whose software is Inactive": {
    fall: (world, who) => setSoftware(world, who, "Inactive"),
    error: "temporarily_unavailable",
  },
  "whose software is Revoked": {
    fall: (world, who) => setSoftware(world, who, "Revoked"),
    error: "access_denied",
  },
  "that is Suspended": {
    fall: (world, who) => setOrganisation(world, who, "Suspended"),
    error: "temporarily_unavailable",
  },
  "that is Withdrawn": {
    fall: (world, who) => setOrganisation(world, who, "Withdrawn"),
    error: "access_denied",
  },
};

for (const [name, { fall, error }] of Object.entries(downfalls)) {
  Deno.test(`a TPP ${name} is refused everywhere within 15 s [A9]`, async (t) => {
    await using world = await openWorld();
    const acts = await actsOfTpp(world);
    await fall(world, world.tpp);
    world.now += BOUND_MS;
    await refuseActs(t, world, acts);
    await t.step("registration with the statement it has", async () => {
      const response = await unchanged(world, () => postRegistration(world, world.tpp));
      assertEquals([response.status, (await response.json()).error], [400, "invalid_client_metadata"]);
    });
    await t.step("while others go on", async () => {
      assertEquals((await requestToken(world, world.otherTpp)).status, 200);
    });
  });

  Deno.test(`a bank ${name} is refused everywhere within 15 s [A9]`, async (t) => {
    await using world = await openWorld();
    const flow = await toBank(world);
    const { "bank JWT": bankReturn, ...acts } = await actsOfBank(world, world.bankA, flow);
    const bound = await clientToken(world, world.tpp);
    const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
    await fall(world, world.bankA);
    world.now += BOUND_MS;
    await refuseActs(t, world, acts);
    await t.step("a customer who returns from there is led to the TPP [G5]", async () => {
      const answer = await unchanged(
        world,
        () => bankReturn?.attempt() ?? Promise.reject(new Error("no act")),
      );
      const to = new URL(answer.headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], ["https://shop.example", error]);
    });
    await t.step("no customer is sent there", async () => {
      const attempt = (): Promise<Response> => authorize(new Browser(world), world.tpp, pushed.request_uri);
      const to = new URL((await unchanged(world, attempt)).headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], [
        "https://shop.example",
        error,
      ]);
    });
    await t.step("while the other bank goes on", async () => {
      assertEquals((await requestToken(world, world.bankB, "BANKB")).status, 200);
    });
  });
}

Deno.test("a bank in good standing may do all of it [A9]", async () => {
  await using world = await openWorld();
  await acceptActs(await actsOfBank(world, world.bankA, await toBank(world)));
});

Deno.test("a participant that is Active again is believed again after 15 s [A9]", async () => {
  await using world = await openWorld();
  const { tpp } = world;
  await setOrganisation(world, tpp, "Suspended");
  world.now += BOUND_MS;
  assertEquals((await requestToken(world, tpp)).status, 401);
  await setOrganisation(world, tpp, "Active");
  await setSoftware(world, tpp, "Active");
  world.now += BOUND_MS;
  assertEquals((await requestToken(world, tpp)).status, 200);
});
