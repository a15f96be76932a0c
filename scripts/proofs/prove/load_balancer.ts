/** HAProxy in front of several platform processes, at a sandbox's addresses for the platform. */

export interface LoadBalancerOptions {
  /** The sandbox's folder: the server's certificate, the authority of the clients, and the secret. */
  readonly dir: string;
  /** Of the API host. The browser host has the next one. */
  readonly port: number;
  readonly proxySecret: string;
  readonly platformPorts: readonly number[];
}

export interface LoadBalancer {
  stop(): Promise<void>;
}

const PROGRAM = "/usr/sbin/haproxy";
const START_WITHIN_MS = 10_000;

/** Whether HAProxy is installed. */
export function isHaproxyThere(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Starts HAProxy. It ends with this process. @throws {Error} with its log if it does not listen */
export async function startLoadBalancer(options: LoadBalancerOptions): Promise<LoadBalancer> {
  const { dir, port } = options;
  const [file, log] = [`${dir}/haproxy.cfg`, `${dir}/haproxy.log`];
  const pair = await Promise.all(
    ["server.cert.pem", "server.key.pem"].map((name) => Deno.readTextFile(`${dir}/${name}`)),
  );
  await Deno.writeTextFile(`${dir}/server.pem`, pair.join("\n"), { mode: 0o600 });
  await Deno.writeTextFile(file, configuration(options), { mode: 0o600 });
  const child = new Deno.Command("bash", {
    args: [
      "-c",
      `exec 2>"${log}" >&2; "$@" & cat >/dev/null; kill -KILL $!; wait`,
      "haproxy",
      PROGRAM,
      "-db",
      "-f",
      file,
    ],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const stop = async (): Promise<void> => {
    await child.stdin.close();
    await child.status;
  };
  if (await listens(port + 1)) return { stop };
  await stop();
  throw new Error(`HAProxy does not listen: ${await Deno.readTextFile(log)}`);
}

async function listens(port: number): Promise<boolean> {
  for (const startedAt = Date.now(); Date.now() - startedAt < START_WITHIN_MS;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return false;
}

/** A request goes to another process only if the first one did not take the connection, so none is sent twice. */
function configuration({ dir, port, proxySecret, platformPorts }: LoadBalancerOptions): string {
  const servers = platformPorts.map((each, index) => `    server platform${index + 1} 127.0.0.1:${each}`);
  return `defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s
    timeout queue 2s
    timeout check 2s
    retries 2
    option redispatch 1
    retry-on conn-failure
    http-error status 503 content-type application/json hdr cache-control no-store hdr retry-after 1 string '{"error":"temporarily_unavailable"}'
frontend api
    bind 127.0.0.1:${port} ssl crt ${dir}/server.pem ca-file ${dir}/ca.pem verify required alpn http/1.1
    http-request set-header client-cert :%[ssl_c_der,base64]:
    http-request set-header x-proxy-secret ${proxySecret}
    default_backend platform
frontend customers
    bind 127.0.0.1:${port + 1}
    http-request del-header client-cert
    http-request del-header x-proxy-secret
    default_backend platform
backend platform
    balance roundrobin
    option httpchk GET /health/serving
    default-server check inter 1s fall 1 rise 1
${servers.join("\n")}
`;
}
