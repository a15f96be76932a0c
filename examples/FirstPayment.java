// A first payment by a TPP of your own in Java 17, in one file with the JDK alone: take it and grow it.
//
// Needs a running sandbox and the folder of an onboarded participant (README "A payment in five minutes").
// Start it with: java FirstPayment.java <participant folder> [bank code, else BANKA] [outcome]

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The participant's folder, its mutual TLS connection, and one bank of the platform. */
public class FirstPayment {
    static final List<String> SIGNED_HEADERS = List.of(
            "http://openbanking.org.uk/iat", "http://openbanking.org.uk/iss", "http://openbanking.org.uk/tan");
    static final Map<String, Object> INITIATION = Map.of(
            "InstructedAmount", Map.of("Amount", "4.20", "Currency", "EUR"),
            "CreditorAccount", Map.of(
                    "SchemeName", "UK.OBIE.IBAN",
                    "Identification", "FR1420041010050500013M02606",
                    "Name", "Company Limited"),
            "RemittanceInformation", Map.of("Reference", "FIRST-PAYMENT"));

    final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final Path folder;
    final String bank;
    final Json me;
    final Json endpoints;
    final Json server; // its metadata (RFC 8414)
    final Json platformKeys;
    final HttpClient mutualTls;
    final PrivateKey signingKey;
    final KeyPair dpopKey;
    final String clientId;
    final String redirectUri;

    public static void main(String... arguments) throws Exception {
        if (arguments.length < 1 || arguments.length > 3) {
            System.err.println("usage: FirstPayment.java <participant folder> [bank code, else BANKA] [outcome]");
            System.exit(2);
        }
        try {
            var bank = arguments.length > 1 ? arguments[1] : "BANKA";
            new FirstPayment(arguments[0], bank).pay(arguments.length > 2 ? arguments[2] : null);
        } catch (Stop stop) {
            System.err.println(stop.getMessage());
            System.exit(1);
        }
    }

    FirstPayment(String folderName, String bank) throws Exception {
        this.bank = bank;
        folder = Path.of(folderName);
        var sandbox = Path.of(System.getenv().getOrDefault("SANDBOX_DIR", ".data/sandbox"));
        me = Json.parse(read(folder.resolve("participant.json"), "Onboard with: task participant onboard."));
        endpoints = Json.parse(read(sandbox.resolve("endpoints.json"), "Start the sandbox, or set SANDBOX_DIR."));
        clientId = me.text("client_id");
        redirectUri = me.at("redirect_uris").list().get(0).toString();
        signingKey = privateKey(folder.resolve("signing.key.pem"));
        mutualTls = mutualTls(sandbox.resolve("ca.pem"), folder);
        var generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        dpopKey = generator.generateKeyPair();
        var issuer = endpoints.text("auth_url") + "/" + bank;
        var metadata = endpoints.text("auth_url") + "/.well-known/oauth-authorization-server/" + bank;
        var found = send(http, request("GET", metadata, null));
        if (found.status() == 404) {
            throw new Stop("No bank has the code " + bank + ". In a sandbox there are BANKA and BANKB.");
        }
        server = Json.parse(found.text(200));
        if (!server.text("issuer").equals(issuer)) {
            throw new Stop("The metadata of " + issuer + " names another issuer.");
        }
        platformKeys = Json.parse(send(http, request("GET", server.text("jwks_uri"), null)).text(200)).at("keys");
    }

    void pay(String outcome) throws Exception {
        register();
        var own = token(Map.of("grant_type", "client_credentials", "scope", "payments"));
        var consent = post("/domestic-payment-consents/v1", own,
                Map.of("Data", Map.of("Initiation", INITIATION), "Risk", Map.of()));
        var consentId = consent.text("ConsentId");
        System.out.printf("consent %s: %s%n", consentId, consent.text("Status"));
        var codeVerifier = randomText(32);
        var code = authorize(consentId, codeVerifier, outcome);
        var token = token(Map.of(
                "grant_type", "authorization_code",
                "code", code,
                "redirect_uri", redirectUri,
                "code_verifier", codeVerifier));
        var payment = post("/domestic-payments/v1", token, Map.of(
                "Data", Map.of("ConsentId", consentId, "Initiation", INITIATION),
                "Risk", Map.of()));
        if (!payment.text("ConsentId").equals(consentId)) throw new Stop("The answer is about another consent.");
        var paymentId = payment.text("DomesticPaymentId");
        System.out.printf("payment %s: %s%n", paymentId, payment.text("Status"));
        var read = call("GET", "/domestic-payments/v1/" + paymentId, own, null, null, 200);
        System.out.printf("status now: %s%n", read.at("Data").text("Status"));
        printEvents(own, consentId, paymentId);
    }

