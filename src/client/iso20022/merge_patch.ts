/** JSON merge patches (RFC 7396). */

type Members = Readonly<Record<string, unknown>>;

/** Returns the patch that makes `to` of `from`, or nothing if they are equal. An undefined member is absent. */
export function patchBetween(from: unknown, to: unknown): unknown {
  if (!isObject(from) || !isObject(to)) return JSON.stringify(from) === JSON.stringify(to) ? undefined : to;
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  const changes = [...names].map((name): [string, unknown] => [
    name,
    to[name] === undefined && from[name] !== undefined ? null : patchBetween(from[name], to[name]),
  ]).filter(([, patch]) => patch !== undefined);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Applies a patch. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatched(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
