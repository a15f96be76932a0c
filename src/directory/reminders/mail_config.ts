/** The configuration of mails. Without `DIRECTORY_SMTP_URL` no mail is sent. */
import { z } from "zod";
import { type ConfigSource, readChecked } from "../config/file_modes.ts";
import { isMailAddress } from "../participants/participant_fields.ts";
import type { SmtpSettings } from "./mailer.ts";
import { isLoopback } from "../../base/http/outgoing.ts";

export interface MailSettings {
  readonly smtp: SmtpSettings;
  readonly from: string;
  /** The mailbox of the directory's administrators. */
  readonly administrators: string;
  /** Days before the end, at which a reminder is sent. */
  readonly days: readonly number[];
}

const ADDRESS_RULE = "must be a mail address such as directory@example.com";
const address = z.string().refine(isMailAddress, ADDRESS_RULE);
const DAYS_RULE = "set it to 1 to 5 numbers of days, comma separated, each from 1 to 365";

/** The variables, for the schema of the configuration. */
export const MAIL_VARIABLES = {
  DIRECTORY_SMTP_URL: z.string().optional(),
  DIRECTORY_SMTP_USER: z.string().optional(),
  DIRECTORY_SMTP_PASSWORD: z.string().optional(),
  DIRECTORY_SMTP_CA: z.string().optional(),
  DIRECTORY_MAIL_FROM: address.optional(),
  DIRECTORY_MAIL_ADMINISTRATORS: address.optional(),
  DIRECTORY_REMINDER_DAYS: z.string().regex(/^[1-9]\d{0,2}(?:,[1-9]\d{0,2}){0,4}$/, DAYS_RULE)
    .transform((text) => text.split(",").map(Number))
    .refine((days) => days.every((each) => each <= 365), DAYS_RULE).default([30, 7, 1]),
};

type Values = Partial<z.infer<z.ZodObject<typeof MAIL_VARIABLES>>> & {
  readonly DIRECTORY_ENVIRONMENT?: string;
};

/** Returns the settings, or undefined if no mail is sent. Adds what is wrong to `faults`. */
export async function readMail(
  values: Values,
  source: ConfigSource,
  faults: string[],
): Promise<MailSettings | undefined> {
  const { DIRECTORY_SMTP_URL: url, DIRECTORY_SMTP_USER: user, DIRECTORY_SMTP_PASSWORD: password } = values;
  const { DIRECTORY_MAIL_FROM: from, DIRECTORY_MAIL_ADMINISTRATORS: administrators } = values;
  const given = { user, password, from, administrators, ca: values.DIRECTORY_SMTP_CA };
  if (url === undefined) {
    if (Object.values(given).some((value) => value !== undefined)) {
      faults.push("DIRECTORY_SMTP_URL: set it too, or no variable of mails");
    }
    return undefined;
  }
  const server = serverOf(url, values.DIRECTORY_ENVIRONMENT === "Sandbox");
  if (server === undefined) {
    faults.push(
      "DIRECTORY_SMTP_URL: must be smtp://host:port (STARTTLS) or smtps://host:port, without user name and path",
    );
  }
  if ((user === undefined) !== (password === undefined)) {
    faults.push("DIRECTORY_SMTP_USER and DIRECTORY_SMTP_PASSWORD: set both, or neither");
  }
  if (from === undefined || administrators === undefined) {
    faults.push("DIRECTORY_MAIL_FROM and DIRECTORY_MAIL_ADMINISTRATORS: set both");
  }
  const ca = given.ca === undefined
    ? undefined
    : await readChecked("DIRECTORY_SMTP_CA", given.ca, source, faults, "trusted");
  if (server === undefined || from === undefined || administrators === undefined) return undefined;
  const login = user === undefined || password === undefined ? undefined : { user, password };
  const days = [...new Set(values.DIRECTORY_REMINDER_DAYS ?? [])];
  return { smtp: { ...server, login, ca }, from, administrators, days };
}

function serverOf(
  text: string,
  isSandbox: boolean,
): Pick<SmtpSettings, "host" | "port" | "security"> | undefined {
  const [, scheme, host = "", port = ""] =
    /^(smtps?):\/\/([A-Za-z0-9.-]+|\[[0-9a-f:]+\]):(\d{1,5})$/.exec(text) ?? [];
  if (scheme === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  const isPlain = isSandbox && scheme === "smtp" && isLoopback(host);
  const security = isPlain ? "none" : scheme === "smtps" ? "tls" : "starttls";
  return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port), security };
}