    /** Registers the client with its software statement, unchanged, in a JWT that it signs. */
    void register() throws Exception {
        var statement = read(folder.resolve(clientId + ".jks"), "Onboard with: task participant onboard.");
        var claims = new LinkedHashMap<String, Object>(Map.of(
                "iss", me.text("org_name"),
                "aud", endpoints.text("registration_audience"),
                "redirect_uris", me.at("redirect_uris").list(),
                "token_endpoint_auth_method", "private_key_jwt",
                "grant_types", List.of("client_credentials", "authorization_code"),
                "scope", "payments",
                "software_statement", statement.strip(),
                "application_type", "web"));
        var request = request("POST", endpoints.text("base_url") + "/register/v1", signedJwt(claims))
                .header("Content-Type", "application/jose");
        var answer = send(mutualTls, request);
        var isRejected = answer.status() / 100 == 4; // 400: registered before with this statement
        var said = Json.parse(answer.text(isRejected ? answer.status() : 201));
        System.out.printf("register: %d %s%n", answer.status(),
                said.text(isRejected ? "error_description" : "client_id"));
    }

    /** Returns an access token that is bound to the DPoP key (RFC 9449 §5). */
    String token(Map<String, String> grant) throws Exception {
        return askServer(server.text("token_endpoint"), grant, 200).text("access_token");
    }

    /** Sends the customer to the platform. Returns the code. Its PKCE verifier is for the token request (RFC 7636). */
    String authorize(String consentId, String codeVerifier, String outcome) throws Exception {
        var state = randomText(16);
        var requestUri = askServer(server.text("pushed_authorization_request_endpoint"), Map.of(
                "response_type", "code",
                "redirect_uri", redirectUri,
                "code_challenge", sha256(codeVerifier),
                "code_challenge_method", "S256",
                "consent_id", consentId,
                "scope", "payments",
                "state", state), 201).text("request_uri");
        var answer = outcome == null ? sendCustomer(requestUri) : sendHeadlessCustomer(requestUri, outcome);
        // Another server's answer, or that of another customer, must not be used (RFC 9207, RFC 9700 §4.7).
        if (!state.equals(answer.get("state")) || !server.text("issuer").equals(answer.get("iss"))) {
            throw new Stop("This is not the answer to the request that was sent. No payment was made.");
        }
        if (!answer.containsKey("code")) {
            throw new Stop("The customer came back without consent: " + answer.get("error") + ", "
                    + answer.get("error_description") + " No payment was made.");
        }
        return answer.get("code");
    }

