/** Tests that each get an environment of their own, which is closed after them. */
import { type Environment, openEnvironment } from "testing/environment.ts";

/** What a test gets. */
interface Given<Env> {
  readonly env: Env;
  /** For steps. */
  readonly t: Deno.TestContext;
}

type Register<Env> = (name: string, body: (given: Given<Env>) => void | Promise<void>) => void;

/** Returns what registers tests that each get what `open` opens. */
export function testWith<Env extends AsyncDisposable>(open: () => Promise<Env>): Register<Env> {
  return (name, body) =>
    Deno.test(name, async (t) => {
      await using env = await open();
      await body({ env, t });
    });
}

/** Registers a test in an ecosystem of its own. */
export const test: Register<Environment> = testWith(() => openEnvironment());
