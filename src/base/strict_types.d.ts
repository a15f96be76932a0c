/**
 * Parsed JSON has the type `unknown`, in place of the standard library's `any`. So the type checker demands a schema,
 * or a cast that names the members that are read. These declarations take precedence over the library's.
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
