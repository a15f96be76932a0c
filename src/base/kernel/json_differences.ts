/**
 * Finds the differences between two JSON values. Strings are compared by code points and arrays by position. The
 * order of an object's members does not matter.
 */

/**
 * Returns the paths of the leaves in which `a` and `b` differ, depth first, below `path`. A value that one side lacks
 * differs in each of its leaves. An undefined member counts as absent.
 */
export function differences(a: unknown, b: unknown, path: string): string[] {
  if (isPlain(a) && isPlain(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const length = Math.max(a.length, b.length);
    return Array.from({ length }, (_, i) => differences(a[i], b[i], `${path}[${i}]`)).flat();
  }
  return a === b ? [] : leaves(a ?? b, path);
}

function leaves(value: unknown, path: string): string[] {
  const members = Array.isArray(value)
    ? value.map((member, i) => leaves(member, `${path}[${i}]`))
    : isPlain(value)
    ? Object.keys(value).filter((name) => value[name] !== undefined).map((name) =>
      leaves(value[name], `${path}.${name}`)
    )
    : [];
  return members.length === 0 ? [path] : members.flat();
}

function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
