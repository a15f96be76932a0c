/** A time-stamping authority (RFC 3161) of OpenSSL behind a listener of this process. */

export interface TimestampServer extends AsyncDisposable {
  readonly url: string;
  /** The certificate of its root, and of another one (PEM). */
  readonly root: string;
  readonly otherRoot: string;
  readonly folder: string;
  /** Replaces what it answers. */
  answer: (good: Uint8Array<ArrayBuffer>) => Promise<Response> | Response;
  /** A response to a request for these data that somebody else has made. */
  otherReply(data: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
  /** The response with the signature of a certificate of the same root that is for servers, too. */
  signedByServer(response: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
}

const CONFIGURATION = `
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[stamping]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[serving]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = critical,serverAuth,timeStamping
[tsa]
default_tsa = authority
[authority]
serial = serial
certs = root.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.2
digests = sha256
ess_cert_id_alg = sha256
`;
const REPLY = { "content-type": "application/timestamp-reply" };

export const good = (bytes: Uint8Array<ArrayBuffer>): Response => new Response(bytes, { headers: REPLY });

export async function openTimestampAuthority(): Promise<TimestampServer> {
  const folder = await Deno.makeTempDir({ prefix: "timestamps-" });
  const openssl = async (...args: readonly string[]): Promise<void> => {
    const { success, stderr } = await new Deno.Command("openssl", { args: [...args], cwd: folder }).output();
    if (!success) throw new Error(`openssl ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  };
  await Deno.writeTextFile(`${folder}/openssl.cnf`, CONFIGURATION);
  await Deno.writeTextFile(`${folder}/serial`, "01");
  const configured = ["-config", "openssl.cnf"];
  for (const root of ["root", "other"]) {
    const made = ["-keyout", `${root}.key`, "-out", `${root}.pem`, "-subj", `/CN=${root}`];
    await openssl(
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      ...made,
      ...configured,
      "-extensions",
      "root",
    );
  }
  for (const name of ["stamping", "serving"]) {
    const made = ["-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`];
    await openssl("req", "-newkey", "rsa:2048", "-nodes", ...made, ...configured);
    const issued = ["-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-out", `${name}.pem`];
    const extensions = ["-extfile", "openssl.cnf", "-extensions", name];
    await openssl("x509", "-req", "-in", `${name}.csr`, ...issued, ...extensions);
  }
  const reply = async (request: string): Promise<Uint8Array<ArrayBuffer>> => {
    const signer = ["-signer", "stamping.pem", "-inkey", "stamping.key"];
    await openssl("ts", "-reply", ...configured, "-queryfile", request, ...signer, "-out", `${request}.tsr`);
    return await Deno.readFile(`${folder}/${request}.tsr`);
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const name = crypto.randomUUID();
    await Deno.writeFile(`${folder}/${name}`, await request.bytes());
    return await opened.answer(await reply(name));
  });
  const opened: TimestampServer = {
    url: `http://127.0.0.1:${server.addr.port}/`,
    root: await Deno.readTextFile(`${folder}/root.pem`),
    otherRoot: await Deno.readTextFile(`${folder}/other.pem`),
    folder,
    answer: good,
    async otherReply(data) {
      await Deno.writeFile(`${folder}/data`, data);
      await openssl("ts", "-query", "-data", "data", "-sha256", "-cert", "-out", "other.tsq");
      return await reply("other.tsq");
    },
    async signedByServer(response) {
      await Deno.writeFile(`${folder}/good.tsr`, response);
      await openssl("ts", "-reply", "-in", "good.tsr", "-token_out", "-out", "token");
      await openssl("cms", "-verify", "-noverify", "-inform", "DER", "-in", "token", "-out", "content");
      const signer = ["-signer", "serving.pem", "-inkey", "serving.key", "-md", "sha256"];
      const form = ["-binary", "-nodetach", "-econtent_type", "1.2.840.113549.1.9.16.1.4", "-outform", "DER"];
      await openssl("cms", "-sign", "-in", "content", ...signer, ...form, "-out", "forged");
      return granted(await Deno.readFile(`${folder}/forged`));
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
  return opened;
}

/** TimeStampResp with status 0 and this token (RFC 3161 §2.4.2). */
function granted(token: Uint8Array): Uint8Array<ArrayBuffer> {
  const status = [0x30, 3, 2, 1, 0];
  const length = status.length + token.length;
  return Uint8Array.of(0x30, 0x82, length >> 8, length & 0xff, ...status, ...token);
}
