/** The reference configuration of haproxy under attack: TLS, headers, requests, and the platform behind it. */
import { backendFailures } from "support/proxy_backend_failures.ts";
import { headerAttacks } from "support/proxy_header_attacks.ts";
import { networkAttacks } from "support/proxy_network_attacks.ts";
import { pageAttacks } from "support/proxy_page_attacks.ts";
import { platformAttacks } from "support/proxy_platform_attacks.ts";
import { findProxy } from "support/proxy_program.ts";
import { manyRequests, requestAttacks, slowBodies } from "support/proxy_request_attacks.ts";
import { tlsAttacks } from "support/proxy_tls_attacks.ts";

const haproxy = await findProxy("haproxy");

tlsAttacks(haproxy, 0);
headerAttacks(haproxy);
requestAttacks(haproxy);
slowBodies(haproxy);
manyRequests(haproxy);
pageAttacks(haproxy);
networkAttacks(haproxy);
backendFailures(haproxy);
platformAttacks(haproxy, "handshake");
