/** The parts that differ between consoles: the name, its pages, who may open them, and its log. */
import type { Context } from "hono";
import type { Person } from "../base/http/bearer.ts";
import type { Clock } from "../base/kernel/clock.ts";
import type { Language } from "../pages/language.ts";
import type { Site } from "../pages/site.ts";
import type { Sessions } from "./session.ts";

/** Sends a request to the API as the person, within this process. `number` is the number of the console's request. */
export type CallApi = (person: Person, request: Request, number: string) => Promise<Response>;

/** A text of the program in the reader's language. */
export type Words = (language: Language) => string;

export interface ConsoleProgram {
  readonly site: Site;
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Sends requests to the program's API. */
  readonly call: CallApi;
  readonly product: Words;
  /** The title of the page on which people sign in. */
  readonly signIn: Words;
  /** The pages of the navigation. */
  readonly pages: readonly (readonly [path: string, title: Words])[];
  /** The first page of a person. */
  readonly home: (person: Person) => string;
  /** Whether the person may use the page or the endpoint, such as `GET /console/keys`. */
  readonly may: (person: Person, endpoint: string) => boolean;
  /** The number of the request in the log. */
  readonly numberOf: (c: Context) => string;
  readonly log: ConsoleLog;
}

/** The events of a console, which are recorded before the answer. `number` is the number of the request. */
export interface ConsoleLog {
  signedIn(name: string): Promise<void>;
  /** @param page such as `GET /console/keys` */
  forbidden(number: string, name: string, page: string): Promise<void>;
  /** Another site's form, or one of an ended session. */
  formRejected(number: string, name: string | undefined): void;
}
