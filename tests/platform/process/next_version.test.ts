/**
 * The platform beside its next version on one store, as during an upgrade: the requests of each payment reach one or
 * the other in turn. The next version stores every object with the next version number and a member of its own.
 */
import { assert, assertEquals } from "@std/assert";
import type { Platform } from "../../../src/platform/process/compose.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import type { Payment } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { type Environment, openEnvironment, throughProxy } from "testing/environment.ts";
import { openTestStore } from "testing/test_store.ts";
import { anotherProcess } from "support/processes.ts";

const ADDED = "addedByTheNextVersion";

/** Gives each stored object the version number that the next version of its record has, and one more member. */
function asNextVersion(store: Store): Store {
  const next = (write: Write): Write => {
    if (write.kind === "delete" || typeof write.value !== "object" || write.value === null) return write;
    const { v = 1, ...value } = write.value as { readonly v?: number };
    return { ...write, value: { ...value, v: v + 1, [ADDED]: "kept" } };
  };
  return { ...store, commit: ({ checks, writes }) => store.commit({ checks, writes: writes.map(next) }) };
}

/** Sends each request to the other version than the request before. */
function inTurn(env: Environment, versions: readonly [Platform, Platform]): Environment {
  let sent = 0;
  const turn = (): Platform => versions[sent++ % 2] ?? versions[0];
  return Object.assign(Object.create(env), {
    api: (request: Request, as?: Environment["tpp"]) => turn().api.fetch(throughProxy(request, as)),
    browser: (request: Request) => turn().browser.fetch(throughProxy(request, undefined)),
  });
}

for (const bank of ["bankA", "bankB"] as const) {
  for (const order of ["this version first", "the next version first"]) {
    Deno.test(`payments through two versions of the platform in turn, ${order}, consent at ${bank === "bankA" ? "the platform" : "the bank"} [M1]`, async () => {
      const { store, kept } = await watchedStore();
      await using env = await openEnvironment({ store });
      const next = await anotherProcess(
        Object.assign(Object.create(env), { store: asNextVersion(env.store) }),
      );
      const both = inTurn(env, order.startsWith("this") ? [env.platform, next] : [next, env.platform]);
      const flow = await authorised(both, { bank: env[bank] });
      const { DomesticPaymentId: id } = (await good(pay(both, flow), 201)).Data;
      await good(putStatus(both, env[bank], id, "AcceptedSettlementCompleted"), 200);
      for (let reads = 0; reads < 2; reads++) {
        const path = `/${env[bank].orgId}/domestic-payments/v1/${id}`;
        const own = await clientToken(both, env.tpp, env[bank].orgId);
        const { Data } = await good<Payment>(call(both, env.tpp, own, path), 200);
        assertEquals(Data.Status, "AcceptedSettlementCompleted");
      }
      await next.stop();
      assert(kept() > 0, "this version has changed objects of the next one and kept their new members");
    });
  }
}

/** A store that counts the objects of the next version that this version has changed. */
async function watchedStore(): Promise<{ readonly store: Store; readonly kept: () => number }> {
  const store = await openTestStore();
  let kept = 0;
  const isKept = (write: Write): boolean => {
    if (write.kind === "delete" || typeof write.value !== "object" || write.value === null) return false;
    return ADDED in write.value && "v" in write.value && write.value.v === 1;
  };
  const commit: Store["commit"] = (staged) => {
    kept += staged.writes.filter(isKept).length;
    return store.commit(staged);
  };
  return { store: { ...store, commit }, kept: () => kept };
}
