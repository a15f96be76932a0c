/**
 * Worked examples of every signature, made once with a key that exists no more: PS256 is randomised, so what can be
 * compared is the SHA-256 of the signing input; the signatures verify with the public key. A test proves them all.
 */

/** One signature, from its parts to its value. */
export interface SignatureVector {
  /** Protected header, these bytes exactly. */
  readonly header: string;
  /** Payload, these bytes exactly. */
  readonly payload: string;
  /** Whether the payload enters the signing input in base64url (RFC 7515) or as it is (RFC 7797). */
  readonly encoded: boolean;
  /** SHA-256 of the signing input, hexadecimal. */
  readonly sha256: string;
  /** PS256 over the signing input, base64url. */
  readonly signature: string;
}

/** The public key of every example. */
export const VECTOR_KEY = {
  "kty": "RSA",
  "n":
    "uqWbp6CLDqEEoG5liN9M3ZJORsAN2nPjpoEDpFCnSJ70E8JHYkMPnNyMD-qJb5axWHr8szwyAuVVu6uEMI7OyMx_ft4pIDGXrNWLcI2B-AJZ7rjjZl-9-adkHcgMQPgOf4JeNZ4GhDHPj8JevxGIbu_fdGLNTmYKO91IAGL8GvWx1l1i865v_MUpcA07BTuuXz9o9n7xbVC9Ex2zf0hIJ_1wNUKI4fkv_eGXngQ52DUVeXrvVahMQdeatwsYvH0KkHSrHzHIoVMja8_LI1mGti0d4WdsprEakGi3cC8X3U_clMTEuhEM1gkvgYA8rBPxk8OUS4EjJSPhngueLv6-Vw",
  "e": "AQAB",
} as const;
/** RFC 7638 thumbprint of {@link VECTOR_KEY}, as `dpop_jkt` would say it. */
export const VECTOR_KEY_THUMBPRINT = "su6ErzPO7ExxO653e9V14-SIYuo1WHHca1cGEVJllq8";
/** The access token that the DPoP example's `ath` is of. */
export const VECTOR_ACCESS_TOKEN = "example-access-token";

/** `client_assertion` (RFC 7523). */
export const CLIENT_ASSERTION: SignatureVector = {
  "header": '{"alg":"PS256","typ":"JWT","kid":"mZ0Q3QmJ6uYQbqCq2Jm5m3x5Y0A"}',
  "payload":
    '{"iss":"SC-7f3a2b10-5c1d-4e8f-9a6b-2d4c8e0f1a3b","sub":"SC-7f3a2b10-5c1d-4e8f-9a6b-2d4c8e0f1a3b","aud":"https://auth.example.com/BANKA","jti":"b5f4d5c0-9a57-4f0a-9a34-3c1d7f4be6a1","iat":1763719200,"nbf":1763719200,"exp":1763719500}',
  "encoded": true,
  "sha256": "c63ee4e5d04753288121a7579585cbf228e335023c5f844bab61878feecb392f",
  "signature":
    "SCTZ8amL24FKe-osQVpK3dCS2OmitUUxR-UoDu5YEhQoEBusIeotJ4MMOFiI_30oizHz7WlY50kw8THKt_R6xkzA9-bfZfoozJObMSD4gERTg1fFcLTeWK6WbNgFSM-T8N6bhg-uqhE0RDUZa0EiTjsLcugQr5dDdmJ96GFvh7eLlSjuGpc4FPTVzKBZ36VX7tFrdxQ-aw5ji8ot3oWx0RzOkEa-rrSbIdV8VMvSvbRyf4OU1aw7jb8OH-YC8Lf599-s74WrXQ5MTLJENdjbFub9-ppTEWdsC-opoi7GCEXTVce19xEPVE5kznF4Iq9G4HiCQoe2HQtFw-Hrw0VX1g",
};

/** The `DPoP` header of a resource request (RFC 9449). */
export const DPOP_PROOF: SignatureVector = {
  "header":
    '{"typ":"dpop+jwt","alg":"PS256","jwk":{"kty":"RSA","n":"uqWbp6CLDqEEoG5liN9M3ZJORsAN2nPjpoEDpFCnSJ70E8JHYkMPnNyMD-qJb5axWHr8szwyAuVVu6uEMI7OyMx_ft4pIDGXrNWLcI2B-AJZ7rjjZl-9-adkHcgMQPgOf4JeNZ4GhDHPj8JevxGIbu_fdGLNTmYKO91IAGL8GvWx1l1i865v_MUpcA07BTuuXz9o9n7xbVC9Ex2zf0hIJ_1wNUKI4fkv_eGXngQ52DUVeXrvVahMQdeatwsYvH0KkHSrHzHIoVMja8_LI1mGti0d4WdsprEakGi3cC8X3U_clMTEuhEM1gkvgYA8rBPxk8OUS4EjJSPhngueLv6-Vw","e":"AQAB"}}',
  "payload":
    '{"htm":"POST","htu":"https://api.example.com/BANKA/domestic-payments/v1","iat":1763719200,"jti":"0c7f5f2e-3f6c-4a35-8a3d-52a6d3a5a9f4","ath":"Z1P3Ll-e0JrOBqzfbrTXjd9Z_l-iiW1obnZMWdV1w1s"}',
  "encoded": true,
  "sha256": "881bb9dad13904124ef1dcab9d383edaaab9bd0967a318c6713e171a7881573c",
  "signature":
    "EpqRRkurOig_I5cSzEobjVhCX8SvoFgbwXF8qFNDrTHbUEuK2BAImmAFDEMl2zjTI6iIa5SCVkkNskn_5Qiy0Za8c1Hqy8J7YnRPFtzZjJpT09btCxBnYjaoc32b61ZuLgu-iOAhcUvhSiMoeludJ_rrufVZgiwnth4FsdRtR1fN0a5ZfZXhHwp3OG4IAm6t5-GJ4G0TvTufGooRRKd8k6pU9H7oR3EuKp39Izszvms4wVZC2PWk8n4Ygg6Xkf9YFUC406dbCAdo3x-_eceCZUCEg9vMzL9MuLYXasuQkLZcsOni0nXqjHmuMAb5FRxKizCuWubd0l3f2vVJ8AvlnQ",
};

