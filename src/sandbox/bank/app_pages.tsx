/** Pages about the app on another device: where the browser of the handover waits, and the end in the app. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Reader } from "../pages/reader.ts";
import type { BankProfile } from "./bank_profile.ts";
import { PageFrame } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";

interface Props {
  readonly reader: Reader;
  readonly profile: BankProfile;
}

/** The page loads itself again (`visit_routes.tsx`), and the link does the same. */
export function AppWaitPage({ reader, profile, address }: Props & { readonly address: string }): JSX.Element {
  const { language } = reader;
  return (
    <PageFrame reader={reader} owner={profile.displayName} title={words(language, "app.waitTitle")}>
      <p>{phrase(language, "app.wait")}</p>
      <p>{phrase(language, "app.address")}</p>
      <p>
        <a id="app" class="address" dir="ltr" href={address} target="_blank" rel="noopener">{address}</a>
      </p>
      <p>
        <a href="">{phrase(language, "app.goOn")}</a>
      </p>
    </PageFrame>
  );
}

/** The customer has decided in the app. */
export function AppDonePage({ reader, profile }: Props): JSX.Element {
  const { language } = reader;
  return (
    <PageFrame reader={reader} owner={profile.displayName} title={words(language, "app.doneTitle")}>
      <p>{phrase(language, "app.done")}</p>
    </PageFrame>
  );
}
