/**
 * The operator as customers see it on pages: `PLATFORM_OPERATOR_NAME`, `PLATFORM_OPERATOR_LOGO`, `PLATFORM_OPERATOR_SUPPORT`, `PLATFORM_OPERATOR_TIME_ZONE`.
 * The readers return undefined for a malformed value.
 */

/** Whose pages these are. */
export interface Operator {
  readonly name: string | undefined;
  readonly logo: Logo | undefined;
  readonly support: Support | undefined;
  /** IANA name. Times on pages are in this zone, since the reader's own is not known. */
  readonly timeZone: string;
}

/** A picture, served by the platform itself. */
export interface Logo {
  readonly type: "image/png" | "image/svg+xml";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Where customers get help: what a page shows and where that leads. */
export interface Support {
  readonly text: string;
  readonly href: string;
}

/** Largest logo, bytes: every page loads it. */
const MAX_LOGO_BYTES = 65_536;
const DATA_URL = /^data:(image\/png|image\/svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;
const E_MAIL = /^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
const PHONE = /^\+[0-9][0-9 -]{5,28}[0-9]$/;

/** A logo as a `data:` URL of a PNG or an SVG. */
export function readLogo(dataUrl: string): Logo | undefined {
  const [, type, base64 = ""] = DATA_URL.exec(dataUrl) ?? [];
  if ((type !== "image/png" && type !== "image/svg+xml") || base64.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.fromBase64(base64);
  return bytes.length > MAX_LOGO_BYTES ? undefined : { type, bytes };
}

/** An e-mail address, a telephone number with `+` or an https address. */
export function readSupport(text: string): Support | undefined {
  if (E_MAIL.test(text)) return { text, href: `mailto:${text}` };
  if (PHONE.test(text)) return { text, href: `tel:${text.replaceAll(/[ -]/g, "")}` };
  const url = URL.parse(text);
  if (url?.protocol !== "https:" || url.username !== "") return undefined;
  return { text: `${url.host}${url.pathname.replace(/\/$/, "")}`, href: url.href };
}

/** Whether it is the name of a time zone, such as `America/Bogota`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name); // an offset has no name that a reader knows
  } catch {
    return false;
  }
}

/** Whose pages they are, and what of it the shell of every page shows. */
export interface Site {
  readonly sandbox: boolean;
  readonly operator: Operator;
}

/** Where the browser app serves the operator's logo. */
export const LOGO_PATH = "/assets/operator-logo";
