import { assert, assertEquals } from "@std/assert";
import canonicalize from "canonicalize";
import { present } from "testing/answers.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { bundleOf, faultsOf, grownBundle, settled } from "./bundles.ts";

type Members = Readonly<Record<string, unknown>>;

/** What the tests change of a bundle. */
interface Bundle {
  readonly entries: {
    index: number;
    readonly record: { readonly event: string; readonly items?: readonly { readonly kind: string }[] };
    readonly bodies: { bytes: string }[];
  }[];
  readonly documents: string[];
  readonly statement: string;
}

/** Changes of a bundle, and one of the things that the verification then names beside the platform's digest. */
const CHANGED: Readonly<Record<string, readonly [(bundle: Bundle) => void, RegExp]>> = {
  "signed evidence": [(bundle) => {
    bodyOf(bundle, "status_report")["bytes"] = "e30";
  }, /^the signature of the status_report of entry 2 of \S+ \(\S+\) does not verify$/],
  "what the screen showed": [(bundle) => {
    bodyOf(bundle, "decision")["bytes"] = btoa('{"page":{"amount":"1.00"}}').replace(/=+$/, "");
  }, /^the screen of the decision of entry 6 of \S+ \(\S+\) is not the one whose hash the entry has$/],
  "a key": [(bundle) => {
    bundle.documents[0] = "{}";
  }, /^the (key of the )?\w+ of entry \d of \S+ \(\S+\) is missing$/],
  "the order": [(bundle) => {
    bundle.entries.reverse();
  }, /is out of order$/],
  "the payment before its consent": [(bundle) => {
    bundle.entries.sort((a, b) =>
      Number(b["record"].event.startsWith("payment")) - Number(a["record"].event.startsWith("payment"))
    );
  }, /is out of order$/],
  "another place in the log": [(bundle) => {
    const [entry] = bundle.entries;
    if (entry !== undefined) entry["index"]++;
  }, /^entry 1 of \S+ \(\S+\) is not in the signed log$/],
};

function bodyOf({ entries }: Bundle, kind: string): { bytes: string } {
  for (const { record, bodies } of entries) {
    const at = (record.items ?? []).findIndex((item) => item.kind === kind);
    if (at >= 0) return present(bodies[at]);
  }
  throw new Error(`no ${kind}`);
}

Deno.test("the verification names each part of a bundle that was changed [EV10, EV11]", async (t) => {
  await using env = await openEnvironment();
  const text = await grownBundle(env, (await settled(env)).paymentId);
  for (const [name, [change, expected]] of Object.entries(CHANGED)) {
    await t.step(name, async () => {
      const bundle = JSON.parse(text) as Bundle;
      change(bundle);
      const faults = await faultsOf(`${canonicalize(bundle)}\n`);
      const digest =
        "the file was changed after the platform signed it: its digest is not the one of the statement";
      assert(faults.includes(digest) && faults.some((fault) => expected.test(fault)), faults.join("\n"));
    });
  }
  await t.step("another way to write the same signature", async () => {
    const { statement } = JSON.parse(text) as Bundle;
    const next = statement.slice(0, -1) + String.fromCharCode(statement.charCodeAt(statement.length - 1) + 1);
    const [fault] = await faultsOf(text.replace(statement, next));
    assertEquals(fault, "the platform's signature of the statement does not verify");
  });
  await t.step(
    "a consent that the bank manages, an implicit one, and one that is not decided hold",
    async () => {
      const atBank = await authorised(env, { bank: env.bankB });
      const implicit = await authorised(env, { body: FULL_CONSENT });
      const open = await toBank(env); // not decided
      for (const { consentId } of [atBank, implicit, open]) {
        assertEquals(await faultsOf(await grownBundle(env, consentId)), []);
      }
    },
  );
});

/** Changes of the database behind the platform's back, and what the verification of the next bundle must name. */
const TAMPERED: Readonly<
  Record<
    string,
    readonly [
      (env: Environment, ids: { readonly consentId: string; readonly paymentId: string }) => Promise<void>,
      RegExp,
    ]
  >
> = {
  "a changed actor": [async (env, { consentId }) => {
    await changeAudit(env, consentId, 3, (value) => ({ ...value, actor: "someone" }));
  }, /^entry 3 of \S+ \(\S+\) is not in the signed log$/],
  "a removed entry": [async (env, { consentId }) => {
    await changeAudit(env, consentId, 2, () => undefined);
  }, /^entries of \S+ are missing before 3$/],
  "a removed last entry of the consent": [async (env, { consentId }) => {
    await changeAudit(env, consentId, 8, () => undefined);
  }, /^the last entries of \S+ are missing$/],
  "a removed last entry of the payment": [async (env, { paymentId }) => {
    await changeAudit(env, paymentId, 2, () => undefined);
  }, /^the last entries of \S+ are missing$/],
  "changed evidence": [async (env, { consentId }) => {
    await changeAudit(
      env,
      consentId,
      1,
      ({ body, ...value }) => ({ ...value, body: { ...Object(body), text: "other" } }),
    );
  }, /^the consent_request of entry 1 of \S+ \(\S+\) was changed$/],
  "removed evidence": [async (env, { consentId }) => {
    await changeAudit(env, consentId, 1, ({ body: _, ...value }) => value);
  }, /is missing, and no entry says that it was deleted$/],
};

type Change = (value: Members) => Members | undefined;

async function changeAudit(
  env: Environment,
  subject: string,
  sequence: number,
  change: Change,
): Promise<void> {
  const history = await env.store.list<Members>({ prefix: ["audit", subject], limit: 100 });
  const entry = history.find(({ value }) => value["sequence"] === sequence);
  if (entry === undefined) throw new Error("no such entry");
  const opened = present(await env.store.get<Members>(entry.key));
  await put(env, entry.key, change(opened.value));
}

async function put(
  { store }: Environment,
  key: readonly string[],
  value: Members | undefined,
): Promise<void> {
  const write = value === undefined ? { kind: "delete", key } as const : { kind: "set", key, value } as const;
  assert(await store.commit({ checks: [], writes: [write] }));
}

Deno.test("the verification names what was changed in the database, although the platform signs the bundle [EV12]", async (t) => {
  await using env = await openEnvironment();
  for (const [name, [change, expected]] of Object.entries(TAMPERED)) {
    await t.step(name, async () => {
      const ids = await settled(env);
      assertEquals(await faultsOf(await grownBundle(env, ids.paymentId)), []);
      await change(env, ids);
      const faults = await faultsOf((await bundleOf(env.platform, ids.paymentId)).text);
      assert(faults.some((fault) => expected.test(fault)), faults.join("\n"));
    });
  }
});
