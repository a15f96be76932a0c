/**
 * Account identifications for eyes and ears: in groups, left to right in every language, and spelled out for screen
 * readers, which would read "1332" as a thousand. Card numbers show their last four digits only.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { canonicalScheme } from "../base/values/account.ts";
import type { Language } from "./language.ts";
import { withoutInvisible } from "../base/kernel/foreign_text.ts";
import { ParticipantText } from "./participant_text.tsx";
import { phrase } from "./phrase.ts";

/** An account as a participant names it. */
export interface AccountIdentification {
  readonly schemeName: string;
  readonly identification: string;
}

const ENDING_CHARACTERS = 4;
const NAMED_SCHEMES = ["IBAN", "BBAN", "SortCodeAccountNumber", "PAN", "Paym", "Wallet"] as const;

/** The last four characters, by which people know their own accounts apart. */
export function endingOf({ identification }: AccountIdentification): string {
  return withoutInvisible(identification).slice(-ENDING_CHARACTERS);
}

/** The type of the account number, followed by the number. */
export function AccountNumber(
  { account, language }: { readonly account: AccountIdentification; readonly language: Language },
): JSX.Element {
  const scheme = NAMED_SCHEMES.find((name) => canonicalScheme(account.schemeName) === `UK.OBIE.${name}`);
  return (
    <>
      <span class={`scheme ${scheme ?? "other"}`}>
        {scheme === undefined
          ? <ParticipantText text={account.schemeName} />
          : phrase(language, `scheme.${scheme}`)}
      </span>{" "}
      <Identification scheme={scheme} account={account} language={language} />
    </>
  );
}

function Identification(
  { scheme, account, language }: {
    readonly scheme: typeof NAMED_SCHEMES[number] | undefined;
    readonly account: AccountIdentification;
    readonly language: Language;
  },
): JSX.Element {
  const text = withoutInvisible(account.identification);
  if (scheme === "PAN") { // PCI DSS 3.4.1
    return <>{phrase(language, "scheme.cardEnding", { ending: <Digits groups={[endingOf(account)]} /> })}</>;
  }
  const groups = scheme === undefined ? undefined : groupsOf(scheme, text);
  return groups === undefined ? <bdi class="number">{text}</bdi> : <Digits groups={groups} />;
}

/** Groups as people write them, or undefined where the scheme has no such habit. */
function groupsOf(scheme: string, text: string): string[] | undefined {
  if (scheme === "IBAN" || scheme === "BBAN") return text.match(/.{1,4}/gu) ?? [];
  const parts = scheme === "SortCodeAccountNumber" ? /^(\d\d)(\d\d)(\d\d)(\d{8})$/.exec(text) : null;
  return parts === null ? undefined : [`${parts[1]}-${parts[2]}-${parts[3]}`, parts[4] ?? ""];
}

/** Digits in groups, spelled out for screen readers. The last group is never alone on its line. */
export function Digits({ groups }: { readonly groups: readonly string[] }): JSX.Element {
  const spoken = groups.map((group) => [...group.replaceAll("-", "")].join(" ")).join(", ");
  return (
    <bdi dir="ltr" class="number">
      <span aria-hidden="true">
        {groups.slice(0, -2).map((group) => [<span>{group}</span>, " "])}
        <span class="together">
          {groups.slice(-2).map((group, place) => [place === 0 ? "" : " ", <span>{group}</span>])}
        </span>
      </span>
      <span class="visually-hidden">{spoken}</span>
    </bdi>
  );
}
