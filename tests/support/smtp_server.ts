/** Mail servers for tests: the sandbox's SMTP conversation on a real socket, in the clear, with TLS or with STARTTLS. */
import {
  type ConversationOptions,
  converse,
  type ReceivedMail,
} from "../../src/sandbox/ecosystem/mail_receiver.ts";
import type { TlsIdentity } from "testing/web_authority.ts";

export interface SmtpServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Every command that has arrived. */
  readonly commands: readonly string[];
}

export interface SmtpServerOptions {
  readonly answer?: ConversationOptions["answer"];
  /** Of a server with TLS. */
  readonly identity?: TlsIdentity;
  /** Whether TLS begins with STARTTLS. */
  readonly isUpgraded?: boolean;
}

type Serve = (conn: Deno.Conn) => Promise<void>;

const ADDRESS = { hostname: "127.0.0.1", port: 0 };

export function openSmtpServer({ answer, identity, isUpgraded = false }: SmtpServerOptions = {}): SmtpServer {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const talk: Serve = (conn) =>
    converse(conn, {
      received: (mail) => void mails.push(mail),
      answer: (command) => {
        commands.push(command);
        return answer?.(command);
      },
      greets: !isUpgraded,
    });
  const listener = identity === undefined
    ? Deno.listen(ADDRESS)
    : Deno.listenTls({ ...ADDRESS, cert: identity.certificatePem, key: identity.privateKeyPem });
  const inner = serve(listener, talk);
  const outer = isUpgraded ? serve(Deno.listen(ADDRESS), (conn) => upgrade(conn, inner.port)) : undefined;
  return {
    port: (outer ?? inner).port,
    mails,
    commands,
    async [Symbol.asyncDispose]() {
      await outer?.close();
      await inner.close();
    },
  };
}

function serve(
  listener: Deno.Listener,
  talk: Serve,
): { readonly port: number; readonly close: () => Promise<void> } {
  const conns = new Set<Deno.Conn>();
  const running = new Set<Promise<void>>();
  const accept = async (): Promise<void> => {
    for await (const conn of listener) {
      conns.add(conn);
      const talking: Promise<void> = talk(conn).catch(() => {}).finally(() => {
        running.delete(talking);
        end(conn);
      });
      running.add(talking);
    }
  };
  const accepting = accept().catch(() => {}); // a client that rejects the certificate ends the listing of Deno
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async close() {
      listener.close();
      for (const conn of conns) end(conn);
      await Promise.all([accepting, ...running]);
    },
  };
}

function end(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch { /* the client has closed it */ }
}

/** Offers STARTTLS, and passes what follows on to a server with TLS. */
async function upgrade(conn: Deno.Conn, port: number): Promise<void> {
  const [encoder, decoder, buffer] = [new TextEncoder(), new TextDecoder(), new Uint8Array(2000)];
  const say = (line: string): Promise<number> => conn.write(encoder.encode(`${line}\r\n`));
  await say("220 outer");
  while (true) {
    const count = await conn.read(buffer);
    if (count === null) return;
    const isStart = /^STARTTLS/i.test(decoder.decode(buffer.subarray(0, count)));
    await say(isStart ? "220 go on" : "250-outer\r\n250 STARTTLS");
    if (isStart) break;
  }
  const inside = await Deno.connect({ hostname: "127.0.0.1", port });
  await Promise.allSettled([conn.readable.pipeTo(inside.writable), inside.readable.pipeTo(conn.writable)]);
}