/** `x-jws-signature`, OBIE v3.1.2 (contract SG7). */
export const PAYLOAD_PROFILE_A: SignatureVector = {
  "header":
    '{"alg":"PS256","kid":"90210ABAD","b64":false,"http://openbanking.org.uk/iat":1501497671,"http://openbanking.org.uk/iss":"ORG-1/SC-1","http://openbanking.org.uk/tan":"directory.example","crit":["b64","http://openbanking.org.uk/iat","http://openbanking.org.uk/iss","http://openbanking.org.uk/tan"]}',
  "payload": '{"Data":{"Initiation":{"InstructedAmount":{"Amount":"165.88","Currency":"GBP"}}},"Risk":{}}',
  "encoded": false,
  "sha256": "41afed1744b5354ed1928da7f7a0b1e8b1b4d60ced6c1719c2af4eddecb7edcd",
  "signature":
    "QJzeVsJHkB76Ep1t3cB0fAwQoYmUL2bkjVPgbvY_RT4iv3tzb87mGtO6GAO30aOqqUXFhG7_Myzt1htbS5oL3f-3TX1IBJd4gT_k0vvtCn1S5xlWk9yePp5yiKZlwpQsW4jARNs6jcOLDM6DCNRih9uDIPol24eUjxPSEgaup4wt9orf8KAsoqqL_8xeM0Um04DDJRDSyAFlnH3FutCkqqDtOCAL6d_aNfFjaVRwGsKJuNhxuQ343n0nwIHEfKdmSQ_6RL5pf3xdriO2BJtC_ZChSvykbu3BTSpIEmrS1SMHSGgNrDfkwLKl0Q3sFmGtCOh2JYp40yPItdI5XdqWew",
};

/** `x-jws-signature`, OBIE v3.1.4 and later (contract SG7). */
export const PAYLOAD_PROFILE_B: SignatureVector = {
  "header":
    '{"alg":"PS256","kid":"90210ABAD","http://openbanking.org.uk/iat":1501497671,"http://openbanking.org.uk/iss":"ORG-1/SC-1","http://openbanking.org.uk/tan":"directory.example","crit":["http://openbanking.org.uk/iat","http://openbanking.org.uk/iss","http://openbanking.org.uk/tan"]}',
  "payload": '{"Data":{"Initiation":{"InstructedAmount":{"Amount":"165.88","Currency":"GBP"}}},"Risk":{}}',
  "encoded": true,
  "sha256": "b9700ea07959158f8d5ff7429745fd59ff0d4c80e66457176ccc7b3155611061",
  "signature":
    "k6TMq5kQaRKLxvt-e22bJH9LFpygmfY7OmWqkBln1qszM8SF48Pz9db7l9S0TKaM8IOb4jBuJdyxIkyYJi1xWceIyh_XYtKlhmqluqxbY0JekWJIS3GR5uhm8hp3syXjkBYI6VtUhuuxsXus6GJulOC0e-EuY7_2fVv9HloIOaHaJsNo4uA1Ydwb2U8GEDuIty5elX6CBOsUhVj3kk44oz1ZrTbJRIKRhXA-Efg5oYuauk1azEuONmCe3eqGp2KUmNGH7MH-BxmDqDnrgIHvn-y4Kh82oK68iGIK91lqJtUnARn2U48rkSde1jv1yjjgvwCC_Jykv5H7Uus-xJSiGA",
};

/** The signed part of the JWT with which a bank returns the customer. */
export const BANK_RETURN: SignatureVector = {
  "header": '{"alg":"PS256","typ":"JWT","kid":"mZ0Q3QmJ6uYQbqCq2Jm5m3x5Y0A"}',
  "payload":
    '{"iss":"BANKA","aud":"https://auth.example.com","iat":1763719200,"nbf":1763719200,"exp":1763719500,"jti":"2f9a3b60-8f0b-4f67-bf0e-6a3a5f6d8f11","sub":"customer-4711","debtor_account_present":"false","ref_id":"93bac548-d2de-4546-b106-880a5018460d","status":"authenticated","correlation_id":"4d1b7a52-0d8f-4f3c-9a51-7f1f5ddc7b3e","bank_id":"BANKA","status_code":"success"}',
  "encoded": true,
  "sha256": "680e4593a2bb88a71dc7138847a6a1650ce19f32a3eae13cc94187e1900e8808",
  "signature":
    "U5q1QgcX5UF_d0p6cSaeW5qUEnm63QfdY6EOLFve_EyigRBmIrVBAwCRYHBaqDD2i0GdL-rW5nIgGpBkfKL4IHoIJdlqT6S0rNQ0MMSCOXCybZAbwFDWGFuVBgQ9Veb1gO-Q1gqylshHvZCqBGoyCreX5A3N0Pb90TrRfHuRvMU4tf5ZT19TfNViZinoa19qpvqAFmUyQYOVYanZQ28NlBbaFuf8YdLJ1CR6mr7chcCGlOy7dRzRAcHmCrItJUA0b86ykqyHmen78A3hVF5ZmFWJjA8GfR8lW8uwbv1c1SK-b79E9qloJoXhTrfK26CB4eYb3K9iMsFZPXLIitrR9A",
};
