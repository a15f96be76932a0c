import {
  type Attack,
  attack,
  forged,
  rejectedEverywhere,
  takenEverywhere,
  text,
} from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { openEnvironment } from "testing/environment.ts";
import { segment, strayBits } from "testing/raw_jws.ts";

const NO_CLAIMS_OF_ITS_OWN = { notAt: ["signature"] } as const;

Deno.test("a token has one spelling [J17] [CA-N18] [JWS-02] [JWS-04] [DP-N3]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const each = (name: string, change: (part: string) => string, rest: Partial<Attack> = {}): Attack[] =>
    [0, 1, 2].map((index) => ({
      ...text(`${name}, segment ${index + 1}`, (token) => spelled(token, index, change)),
      ...rest,
      ...(index === 1 ? NO_CLAIMS_OF_ITS_OWN : {}),
    }));
  await rejectedEverywhere(t, env, places, [
    ...each("+ and /", (part) => `${part.slice(0, -4)}+/${part.slice(-2)}`),
    ...each("=", (part) => `${part}=`),
    ...each("==", (part) => `${part}==`),
    ...each("a space inside", (part) => `${part.slice(0, 4)} ${part.slice(4)}`),
    ...each("a tab inside", (part) => `${part.slice(0, 4)}\t${part.slice(4)}`),
    ...each("a line end inside", (part) => `${part.slice(0, 4)}\n${part.slice(4)}`, { notIn: ["header"] }),
    ...each("NUL inside", (part) => `${part.slice(0, 4)}\0${part.slice(4)}`, { notIn: ["header"] }),
    ...each("unused bits set", (part) => part.length % 4 === 0 ? `${part}A` : strayBits(part)),
    ...each("full-width letters", (part) => `\uff21${part.slice(1)}`, { notIn: ["header"] }),
    ...each("a percent escape", (part) => `%${part.charCodeAt(0).toString(16)}${part.slice(1)}`),
    { ...text("a line end behind it", (token) => `${token}\n`), notIn: ["header", "body"] },
    { ...text("a space before it", (token) => ` ${token}`), notIn: ["header"] },
    text("a full stop behind it", (token) => `${token}.`),
    text("a full stop before it", (token) => `.${token}`),
    text("a fourth segment", (token) => `${token}.AAAA`),
    text("a scheme before it", (token) => `DPoP ${token}`),
    text("two segments", (token) => token.split(".").slice(0, 2).join(".")),
    text("no JWT", () => "token"),
    { ...text("no payload", (token) => token.replace(/\..*\./, "..")), notAt: ["signature"] },
    text("itself twice", (token) => `${token},${token}`),
    text("quotes", (token) => `"${token}"`),
  ]);
  await takenEverywhere(t, places);
});

Deno.test("a token in a JSON serialisation is none [J18] [CA-N18] [DP-N3]", async (t) => {
  await using env = await openEnvironment();
  const serialised = (name: string, make: (parts: readonly string[]) => unknown): Attack => ({
    name,
    forge: async (good) => JSON.stringify(make((await forged(good)).split("."))),
  });
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    serialised("flattened", ([head, payload, signature]) => ({ protected: head, payload, signature })),
    serialised(
      "flattened, in base64url",
      ([head, payload, signature]) => segment({ protected: head, payload, signature }),
    ),
    serialised(
      "general",
      ([head, payload, signature]) => ({ payload, signatures: [{ protected: head, signature }] }),
    ),
    serialised("general, with a second signature", ([head, payload, signature]) => ({
      payload,
      signatures: [{ protected: segment({ alg: "none" }), signature: "" }, { protected: head, signature }],
    })),
    serialised("with an unprotected header", ([head, payload, signature]) => ({
      protected: head,
      header: { crit: ["exp"], kid: "evil" },
      payload,
      signature,
    })),
    serialised("as a JSON text", (parts) => parts.join(".")),
    attack("an unprotected header alone", { header: "{}" }, ["Signature.MissingClaim", "alg"]),
  ]);
});

function spelled(token: string, index: number, change: (part: string) => string): string {
  return token.split(".").map((part, at) => at === index ? change(part) : part).join(".");
}
