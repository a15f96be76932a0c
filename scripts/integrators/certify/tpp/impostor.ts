/**
 * A server in the place of the platform's API whose certificate no authority of the ecosystem has issued. It counts
 * what callers send to it, and answers nothing. `Deno.listenTls` has no memory of TLS sessions that the front door
 * began, so that a caller cannot resume one and must look at the certificate.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { hasCode } from "../../../../src/base/kernel/error_code.ts";
import { KEY_ALGORITHM, makeKeyPair, privateKeyPem } from "../../../../src/sandbox/ecosystem/key_files.ts";
import type { FrontDoor } from "../../../../src/sandbox/ecosystem/tls_front_door.ts";

/** A running impostor. Its disposal opens the front doors again. */
export interface Impostor extends AsyncDisposable {
  readonly handshakes: number;
  /** Connections on which something was sent after the handshake. */
  readonly requests: number;
}

const DAY_MS = 86_400_000;
const BACKDATED_MS = 60_000;

/** Closes the front doors and listens in their place. */
export async function openImpostor(doors: readonly FrontDoor[]): Promise<Impostor> {
  const identity = await foreignCertificate();
  await Promise.all(doors.map((door) => door.close()));
  const seen = { handshakes: 0, requests: 0 };
  const listeners = doors.map(({ hostname, port }) => Deno.listenTls({ hostname, port, ...identity }));
  const ended = listeners.map((listener) => listen(listener, seen));
  return {
    get handshakes() {
      return seen.handshakes;
    },
    get requests() {
      return seen.requests;
    },
    async [Symbol.asyncDispose]() {
      for (const listener of listeners) listener.close();
      await Promise.all(ended);
      await Promise.all(doors.map((door) => reopen(door)));
    },
  };
}

const REOPENED_WITHIN_MS = 5000;

/** Deno may give the port of a closed listener back a moment after its last `accept` has ended. */
async function reopen(door: FrontDoor, began = performance.now()): Promise<void> {
  try {
    await door.reopen();
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE") || performance.now() - began > REOPENED_WITHIN_MS) throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await reopen(door, began);
  }
}

async function listen(listener: Deno.TlsListener, seen: Counts): Promise<void> {
  const calls: Promise<void>[] = [];
  for (;;) {
    try {
      calls.push(take(await listener.accept(), seen));
    } catch (error) {
      if (error instanceof Deno.errors.BadResource) break; // closed
    }
  }
  await Promise.all(calls);
}

interface Counts {
  handshakes: number;
  requests: number;
}

async function take(connection: Deno.TlsConn, seen: Counts): Promise<void> {
  seen.handshakes += 1;
  try {
    await connection.handshake();
    if (await connection.read(new Uint8Array(1)) !== null) seen.requests += 1;
  } catch {
    // the caller has rejected the certificate
  } finally {
    connection.close();
  }
}

async function foreignCertificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const keys = await makeKeyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=localhost",
    notBefore: new Date(Date.now() - BACKDATED_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    keys,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
      ]),
    ],
  });
  return { cert: certificate.toString("pem"), key: await privateKeyPem(keys.privateKey) };
}
