/** Bytes over real TLS, whatever they are, and OpenSSL's own client: for requests that no library would send. */
import { connect, type TLSSocket } from "node:tls";
import type { TlsIdentity } from "testing/web_authority.ts";

/** Where to and as whom. */
export interface RawTarget {
  readonly port: number;
  readonly servername: string;
  /** PEM of the authority of the server. */
  readonly ca: string;
  readonly identity?: TlsIdentity | undefined;
}

/** An answer as it came. `status` is 0 where the connection ended without one. */
export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends bytes (a string as Latin-1) and reads until the other side closes. */
export function exchangeRaw(target: RawTarget, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const end = (): void => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    const socket: TLSSocket = connect({
      host: "127.0.0.1",
      port: target.port,
      servername: target.servername,
      ca: [target.ca],
      ...(target.identity === undefined
        ? {}
        : { cert: target.identity.certificatePem, key: target.identity.privateKeyPem }),
    }, () => void socket.write(bytes, "latin1"));
    socket.setEncoding("latin1");
    socket.setTimeout(5000, end);
    socket.on("data", (part: string) => text += part);
    socket.once("end", end);
    socket.once("error", end);
    socket.once("close", end);
  });
}

/** The result of `openssl s_client`. */
export interface Handshake {
  readonly completed: boolean;
  /** `TLSv1.3` */
  readonly protocol: string;
  readonly suite: string;
  readonly reused: boolean;
  readonly asksForCertificate: boolean;
  readonly output: string;
}

/** One handshake by OpenSSL's client; `input` is what is typed after it. */
export async function handshake(
  port: number,
  servername: string | undefined,
  args: readonly string[] = [],
  input = "",
): Promise<Handshake> {
  const name = servername === undefined ? ["-noservername"] : ["-servername", servername];
  const child = new Deno.Command("openssl", {
    // Typed letters are commands unless -ign_eof is given.
    args: [
      "s_client",
      "-connect",
      `127.0.0.1:${port}`,
      ...name,
      ...input === "" ? ["-ign_eof"] : [],
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // An unknown request method: a server that still talks responds and closes.
  await writer.write(new TextEncoder().encode(input === "" ? "QUIT / HTTP/1.0\r\n\r\n" : input)).catch(
    () => {},
  );
  await writer.close().catch(() => {});
  const timer = setTimeout(() => child.kill("SIGKILL"), 8000);
  const { stdout, stderr } = await child.output();
  clearTimeout(timer);
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const [, kind = "", protocol = "", suite = ""] = /^(New|Reused), ([^,]+), Cipher is (\S+)/m.exec(output) ??
    [];
  return {
    completed: suite !== "" && suite !== "(NONE)",
    protocol,
    suite,
    reused: kind === "Reused",
    asksForCertificate: /Acceptable client certificate CA names/.test(output),
    output,
  };
}
