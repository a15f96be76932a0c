/**
 * Receives the mails of the sandbox's directory and shows the newest ones at `{directory_url}/sandbox/mails`. It listens
 * on loopback, on a free port.
 */
import { converse, type ReceivedMail } from "./smtp_conversation.ts";

export interface MailReceiver {
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
