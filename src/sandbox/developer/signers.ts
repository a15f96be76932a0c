/** The TPPs that the pages sign for: the sandbox's shop, and those whose keys a developer keeps in the sandbox's folder. */
import type { Tpp } from "../../client/tpp/tpp.ts";
import { openSender, type Sender } from "./send.ts";

/** Where the TPPs come from. */
export interface TppSource {
  /** Their names, the shop first. */
  names(): Promise<readonly string[]>;
  /** Opens a TPP of `names`. It may return customers to `{shopUrl}/callback`, or to an address of its own. */
  open(name: string): Promise<Tpp>;
  /**
   * Onboards a TPP of this name with new keys.
   * @throws {Error} with a sentence for the developer
   */
  make(name: string): Promise<void>;
}

/** A TPP that signs and sends. */
export interface Signing {
  readonly name: string;
  readonly tpp: Tpp;
  readonly sender: Sender;
}

/** The TPPs, and which of them each session has chosen. */
export interface Signers {
  names(): Promise<readonly string[]>;
  /** Of the session; the first one until it chooses. */
  of(session: string | undefined): Promise<Signing>;
  named(name: string): Promise<Signing>;
  /**
   * @returns whether there is a TPP of this name
   * @throws {Error} if its folder cannot be used; the session keeps its former choice
   */
  choose(session: string, name: string): Promise<boolean>;
  make(name: string): Promise<void>;
}

/** The choices that are kept; the oldest is deleted first. */
const MAX_CHOICES = 50;

export function openSigners({ names, open, make }: TppSource): Signers {
  const opened = new Map<string, Promise<Signing>>();
  const choices = new Map<string, string>();
  const openAnew = async (name: string): Promise<Signing> => {
    const tpp = await open(name);
    return { name, tpp, sender: openSender(tpp) };
  };
  const named = (name: string): Promise<Signing> => {
    const signing = opened.get(name) ?? openAnew(name);
    opened.set(name, signing);
    signing.catch(() => opened.delete(name));
    return signing;
  };
  return {
    names,
    named,
    make,
    async of(session = "") {
      return await named(choices.get(session) ?? (await names())[0] ?? "");
    },
    async choose(session, name) {
      const all = await names();
      if (!all.includes(name)) return false;
      if (name !== all[0]) opened.set(name, Promise.resolve(await openAnew(name))); // its keys may have changed
      choices.delete(session);
      choices.set(session, name);
      const [oldest = ""] = choices.keys();
      if (choices.size > MAX_CHOICES) choices.delete(oldest);
      return true;
    },
  };
}
