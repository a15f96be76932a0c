/** Copies of a JSON body with one place changed, for tables of bad inputs. */

/** A copy with the value at the path (`Data.Initiation.AddressLine[0]`) replaced, or its member left out. */
export function edited(body: unknown, path: string, value: unknown): unknown {
  return changed(structuredClone(body), path.split(/[.[\]]+/).filter((step) => step !== ""), value);
}

/** A copy without the member at the path. */
export function without(body: unknown, path: string): unknown {
  return edited(body, path, undefined);
}

function changed(node: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(node)) {
    return node.map((item, i) => i === Number(step) ? changed(item, rest, value) : item);
  }
  const members: [string, unknown][] = typeof node === "object" && node !== null ? Object.entries(node) : [];
  const own = members.find(([name]) => name === step)?.[1];
  const others = members.filter(([name]) => name !== step);
  const next = changed(own, rest, value);
  return Object.fromEntries(next === undefined ? others : [...others, [step, next]]);
}
