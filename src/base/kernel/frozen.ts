/** Values that several readers share. */

/**
 * Freezes a value with everything in it, so that code that changes it fails at once. A frozen part is taken to be frozen
 * throughout. Returns the value.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
