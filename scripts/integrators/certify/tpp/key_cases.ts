/** Cases about the platform's keys: rotation, and signatures by keys that are not the platform's. */
import type { Case } from "../case.ts";
import { believesNothing, missing, of, saidNot, settled, verdict } from "./reading.ts";
import type { TppBench } from "./bench.ts";
import {
  answer,
  answered,
  changed,
  each,
  newSigningKey,
  signedBy,
  signedWithRs256,
  withBody,
} from "./misbehaviours.ts";
import type { Misbehaviour } from "./front.ts";

type TppCase = Case<TppBench>;

const BANK = "BANKA";
const SIGNATURES = "contract SG6; RFC 8725 §3.1";

/** Publishes another key before the platform's own. */
function published(key: unknown): Misbehaviour {
  return changed({ endpoint: "keys" }, withBody((body) => ({ ...body, keys: [key, ...(body.keys ?? [])] })));
}

/** Cases TPP-K01 to TPP-K06. */
export const KEY_CASES: readonly TppCase[] = [
  {
    id: "TPP-K01",
    title: "After a rotation of the platform's keys, the key set is fetched again",
    requirement: "contract MD8; OpenID Connect Core §10.1.1",
    seconds: 120,
    async run(bench) {
      const key = await newSigningKey();
      const rotated = changed({ endpoint: "payments" }, signedBy(key));
      let isPublished = false; // before it signs, once the TPP has read the set for its consent
      const waits = bench.keyLeadSeconds * 1000;
      const run = await bench.pay({ bank: BANK, waits }, (exchange, before, forward) => {
        isPublished ||= exchange.endpoint === "par";
        return isPublished ? each(rotated, published(key.published))(exchange, before, forward) : undefined;
      });
      return verdict([
        missing(of(run, "payments"), "payment"),
        saidNot(run, "paid"),
      ], `it fetched the key set ${of(run, "keys", "GET").length} times and said paid`);
    },
  },
  {
    id: "TPP-K02",
    title: "A key that is announced before its use does not hide the key in use",
    requirement: "contract MD8; OpenID Connect Core §10.1.1",
    async run(bench) {
      const key = await newSigningKey();
      const run = await bench.pay({ bank: BANK }, published(key.published));
      return verdict([saidNot(run, "paid")], "it chose the key by its kid");
    },
  },
  believesNothing({
    id: "TPP-K03",
    title: "A signature by a key that the platform does not publish is rejected",
    requirement: SIGNATURES,
  }, async () => changed({ endpoint: "payments" }, signedBy(await newSigningKey(), settled))),
  believesNothing({
    id: "TPP-K04",
    title: "A signature by another key under the platform's kid is rejected",
    requirement: SIGNATURES,
  }, async ({ platformKey: { kid } }) => {
    const { key } = await newSigningKey();
    return changed({ endpoint: "payments" }, signedBy({ kid, key }, settled));
  }),
  believesNothing({
    id: "TPP-K05",
    title: "A signature by the platform's key with RS256 is rejected",
    requirement: "contract FAPI-D20; RFC 8725 §3.1",
  }, ({ platformKey }) => changed({ endpoint: "payments" }, signedWithRs256(platformKey, settled))),
  {
    id: "TPP-K06",
    title: "It does not go on while it cannot fetch the platform's keys",
    requirement: SIGNATURES,
    async run(bench) {
      let hasGoneOn = false;
      const without = answered({ endpoint: "keys" }, () => answer(503, {}, { "retry-after": "1" }));
      const run = await bench.pay({ bank: BANK }, (exchange, before, forward) => {
        hasGoneOn ||= exchange.endpoint === "par";
        return hasGoneOn ? undefined : without(exchange, before, forward);
      });
      const pushed = of(run, "par")[0]?.at ?? Infinity;
      const asked = of(run, "keys", "GET").filter(({ at }) => at < pushed).length;
      return verdict([
        missing(of(run, "consents"), "consent"),
        asked > 0 && pushed !== Infinity && "it sent its customer on without the platform's keys",
      ], asked > 0 ? "it stopped" : "it had fetched the keys before");
    },
  },
];
