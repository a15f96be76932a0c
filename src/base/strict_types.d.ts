/**
 * What comes out of JSON has the type `unknown`, where the standard library says `any`: the type checker then demands
 * a schema, or a cast that names the members that are read. These declarations come before the library's.
 */
interface Body {
  json(): Promise<unknown>;
}

interface Response {
  json(): Promise<unknown>;
}

interface Request {
  json(): Promise<unknown>;
}

interface JSON {
  parse(text: string, reviver?: (this: unknown, key: string, value: unknown) => unknown): unknown;
}
