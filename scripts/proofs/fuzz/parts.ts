/** The parts of a request for the fuzzer: each can be mutated, and is checked if the request was accepted. */
import type { Random } from "../prove/random.ts";
import {
  type Attempt,
  bodyText,
  headerOf,
  parameterOf,
  queryOf,
  withBody,
  withHeader,
} from "./sample_request.ts";

/** A response with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A part of a request. */
export interface Part {
  /** The name of the parameter, header or claim, or a description. */
  readonly name: string;
  /** The request with this part changed. */
  mutate(random: Random, attempt: Attempt): Promise<Attempt> | Attempt;
  /** The reason why the part should have been rejected, or undefined. */
  fault(attempt: Attempt, answer: Answer): string | undefined;
}

/** A valid request. */
export interface Sample {
  readonly name: string;
  readonly attempt: Attempt;
  /** The expected status of the unchanged request. */
  readonly status: number;
  /** The kind of client, which determines the form of error responses. */
  readonly surface: Surface;
  readonly parts: readonly Part[];
  /** Key prefixes that a rejection may write to, because recording it is required. */
  readonly mayWrite?: readonly string[];
  /** Returns whether the request depends on a part that is missing; a 503 is then allowed. */
  readonly mayBeUnavailable?: (attempt: Attempt) => boolean;
}

/** Forms of error responses. */
export type Surface = "oauth" | "resource" | "page" | "directory";

/** The location of a text in a request. */
export interface Place {
  readonly name: string;
  read(attempt: Attempt): string | undefined;
  write(attempt: Attempt, text: string): Attempt;
}

/** A parameter of the form in the body. */
export function formPlace(name: string): Place {
  return {
    name,
    read: (attempt) => parameterOf(bodyText(attempt), name),
    write(attempt, text) {
      const form = new URLSearchParams(bodyText(attempt));
      form.set(name, text);
      return withBody(attempt, form.toString());
    },
  };
}

/** A parameter of the query. */
export function queryPlace(name: string): Place {
  return {
    name,
    read: (attempt) => parameterOf(queryOf(attempt), name),
    write(attempt, text) {
      const query = new URLSearchParams(queryOf(attempt));
      query.set(name, text);
      return { ...attempt, path: `${attempt.path.split("?")[0]}?${query}` };
    },
  };
}

/** A header. */
export function headerPlace(name: string): Place {
  return {
    name,
    read: (attempt) => headerOf(attempt, name),
    write: (attempt, text) => withHeader(attempt, name, text),
  };
}

/** The whole body as text, without a trailing line break. */
export function bodyPlace(name: string): Place {
  const read = ({ body }: Attempt): string => new TextDecoder("latin1").decode(body).replace(/\r?\n$/, "");
  return { name, read, write: withBody };
}

/**
 * Required values of parameters or headers of an accepted request: one of these values (undefined: absent), or a text
 * that matches.
 */
export type Pinned = Readonly<Record<string, readonly (string | undefined)[] | RegExp>>;

/** Reports the first accepted value that is not allowed; undefined if there is none. */
export function pinnedFault(pinned: Pinned, read: (name: string) => string | undefined): string | undefined {
  const wrong = Object.entries(pinned).find(([name, wanted]) => {
    const value = read(name);
    return wanted instanceof RegExp ? !wanted.test(value ?? "") : !wanted.includes(value);
  });
  return wrong === undefined ? undefined : `took a wrong ${wrong[0]}`;
}
