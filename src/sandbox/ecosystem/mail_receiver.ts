/**
 * Receives the mails of the sandbox's directory and shows the newest ones at `{directory_url}/sandbox/mails`. It listens
 * on loopback, on a free port.
 */

interface MailReceiver {
  readonly port: number;
  /** The mails, newest first. */
  readonly mails: readonly ReceivedMail[];
  stop(): void;
}

type Handle = (request: Request) => Response | Promise<Response>;

const PATH = "/sandbox/mails";
const MAX_MAILS = 50;
const MAX_CONNECTIONS = 5;

export function openMailReceiver(): MailReceiver {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const mails: ReceivedMail[] = [];
  const open = new Set<Deno.Conn>();
  const received = (mail: ReceivedMail): void => {
    mails.unshift(mail);
    mails.splice(MAX_MAILS);
  };
  const accept = async (): Promise<void> => {
    for await (const conn of listener) {
      if (open.size >= MAX_CONNECTIONS) {
        conn.close();
        continue;
      }
      open.add(conn);
      void converse(conn, { received }).catch(() => {}).finally(() => {
        open.delete(conn);
        close(conn);
      });
    }
  };
  void accept();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    mails,
    stop(): void {
      listener.close();
      for (const conn of open) close(conn);
    },
  };
}

/** The client may have closed it already. */
function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** The directory's handler with the page of mails in front of it. */
export function withMails({ mails }: Pick<MailReceiver, "mails">, directory: Handle): Handle {
  return (request) => {
    if (request.method !== "GET" || new URL(request.url).pathname !== PATH) return directory(request);
    const shown = mails.map(({ to, source }) => `To: ${to.join(", ")}\n\n${source}`);
    const text = shown.join(`\n${"-".repeat(72)}\n`) || "No mail was sent since the start of the sandbox.\n";
    return new Response(text, {
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    });
  };
}

// The receiving side of SMTP (RFC 5321), as much of it as one mail needs, in bounded memory.

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text, without the dots that SMTP adds. */
  readonly source: string;
}

export interface ConversationOptions {
  /** Takes a mail, before its sender gets the answer. */
  readonly received: (mail: ReceivedMail) => void;
  /** The answer to a command such as `RCPT TO:<…>`, to `DATA.` at the end of a mail, or to `CONNECT`. Default: all is well. */
  readonly answer?: (command: string) => string | undefined | Promise<string | undefined>;
  /** Whether the client waits for a greeting; not after STARTTLS. Default: yes. */
  readonly greets?: boolean;
}

const MAX_MAIL = 64 * 1024;
const MAX_LINE = 2000;
const MAX_TO = 30;
const USUAL: Readonly<Record<string, string>> = {
  CONNECT: "220 sandbox",
  EHLO: "250 sandbox",
  HELO: "250 sandbox",
  "DATA.": "250 taken",
  DATA: "354 go on",
  STARTTLS: "502 not here",
  QUIT: "221 bye",
};

/** Talks to one client until it ends the connection, or a line or a mail is too long. */
export async function converse(
  conn: Pick<Deno.Conn, "readable" | "writable">,
  { received, answer = () => undefined, greets = true }: ConversationOptions,
): Promise<void> {
  const writer = conn.writable.getWriter();
  const say = async (command: string): Promise<boolean> => {
    const verb = command.split(" ")[0]?.toUpperCase() ?? "";
    const line = await answer(command) ?? USUAL[verb] ?? "250 ok";
    await writer.write(new TextEncoder().encode(`${line}\r\n`));
    return line.startsWith("2") || line.startsWith("3");
  };
  if (greets) await say("CONNECT");
  let mail = { from: "", to: [] as string[] };
  let source: string[] | undefined;
  for await (const line of linesOf(conn.readable)) {
    if (source !== undefined && line !== ".") {
      source.push(line.replace(/^\./, ""));
    } else if (source !== undefined) {
      if (await say("DATA.")) received({ ...mail, source: source.join("\r\n") });
      source = undefined;
    } else {
      const isTaken = await say(line);
      const [, verb, address = ""] = /^(MAIL FROM|RCPT TO):<([^>]*)>/i.exec(line) ?? [];
      if (isTaken && /^mail/i.test(verb ?? "")) mail = { from: address, to: [] };
      if (isTaken && /^rcpt/i.test(verb ?? "") && mail.to.length < MAX_TO) mail.to.push(address);
      if (isTaken && /^data/i.test(line)) source = [];
      if (/^quit/i.test(line)) return await writer.close();
    }
  }
}

/** @throws {Error} if a line or everything together is too long */
async function* linesOf(readable: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  let length = 0;
  for await (const text of readable.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>) {
    length += text.length;
    const lines = (rest + text).split("\r\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE || length > MAX_MAIL) throw new Error("too much for the sandbox");
  }
}
