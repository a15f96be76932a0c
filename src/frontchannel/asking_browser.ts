/**
 * The browser that asks, known by its cookie, and what it may be told of an interaction that is over: where that one
 * led, for a minute, since the browser may have dropped the first answer. No other browser learns anything.
 */
import { Refusal } from "../kernel/refusal.ts";
import type { Interaction } from "./interaction.ts";

/** What a cookie can prove and open. */
export interface AskingBrowser {
  /** Ids of the interactions that its cookies name, a few at most: proves nothing. */
  names(): readonly string[];
  /** Whether this browser began the interaction. */
  holds(interaction: Interaction): Promise<boolean>;
  /** Seals to this browser where an interaction sent it. */
  seal(correlationId: string, url: string): Promise<string>;
  /** Where a finished interaction sent this browser, or null. */
  unseal(interaction: Interaction): Promise<string | null>;
}

/** Where the interaction led this browser a moment ago, or null. `now` in milliseconds. */
export async function recentOutcome(
  browser: AskingBrowser,
  interaction: Interaction,
  now: number,
): Promise<string | null> {
  const { outcome } = interaction;
  if (outcome === undefined || now >= outcome.until || !await browser.holds(interaction)) return null;
  return await browser.unseal(interaction);
}

/**
 * The refusal of a bank's return that comes after the one that counted, with the way on (checklist BR-N10): to the
 * screen where there is still a decision to take, or to where the first one led. Undefined where none has counted yet.
 */
export async function lateReturn(
  browser: AskingBrowser,
  interaction: Interaction,
  at: { readonly now: number; readonly screenUrl?: string },
): Promise<Refusal | undefined> {
  if (interaction.stage === "at_bank") return undefined;
  if (at.screenUrl !== undefined) {
    return new Refusal("interaction.undecided", { detail: "returned again", wayOn: at.screenUrl });
  }
  const led = await recentOutcome(browser, interaction, at.now);
  return new Refusal("interaction.finished", {
    detail: "returned again",
    ...(led === null ? {} : { wayOn: led }),
  });
}
