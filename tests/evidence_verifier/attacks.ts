/** Forgeries of more than one place: what the holder of the platform's key would try who knows both verifiers. */
import { signBytes } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { canonicalForm, membersOf, parsed, sha256Text } from "./encoding.ts";
import type { Branch, Draft, DraftEntry } from "./drafts.ts";
import { type Mutation, nodeAt, other, replaceEverywhere } from "./mutations.ts";

const DAY_MS = 86_400_000;

/** An entry of the other case in the place of the own one, with the own ids wherever the platform writes them. */
function* transplanted(draft: Draft, second: Draft): Generator<Mutation> {
  const [own, theirs] = [draft.statement.claims, second.statement.claims];
  for (const [at, { record, position }] of draft.entries.entries()) {
    const found = second.entries.find((entry) =>
      entry.record["event"] === record["event"] && entry.record["sequence"] === record["sequence"]
    );
    if (found === undefined) continue;
    const apply = (forged: Draft): void => {
      const entry = structuredClone(found);
      for (const name of ["consent", "payment"]) {
        replaceEverywhere(entry, String(theirs[name]), String(own[name]));
      }
      forged.entries[at] = { ...entry, position };
    };
    yield { kind: "transplanted", path: ["entries", at], from: "digests", apply };
  }
}

/** Makes every proof of a case with a key of the forger's. */
async function forgeProofs({ entries }: Draft): Promise<void> {
  const key = await testKey(15);
  for (const { record } of entries) {
    const authentication = record["authentication"] as Branch | undefined;
    if (authentication?.["proof"] === undefined) continue;
    const { method, target, token } = authentication;
    const claims = {
      htm: method,
      htu: target,
      iat: Math.floor(Number(record["at"]) / 1000),
      jti: crypto.randomUUID(),
      ...token !== undefined && { ath: token },
    };
    const payload = new TextEncoder().encode(JSON.stringify(claims));
    authentication["proof"] = await signBytes(key, payload, { typ: "dpop+jwt", jwk: key.publicJwk });
  }
}

/** Forged proofs alone, and with each of what a proof covers changed. */
function* withForgedProofs(draft: Draft, second: Draft): Generator<Mutation> {
  yield { kind: "proofs forged", path: [], from: "digests", apply: forgeProofs };
  for (const { path, apply } of transplanted(draft, second)) {
    const both = async (forged: Draft): Promise<void> => {
      await apply(forged);
      await forgeProofs(forged);
    };
    yield { kind: "proofs forged", path, from: "digests", apply: both };
  }
  for (const [at, { record }] of draft.entries.entries()) {
    for (const name of ["method", "target", "token", "clientId"]) {
      const path = ["entries", at, "record", "authentication", name];
      const value = nodeAt(draft, path);
      if (typeof value !== "string") continue;
      const change = async ({ entries }: Draft): Promise<void> => {
        const entry = entries[at] as DraftEntry;
        (entry.record["authentication"] as Branch)[name] = other(value);
        if (name === "clientId") entry.record["actor"] = other(record["actor"] ?? "");
        await forgeProofs({ ...draft, entries });
      };
      yield { kind: "proofs forged", path, from: "digests", apply: change };
    }
  }
}

/** A key or software statement with another member, and every reference to it. */
function* rewritten(draft: Draft): Generator<Mutation> {
  for (const [at, text] of ((draft["documents"] ?? []) as string[]).entries()) {
    const key = parsed(new TextEncoder().encode(text));
    for (const [name, value] of Object.entries(membersOf(key)) as [string, Branch[string]][]) {
      const { [name]: _, ...rest } = membersOf(key);
      for (const changed of [rest, { ...rest, [name]: other(value) }]) {
        const apply = (forged: Draft): void => {
          const to = canonicalForm(changed);
          (forged["documents"] as string[])[at] = to;
          replaceEverywhere(forged.entries, sha256Text(text), sha256Text(to));
        };
        yield { kind: "rewritten", path: ["documents", at, name], from: "digests", apply };
      }
    }
  }
}

function* dated(draft: Draft): Generator<Mutation> {
  for (const [at, { record }] of draft.entries.entries()) {
    const path = ["entries", at, "record", "at"];
    const apply = ({ entries }: Draft): void => {
      (entries[at] as DraftEntry).record["at"] = Number(record["at"]) + DAY_MS;
    };
    yield { kind: "a day later", path, from: "digests", apply };
  }
}

/** Another account was chosen, shown and ordered: everything that the platform writes about it agrees. */
function* repaid(draft: Draft): Generator<Mutation> {
  for (const [at, { bodies }] of draft.entries.entries()) {
    for (const [place, body] of bodies.entries()) {
      const chosen = nodeAt(body, ["content", "chosen"]);
      const number = nodeAt(chosen, ["account", "identification"]);
      if (typeof number !== "string") continue;
      const path = ["entries", at, "bodies", place, "content", "chosen"];
      for (const isEverywhere of [false, true]) {
        const apply = (forged: Draft): void => {
          replaceEverywhere(isEverywhere ? forged : nodeAt(forged, path), number, `${number}1`);
          const now = membersOf(nodeAt(forged, path));
          const shown = nodeAt(forged, [...path.slice(0, -1), "page", "accounts", 0]) as Branch;
          shown["account"] = sha256Text(String(now["salt"]), canonicalForm(now["account"]));
        };
        const name = isEverywhere ? [...path, "everywhere"] : path;
        yield { kind: "paid from another account", path: name, from: "digests", apply };
      }
    }
  }
}

export function* attacksOn(draft: Draft, second: Draft): Generator<Mutation> {
  yield* transplanted(draft, second);
  yield* withForgedProofs(draft, second);
  yield* rewritten(draft);
  yield* dated(draft);
  yield* repaid(draft);
}