    /** Prints the link and listens at the redirect URL until the customer's browser comes back. Returns the query. */
    Map<String, String> sendCustomer(String requestUri) throws Exception {
        var address = URI.create(redirectUri);
        var query = new CompletableFuture<String>();
        var listener = HttpServer.create(new InetSocketAddress("127.0.0.1", address.getPort()), 0);
        listener.createContext("/", exchange -> {
            var isIt = exchange.getRequestURI().getPath().equals(address.getPath());
            var page = (isIt ? "Thank you. You can close this window." : "not here").getBytes();
            exchange.sendResponseHeaders(isIt ? 200 : 404, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
            if (isIt) query.complete(exchange.getRequestURI().getRawQuery());
        });
        listener.start();
        System.out.println("open this and log in as alice / sandbox, one-time code 123456:");
        System.out.println(server.text("authorization_endpoint") + "?"
                + form(Map.of("client_id", clientId, "request_uri", requestUri)));
        try {
            return parameters(query.get());
        } finally {
            listener.stop(0);
        }
    }

    /** In a sandbox alone, a customer needs no browser to approve, refuse, be late or fail. */
    Map<String, String> sendHeadlessCustomer(String requestUri, String outcome) throws Exception {
        var body = Json.write(Map.of(
                "bank", bank, "client_id", clientId, "request_uri", requestUri, "outcome", outcome));
        var request = request("POST", endpoints.text("banks_url") + "/authorizations", body)
                .header("Content-Type", "application/json");
        return parameters(URI.create(Json.parse(send(http, request).text(200)).text("redirect_url")).getRawQuery());
    }

    /**
     * Polls the TPP's events of this bank until those of the payment are there (RFC 8936). Your program stores an event
     * before it acknowledges it. Until then each poll returns it again.
     */
    void printEvents(String token, String consentId, String paymentId) throws Exception {
        Set<String> received = Set.of();
        var isFound = false;
        for (var polls = 0; polls < 10 && !isFound; polls++) {
            var sets = poll(token, received, 50).map();
            received = sets.keySet();
            for (var set : sets.values()) {
                var event = verifiedEvent(set.toString());
                var subject = event.text("sub");
                var id = subject.substring(subject.lastIndexOf('/') + 1);
                isFound |= id.equals(paymentId);
                if (!id.equals(paymentId) && !id.equals(consentId)) continue; // of another payment
                event.at("events").map().forEach((name, content) -> {
                    var status = new Json(content).text("status");
                    if (status != null) {
                        System.out.printf("event %s: %s%n", name.substring(name.lastIndexOf('/') + 1), status);
                    }
                });
            }
        }
        if (!isFound) throw new Stop("No event of payment " + paymentId + " came.");
        poll(token, received, 0);
    }

    Json poll(String token, Set<String> acknowledged, int maxEvents) throws Exception {
        var body = Json.write(Map.of("ack", acknowledged, "maxEvents", maxEvents));
        return call("POST", "/events/v1", token, body, null, 200).at("sets");
    }

    /** Returns the claims of a security event token (RFC 8417) of this bank for this TPP. */
    Json verifiedEvent(String token) throws Exception {
        var parts = token.split("\\.");
        if (parts.length != 3) throw new Stop("An event is not a JWT.");
        verify(parts[0], bytes(parts[0] + "." + parts[1]), parts[2]);
        var claims = Json.parse(string(decoded(parts[1])));
        if (!"secevent+jwt".equals(header(parts[0]).text("typ"))
                || !server.text("issuer").equals(claims.text("iss")) || !clientId.equals(claims.text("aud"))) {
            throw new Stop("An event has another typ, is of another bank or for another TPP.");
        }
        return claims;
    }

    /** Asks the authorization server, authenticated by private_key_jwt (RFC 7523 §3). */
    Json askServer(String url, Map<String, String> fields, int expected) throws Exception {
        var all = new LinkedHashMap<>(fields);
        all.put("client_id", clientId);
        all.put("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        all.put("client_assertion",
                signedJwt(Map.of("iss", clientId, "sub", clientId, "aud", server.text("issuer"))));
        var request = request("POST", url, form(all))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("DPoP", proof("POST", url, null));
        return Json.parse(send(mutualTls, request).text(expected));
    }

    /** Creates a consent or a payment. Returns its data. */
    Json post(String path, String token, Map<String, Object> content) throws Exception {
        return call("POST", path, token, Json.write(content), UUID.randomUUID().toString(), 201).at("Data");
    }

    /**
     * Asks a resource endpoint. With an idempotency key, the body is signed. If no answer comes, it asks again with the
     * same key, so that at most one payment is made. Each attempt has a new DPoP proof, because a proof is used once.
     */
    Json call(String method, String path, String token, String body, String idempotencyKey, int expected)
            throws Exception {
        var url = endpoints.text("base_url") + "/" + bank + path;
        for (var attempt = 1;; attempt++) {
            var request = request(method, url, body)
                    .header("Authorization", "DPoP " + token)
                    .header("DPoP", proof(method, url, token))
                    .header("Content-Type", "application/json");
            if (idempotencyKey != null) {
                request.header("x-idempotency-key", idempotencyKey)
                        .header("x-jws-signature", detachedSignature(bytes(body)));
            }
            var answer = send(mutualTls, request);
            if (answer.mayBeRepeated() && attempt < 4) {
                Thread.sleep(answer.pause(attempt).toMillis());
                continue;
            }
            var text = answer.text(expected);
            verifyAnswer(answer);
            return Json.parse(text);
        }
    }

    /**
     * Verifies the platform's signature over the bytes received, before they are read. It leaves the payload out (RFC
     * 7515 appendix F). With b64 false it covers the payload as it is (RFC 7797), as in answers to requests without a
     * signature.
     */
    void verifyAnswer(Answer answer) throws Exception {
        var parts = answer.header("x-jws-signature").split("\\.");
        if (parts.length != 3 || !parts[1].isEmpty()) throw new Stop("The platform's answer is not signed.");
        var isRaw = Boolean.FALSE.equals(header(parts[0]).map().get("b64"));
        var payload = isRaw ? answer.body() : bytes(base64url(answer.body()));
        verify(parts[0], concatenated(bytes(parts[0] + "."), payload), parts[2]);
    }

    /**
     * Stops if this is not a PS256 signature over the input by the platform's key that kid names. The names in crit
     * must be those that this program knows (RFC 7515 §4.1.11).
     */
    void verify(String segment, byte[] input, String signature) throws Exception {
        var header = header(segment);
        List<?> crit = header.map().containsKey("crit") ? header.at("crit").list() : List.of();
        var isKnown = crit.stream().allMatch(name -> name.equals("b64") || SIGNED_HEADERS.contains(name));
        var key = platformKeys.list().stream().map(Json::new)
                .filter(jwk -> "sig".equals(jwk.text("use")) && jwk.text("kid").equals(header.text("kid"))).findFirst();
        if (key.isEmpty() || !isKnown || !"PS256".equals(header.text("alg"))
                || crit.contains("b64") != header.map().containsKey("b64")) {
            throw new Stop("The platform's answer is not signed as it must be, by a key of " + server.text("jwks_uri")
                    + ".");
        }
        var verifier = ps256();
        verifier.initVerify(publicKey(key.get()));
        verifier.update(input);
        try {
            if (verifier.verify(decoded(signature))) return;
        } catch (GeneralSecurityException | IllegalArgumentException malformed) {
            // as wrong as one that does not verify
        }
        throw new Stop("The signature of the platform's answer is wrong. Do not use the answer.");
    }

    /** Signs exactly the bytes that are sent, and leaves them out of the signature (RFC 7515 appendix F). */
    String detachedSignature(byte[] body) throws Exception {
        var parts = jws(signingKey, Map.of(
                "alg", "PS256",
                "kid", me.text("signing_kid"),
                SIGNED_HEADERS.get(0), now(),
                SIGNED_HEADERS.get(1), me.text("org_id") + "/" + clientId,
                SIGNED_HEADERS.get(2), URI.create(endpoints.text("directory_url")).getAuthority(),
                "crit", SIGNED_HEADERS), body).split("\\.");
        return parts[0] + ".." + parts[2];
    }

    /** Returns a JWT that the TPP signs, with an id of its own, for five minutes. */
    String signedJwt(Map<String, Object> claims) throws Exception {
        var all = new LinkedHashMap<>(claims);
        all.put("jti", UUID.randomUUID().toString());
        all.put("iat", now());
        all.put("exp", now() + 300);
        var header = Map.<String, Object>of("alg", "PS256", "typ", "JWT", "kid", me.text("signing_kid"));
        return jws(signingKey, header, bytes(Json.write(all)));
    }

    /** Proves possession of the DPoP key for one request (RFC 9449 §4.2). */
    String proof(String method, String url, String token) throws Exception {
        var claims = new LinkedHashMap<String, Object>();
        claims.put("jti", UUID.randomUUID().toString());
        claims.put("htm", method);
        claims.put("htu", url);
        claims.put("iat", now());
        if (token != null) claims.put("ath", sha256(token));
        var key = (RSAPublicKey) dpopKey.getPublic();
        var jwk = Map.of("kty", "RSA", "n", base64url(key.getModulus()), "e", base64url(key.getPublicExponent()));
        var header = Map.of("alg", "PS256", "typ", "dpop+jwt", "jwk", jwk);
        return jws(dpopKey.getPrivate(), header, bytes(Json.write(claims)));
    }

    /** The sandbox's time, which can be moved ahead. Outside of sandboxes it is this computer's own. */
    long now() throws InterruptedException {
        var clock = send(http, request("GET", endpoints.text("directory_url") + "/sandbox/clock", null));
        var ahead = clock.status() == 200 ? Json.parse(string(clock.body())).map().get("ahead_seconds") : (Object) 0.0;
        return Instant.now().getEpochSecond() + Math.round((double) ahead);
    }

    static String jws(PrivateKey key, Map<String, ?> header, byte[] payload) throws GeneralSecurityException {
        var input = base64url(bytes(Json.write(header))) + "." + base64url(payload);
        var signer = ps256();
        signer.initSign(key);
        signer.update(bytes(input));
        return input + "." + base64url(signer.sign());
    }

    static Signature ps256() throws GeneralSecurityException {
        var signature = Signature.getInstance("RSASSA-PSS");
        signature.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        return signature;
    }

    static Json header(String segment) {
        try {
            return Json.parse(string(decoded(segment)));
        } catch (IllegalArgumentException malformed) {
            throw new Stop("The platform's answer has a malformed signature.");
        }
    }

    static PublicKey publicKey(Json jwk) throws GeneralSecurityException {
        var n = new BigInteger(1, decoded(jwk.text("n")));
        var e = new BigInteger(1, decoded(jwk.text("e")));
        return KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(n, e));
    }

