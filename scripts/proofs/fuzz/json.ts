/**
 * Mutations of JSON documents as texts, so that they can contain forms that no parsed value has, such as duplicate
 * members and numbers out of range.
 */
import { mutateText, pick } from "./mutations.ts";
import { NAMES, ODD_VALUES, WORDS } from "./words.ts";
import type { Random } from "../prove/random.ts";
import { reverseMembers } from "../../testing/resource_bodies.ts";
import { jsonIfAny } from "../../../src/base/kernel/json.ts";

/** Differences by which times and amounts are changed. */
const STEPS: readonly number[] = [1, 29, 30, 31, 59, 60, 61, 300, 330, 331, 600, 601, 3600, 3601, 0.5, 1e9];
const HOLE = "\u0001hole\u0001";
const [HOLE_TEXT, HOLE_BEGINS] = [JSON.stringify(HOLE), JSON.stringify(HOLE).slice(0, -1)];

type Members = { readonly [name: string]: unknown };

/**
 * The document with one or two parts replaced, omitted, renamed, repeated or added, or the same document written
 * differently.
 */
export function mutateJson(random: Random, document: unknown): string {
  if (random.chance(0.1)) return mutateText(random, JSON.stringify(document));
  if (random.chance(0.05)) return rewriteDocument(document);
  const once = editJson(random, document);
  return random.chance(0.3) ? editJson(random, jsonIfAny(once) ?? document) : once;
}

function editJson(random: Random, document: unknown): string {
  const path = pick(random, [[], ...pathsOf(document)]);
  if (path.length === 0) return other(random, document);
  let value = other(random, document);
  const holed = withHole(document, path, (holder, name) => {
    const { [name]: former, ...others } = holder;
    const unknown = HOLE + pick(random, NAMES);
    switch (random.below(7)) {
      case 0:
        return others;
      case 1:
        return { ...others, [unknown]: former };
      case 2:
        return { ...holder, [HOLE + name]: HOLE };
      case 3:
        return { ...holder, [unknown]: HOLE };
      case 4:
        return { ...others, [name]: HOLE };
      default:
        value = near(random, former) ?? value;
        return { ...others, [name]: HOLE };
    }
  });
  return JSON.stringify(holed).replaceAll(HOLE_TEXT, () => value).replaceAll(HOLE_BEGINS, '"');
}

/** The same value with its members in another order, white space and escapes. */
function rewriteDocument(document: unknown): string {
  const text = JSON.stringify(reverseMembers(document), null, "\t");
  return `\n${text.replaceAll("a", "\\u0061")} `;
}

/** Another value: odd, well-known, or from another place in the document. */
function other(random: Random, document: unknown): string {
  if (random.chance(0.4)) return pick(random, ODD_VALUES);
  if (random.chance(0.7)) return JSON.stringify(pick(random, WORDS));
  const path = pick(random, [[], ...pathsOf(document)]);
  return JSON.stringify(path.reduce((at, name) => Object(at)[name], document)) ?? "null";
}

/** A value of the same type with a small difference. */
function near(random: Random, value: unknown): string | undefined {
  if (typeof value === "string") return JSON.stringify(mutateText(random, value));
  if (typeof value !== "number") return undefined;
  return JSON.stringify(value + pick(random, STEPS) * (random.chance(0.5) ? 1 : -1));
}

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const own = path.length === 0 ? [] : [path];
  if (typeof value !== "object" || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function withHole(
  value: unknown,
  [first, ...rest]: readonly string[],
  edit: (holder: Members, name: string) => Members,
): unknown {
  if (first === undefined || typeof value !== "object" || value === null) return value;
  const holder: Members = { ...value };
  const changed = rest.length === 0
    ? edit(holder, first)
    : { ...holder, [first]: withHole(holder[first], rest, edit) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

/**
 * The only value of the text; undefined if it is not JSON or has a duplicate member. Independent of the platform's own
 * parser, because it checks what that accepted.
 */
export function readJson(text: string): unknown {
  const value = jsonIfAny(text);
  const strings = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"\s*:?/g) ?? [];
  return strings.filter((string) => string.endsWith(":")).length === membersIn(value) ? value : undefined;
}

function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce<number>((sum, member) => sum + membersIn(member), own);
}
