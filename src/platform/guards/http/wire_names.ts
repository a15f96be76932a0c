/**
 * Converts between the members of the API (`InstructedAmount`) and those of the domain (`instructedAmount`). A name
 * differs in its first letter, or in `SCA` at its beginning. Values and the order of members stay the same.
 */

/** The name of a domain member in the API. */
type NameOnWire<N extends string> = N extends `sca${infer Rest}` ? `SCA${Rest}` : Capitalize<N>;
/** The name of an API member in the domain. */
type NameInDomain<N extends string> = N extends `SCA${infer Rest}` ? `sca${Rest}` : Uncapitalize<N>;

type Scalar = string | number | boolean | bigint | null | undefined;

/** A domain value with the members of the API. */
export type OnWire<T> = T extends Scalar ? T
  : T extends readonly (infer Element)[] ? readonly OnWire<Element>[]
  : { readonly [Name in keyof T as NameOnWire<Name & string>]: OnWire<T[Name]> };

/** A value of the API with the members of the domain. */
export type InDomain<T> = T extends Scalar ? T
  : T extends readonly (infer Element)[] ? readonly InDomain<Element>[]
  : { readonly [Name in keyof T as NameInDomain<Name & string>]: InDomain<T[Name]> };

export function toWire<T>(value: T): OnWire<T> {
  return renamed(value, nameOnWire) as OnWire<T>;
}

/** The value must be decoded, because members that differ in their first letter alone would become one. */
export function fromWire<T>(value: T): InDomain<T> {
  return renamed(value, nameInDomain) as InDomain<T>;
}

/** `initiation.creditorAddress[0].townName` on the wire: `Initiation.CreditorAddress[0].TownName`. */
export function pathOnWire(path: string): string {
  return path.split(".").map(nameOnWire).join(".");
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => renamed(element, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [rename(name), renamed(member, rename)]),
  );
}

function nameOnWire(name: string): string {
  return name.startsWith("sca") ? `SCA${name.slice(3)}` : name.charAt(0).toUpperCase() + name.slice(1);
}

function nameInDomain(name: string): string {
  return name.startsWith("SCA") ? `sca${name.slice(3)}` : name.charAt(0).toLowerCase() + name.slice(1);
}