    static PrivateKey privateKey(Path file) throws GeneralSecurityException {
        var pem = read(file, "Onboard with: task participant onboard.").replaceAll("-----[A-Z ]+-----", "");
        var key = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem));
        return KeyFactory.getInstance("RSA").generatePrivate(key);
    }

    static HttpClient mutualTls(Path authority, Path folder) throws Exception {
        var trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null);
        trusted.setCertificateEntry("platform", certificates(authority)[0]);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        var own = KeyStore.getInstance("PKCS12");
        own.load(null);
        var key = privateKey(folder.resolve("transport.key.pem"));
        own.setKeyEntry("transport", key, new char[0], certificates(folder.resolve("transport.cert.pem")));
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, new char[0]);
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_1_1).build();
    }

    static Certificate[] certificates(Path file) throws GeneralSecurityException {
        var pem = new ByteArrayInputStream(bytes(read(file, "Onboard, and start the sandbox.")));
        return CertificateFactory.getInstance("X.509").generateCertificates(pem).toArray(Certificate[]::new);
    }

    static HttpRequest.Builder request(String method, String url, String body) {
        var publisher = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body);
        return HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(30)).method(method, publisher);
    }

    static Answer send(HttpClient client, HttpRequest.Builder builder) throws InterruptedException {
        var request = builder.build();
        try {
            return new Answer(request, client.send(request, BodyHandlers.ofByteArray()), null);
        } catch (IOException problem) {
            return new Answer(request, null, problem);
        }
    }

    /** An answer of a server, or why none came. */
    record Answer(HttpRequest request, HttpResponse<byte[]> response, IOException problem) {
        int status() {
            return response == null ? 0 : response.statusCode();
        }

        byte[] body() {
            return response.body();
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        boolean mayBeRepeated() {
            return status() == 0 || status() == 429 || status() >= 500;
        }

        /** How long to wait before the next attempt: as the platform asks, at most 30 s. */
        Duration pause(int attempt) {
            var asked = response == null ? "" : header("Retry-After");
            return Duration.ofSeconds(asked.matches("\\d{1,6}") ? Math.min(Integer.parseInt(asked), 30) : attempt);
        }

        /** Returns the body. Stops if the status is another. */
        String text(int expected) {
            if (response == null) {
                throw new Stop("No answer from " + request.uri() + ": " + problem
                        + "\nStart the sandbox (npx -y deno@2.9.6 task start), or set SANDBOX_DIR.");
            }
            if (status() == expected) return string(body());
            // A 401 of a resource says what was wrong in this header (RFC 9449 §7.1).
            throw new Stop(request.method() + " " + request.uri() + " was rejected: HTTP " + status() + " "
                    + string(body()) + header("WWW-Authenticate"));
        }
    }

    /** An error, in a sentence for the person at the keyboard. */
    static class Stop extends RuntimeException {
        Stop(String sentence) {
            super(sentence);
        }
    }

    /** A JSON value: Map, List, String, Double, Boolean or null. The JDK has no JSON; use a library in your program. */
    record Json(Object value) {
        static Json parse(String text) {
            try {
                var reader = new JsonReader(text);
                var value = reader.value();
                if (!reader.isAtEnd()) throw new IllegalArgumentException("text after the value");
                return new Json(value);
            } catch (IllegalArgumentException | IndexOutOfBoundsException fault) {
                throw new Stop("An answer is not JSON: " + fault.getMessage());
            }
        }

        @SuppressWarnings("unchecked")
        Map<String, Object> map() {
            return (Map<String, Object>) value;
        }

        List<?> list() {
            return (List<?>) value;
        }

        Json at(String name) {
            return new Json(map().get(name));
        }

        String text(String name) {
            return (String) map().get(name);
        }

        static String write(Object value) {
            if (value instanceof Map<?, ?> map) {
                return map.entrySet().stream().map(entry -> write(entry.getKey()) + ":" + write(entry.getValue()))
                        .collect(Collectors.joining(",", "{", "}"));
            }
            if (value instanceof Iterable<?> items) {
                var written = new ArrayList<String>();
                items.forEach(item -> written.add(write(item)));
                return "[" + String.join(",", written) + "]";
            }
            if (!(value instanceof String text)) return String.valueOf(value);
            return text.codePoints().mapToObj(point -> point < 0x20 || point == '"' || point == '\\'
                            ? String.format("\\u%04x", point) : Character.toString(point))
                    .collect(Collectors.joining("", "\"", "\""));
        }
    }

    /** Reads JSON from its beginning to its end. */
    static class JsonReader {
        private final String text;
        private int at = 0;

        JsonReader(String text) {
            this.text = text;
        }

        boolean isAtEnd() {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
            return at == text.length();
        }

        Object value() {
            if (isNext('{')) return object();
            if (isNext('[')) return array();
            if (isNext('"')) return string();
            var begin = at;
            while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            var word = text.substring(begin, at);
            return switch (word) {
                case "true" -> true;
                case "false" -> false;
                case "null" -> null;
                default -> Double.valueOf(word);
            };
        }

        private Map<String, Object> object() {
            var members = new LinkedHashMap<String, Object>();
            while (!isNext('}')) {
                expect(members.isEmpty() || isNext(','));
                expect(isNext('"'));
                var name = string();
                expect(isNext(':'));
                members.put(name, value());
            }
            return members;
        }

        private List<Object> array() {
            var items = new ArrayList<>();
            while (!isNext(']')) {
                expect(items.isEmpty() || isNext(','));
                items.add(value());
            }
            return items;
        }

        private String string() {
            var read = new StringBuilder();
            for (var next = text.charAt(at++); next != '"'; next = text.charAt(at++)) {
                read.append(next == '\\' ? escaped() : next);
            }
            return read.toString();
        }

        private char escaped() {
            var next = text.charAt(at++);
            if (next == 'u') return (char) Integer.parseInt(text.substring(at, at += 4), 16);
            var meant = "bfnrt".indexOf(next);
            return meant < 0 ? next : "\b\f\n\r\t".charAt(meant);
        }

        /** Whether the next character that is not space is this one. Then it is read. */
        private boolean isNext(char wanted) {
            if (isAtEnd() || text.charAt(at) != wanted) return false;
            at++;
            return true;
        }

        private void expect(boolean isMet) {
            if (!isMet) throw new IllegalArgumentException("unexpected text at character " + at);
        }
    }

    static String read(Path file, String advice) {
        try {
            return Files.readString(file);
        } catch (IOException error) {
            throw new Stop(file + " cannot be read. " + advice);
        }
    }

    static String form(Map<String, String> fields) {
        return fields.entrySet().stream()
                .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
    }

    static Map<String, String> parameters(String query) {
        var found = new LinkedHashMap<String, String>();
        for (var pair : (query == null ? "" : query).split("&")) {
            var parts = pair.split("=", 2);
            found.put(parts[0], parts.length < 2 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return found;
    }

    static String sha256(String text) throws GeneralSecurityException {
        return base64url(MessageDigest.getInstance("SHA-256").digest(bytes(text)));
    }

    static String randomText(int length) {
        var content = new byte[length];
        new SecureRandom().nextBytes(content);
        return base64url(content);
    }

    static String base64url(byte[] content) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(content);
    }

    /** Without the leading zero byte that Java adds as a sign (RFC 7518 §2, Base64urlUInt). */
    static String base64url(BigInteger number) {
        var content = number.toByteArray();
        return base64url(Arrays.copyOfRange(content, content[0] == 0 ? 1 : 0, content.length));
    }

    static byte[] decoded(String base64url) {
        return Base64.getUrlDecoder().decode(base64url);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String string(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }

    static byte[] concatenated(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
    }
}
