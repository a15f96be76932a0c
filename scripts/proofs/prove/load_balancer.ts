/** HAProxy in front of several platform processes, at a sandbox's addresses for the platform. */
import { areInstalled } from "../../testing/installed.ts";
import { startCompanion } from "../../testing/postgres_node.ts";
import { waitForListener } from "../../testing/waiting.ts";

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

/** Whether HAProxy is installed. */
export function isHaproxyThere(): boolean {
  return areInstalled(PROGRAM);
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
  const program = startCompanion([PROGRAM, "-db", "-f", file], log);
  const stop = (): Promise<void> => program.end("KILL");
  try {
    await waitForListener(port + 1, { log });
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
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
