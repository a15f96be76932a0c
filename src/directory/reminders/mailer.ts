/** Sends mails by SMTP (RFC 5321). The server's certificate is verified, and no mail is sent without TLS. */
import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { createTransport } from "nodemailer";
import { awaitFor } from "../../base/kernel/await_for.ts";
import type { Mail } from "./reminder.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** `starttls` needs the server's offer (RFC 3207). `none` is for loopback addresses of a sandbox. */
  readonly security: "tls" | "starttls" | "none";
  readonly login?: { readonly user: string; readonly password: string } | undefined;
  /** PEM certificates of authorities that are trusted in place of the well-known ones. */
  readonly ca?: string | undefined;
}

/** `why` has the codes of the failure, and nothing that the server has said. */
export type Sent =
  | { readonly outcome: "sent"; readonly rejectedAddresses: number }
  | { readonly outcome: "rejected" | "postponed" | "unreachable"; readonly why: string };

export type SendMail = (mail: Mail) => Promise<Sent>;

const TIMEOUT_MS = 10_000;
/** For a whole mail, also if the server sends a byte now and then. */
const DEADLINE_MS = 30_000;

/**
 * @param from the sender's address
 * @param name of this host in the greeting
 */
export function openMailer(
  settings: SmtpSettings,
  { from, name, timeoutMs = TIMEOUT_MS, deadlineMs = DEADLINE_MS }: {
    readonly from: string;
    readonly name: string;
    readonly timeoutMs?: number;
    readonly deadlineMs?: number;
  },
): SendMail {
  const { host, port, security, login, ca } = settings;
  const tls = { minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) } as const;
  const transport = createTransport({
    host,
    port,
    name,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
    tls,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, found) => openSocket(settings, { tls, timeoutMs }, found),
  });
  return async ({ to, cc, subject, text, messageId }) => {
    const envelope = { from, to: [...to, ...cc] };
    const mail = { from, to: [...to], cc: [...cc], subject, text, messageId, envelope };
    try {
      const { rejected } = await awaitFor(deadlineMs, transport.sendMail(mail), tooLate);
      return { outcome: "sent", rejectedAddresses: rejected.length };
    } catch (error) {
      return failureOf(error);
    }
  };
}

/**
 * Connects by the host's name. The library would look the name up and connect by address, for which a process that may
 * use this host alone has no permission.
 */
function openSocket(
  { host, port, security }: SmtpSettings,
  { tls, timeoutMs }: { readonly tls: object; readonly timeoutMs: number },
  found: (error: Error | null, socket?: { connection: ReturnType<typeof connect>; secured: boolean }) => void,
): void {
  const secured = security === "tls";
  const name = isIP(host) === 0 ? { servername: host } : {}; // the TLS extension has no IP addresses
  const socket = secured ? connectTls({ ...tls, host, port, ...name }) : connect({ host, port });
  const failed = (error: Error): void => found(Object.assign(error, { code: "ECONNECTION" }));
  const timer = setTimeout(() => socket.destroy(new Error("no connection in time")), timeoutMs);
  socket.once("close", () => clearTimeout(timer));
  socket.once("error", failed);
  socket.once(secured ? "secureConnect" : "connect", () => {
    clearTimeout(timer);
    socket.off("error", failed);
    found(null, { connection: socket, secured });
  });
}

/** The library's codes of a rejection: of the sender or every receiver, and of the mail. */
const OF_THE_MAIL: readonly unknown[] = ["EENVELOPE", "EMESSAGE"];

/** The server ends the connection (RFC 5321 §3.8). */
const CLOSING = 421;

/**
 * A status from 500 on is the server's final answer (RFC 5321 §4.2.1), and a lower one postpones this mail, such as for a
 * full mailbox. A rejected login says nothing about the mail, which is sent when the login works.
 */
function failureOf(error: unknown): Sent {
  const { code, responseCode: status } = Object(error);
  const isOfTheMail = typeof status === "number" && status !== CLOSING && OF_THE_MAIL.includes(code);
  const outcome = !isOfTheMail ? "unreachable" : status >= 500 ? "rejected" : "postponed";
  const codes = [code, status].filter((part) =>
    typeof part === "number" || /^[A-Z_0-9]+$/.test(String(part))
  );
  return { outcome, why: codes.filter((part) => part !== undefined).join(" ") || "failed" };
}

function tooLate(): never {
  throw Object.assign(new Error("too late"), { code: "DEADLINE" });
}
