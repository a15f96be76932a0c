// A first payment by a TPP of your own in Go, in one file with the standard library alone: take it and grow it.
//
// Needs a running sandbox and the folder of an onboarded participant (README "A payment in five minutes").
// Start it with: go run first_payment.go <participant folder> [bank code, else BANKA] [outcome]
package main

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

type object = map[string]any

var signedHeaders = []string{
	"http://openbanking.org.uk/iat", "http://openbanking.org.uk/iss", "http://openbanking.org.uk/tan",
}

var initiation = object{
	"InstructedAmount": object{"Amount": "4.20", "Currency": "EUR"},
	"CreditorAccount": object{
		"SchemeName":     "UK.OBIE.IBAN",
		"Identification": "FR1420041010050500013M02606",
		"Name":           "Company Limited",
	},
	"RemittanceInformation": object{"Reference": "FIRST-PAYMENT"},
}

func main() {
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: first_payment.go <participant folder> [bank code, else BANKA] [outcome]")
		os.Exit(2)
	}
	arguments := append(os.Args[1:], "BANKA", "")
	if len(os.Args) > 2 {
		arguments = append(os.Args[1:], "")
	}
	tpp := open(arguments[0], arguments[1])
	tpp.register()
	own := tpp.token(url.Values{"grant_type": {"client_credentials"}, "scope": {"payments"}})
	consent := tpp.post("/domestic-payment-consents/v1", own, object{
		"Data": object{"Initiation": initiation},
		"Risk": object{},
	})
	fmt.Printf("consent %s: %s\n", consent.Data.ConsentId, consent.Data.Status)
	code, codeVerifier := tpp.authorize(consent.Data.ConsentId, arguments[2])
	token := tpp.token(url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {tpp.redirectUri()},
		"code_verifier": {codeVerifier},
	})
	payment := tpp.post("/domestic-payments/v1", token, object{
		"Data": object{"ConsentId": consent.Data.ConsentId, "Initiation": initiation},
		"Risk": object{},
	})
	if payment.Data.ConsentId != consent.Data.ConsentId {
		stop("The answer is about another consent.")
	}
	id := payment.Data.DomesticPaymentId
	fmt.Printf("payment %s: %s\n", id, payment.Data.Status)
	var read resource
	decode(tpp.call(call{method: "GET", path: "/domestic-payments/v1/" + id, token: own, expected: 200}), &read)
	fmt.Printf("status now: %s\n", read.Data.Status)
	tpp.printEvents(own, consent.Data.ConsentId, id)
}

// Tpp is the participant's folder, its mutual TLS connection, and one bank of the platform.
type Tpp struct {
	folder string
	me     struct {
		OrgId            string   `json:"org_id"`
		OrgName          string   `json:"org_name"`
		SoftwareClientId string   `json:"software_client_id"`
		ClientId         string   `json:"client_id"`
		SigningKid       string   `json:"signing_kid"`
		RedirectUris     []string `json:"redirect_uris"`
	}
	endpoints struct {
		BaseUrl              string `json:"base_url"`
		AuthUrl              string `json:"auth_url"`
		DirectoryUrl         string `json:"directory_url"`
		BanksUrl             string `json:"banks_url"`
		RegistrationAudience string `json:"registration_audience"`
	}
	server struct { // its metadata (RFC 8414)
		Issuer                string `json:"issuer"`
		AuthorizationEndpoint string `json:"authorization_endpoint"`
		TokenEndpoint         string `json:"token_endpoint"`
		ParEndpoint           string `json:"pushed_authorization_request_endpoint"`
		JwksUri               string `json:"jwks_uri"`
	}
	bank         string
	mutualTls    *http.Client
	signingKey   *rsa.PrivateKey
	dpopKey      *rsa.PrivateKey
	platformKeys map[string]*rsa.PublicKey
}

// The fields of a consent or a payment that the program reads.
type resource struct {
	Data struct{ ConsentId, DomesticPaymentId, Status string }
}

func open(folder, bank string) *Tpp {
	sandbox := os.Getenv("SANDBOX_DIR")
	if sandbox == "" {
		sandbox = ".data/sandbox"
	}
	tpp := &Tpp{folder: folder, bank: bank}
	decode(read(folder+"/participant.json", "Onboard with: task participant onboard."), &tpp.me)
	decode(read(sandbox+"/endpoints.json", "Start the sandbox, or set SANDBOX_DIR."), &tpp.endpoints)
	certificate, err := tls.LoadX509KeyPair(folder+"/transport.cert.pem", folder+"/transport.key.pem")
	check(err)
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(read(sandbox+"/ca.pem", "Start the sandbox, or set SANDBOX_DIR."))
	tpp.mutualTls = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{certificate}},
		// Go repeats a POST with an idempotency key by itself if a kept connection has ended: with the same DPoP proof,
		// which would be rejected. Without kept connections it does not, and this program repeats it with a new proof.
		DisableKeepAlives: true,
	}}
	block, _ := pem.Decode(read(folder+"/signing.key.pem", "Onboard with: task participant onboard."))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	tpp.signingKey = key.(*rsa.PrivateKey)
	tpp.dpopKey, err = rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	tpp.discover()
	return tpp
}

// Reads the metadata of the bank's authorization server and the platform's keys.
func (tpp *Tpp) discover() {
	issuer := tpp.endpoints.AuthUrl + "/" + tpp.bank
	found := send(http.DefaultClient, "GET", tpp.endpoints.AuthUrl+"/.well-known/oauth-authorization-server/"+tpp.bank, nil, nil)
	if found.status == 404 {
		stop("No bank has the code %s. In a sandbox there are BANKA and BANKB.", tpp.bank)
	}
	decode(found.bodyOf(200), &tpp.server)
	if tpp.server.Issuer != issuer {
		stop("The metadata of %s names another issuer.", issuer)
	}
	var jwks struct {
		Keys []struct{ Kid, Use, N, E string }
	}
	decode(send(http.DefaultClient, "GET", tpp.server.JwksUri, nil, nil).bodyOf(200), &jwks)
	tpp.platformKeys = map[string]*rsa.PublicKey{}
	for _, key := range jwks.Keys {
		if key.Use == "sig" {
			n, e := new(big.Int).SetBytes(decodeBase64url(key.N)), new(big.Int).SetBytes(decodeBase64url(key.E))
			tpp.platformKeys[key.Kid] = &rsa.PublicKey{N: n, E: int(e.Int64())}
		}
	}
}

func (tpp *Tpp) redirectUri() string { return tpp.me.RedirectUris[0] }

// Registers the client with its software statement, unchanged, in a JWT that it signs.
func (tpp *Tpp) register() {
	statement := read(tpp.folder+"/"+tpp.me.SoftwareClientId+".jks", "Onboard with: task participant onboard.")
	body := tpp.signedJwt(object{
		"iss":                        tpp.me.OrgName,
		"aud":                        tpp.endpoints.RegistrationAudience,
		"redirect_uris":              tpp.me.RedirectUris,
		"token_endpoint_auth_method": "private_key_jwt",
		"grant_types":                []string{"client_credentials", "authorization_code"},
		"scope":                      "payments",
		"software_statement":         strings.TrimSpace(string(statement)),
		"application_type":           "web",
	})
	answer := send(tpp.mutualTls, "POST", tpp.endpoints.BaseUrl+"/register/v1",
		http.Header{"Content-Type": {"application/jose"}}, []byte(body))
	if answer.status < 400 || answer.status >= 500 { // 400: registered before with this statement
		answer.bodyOf(201)
	}
	var said struct {
		ClientId    string `json:"client_id"`
		Description string `json:"error_description"`
	}
	decode(answer.body, &said)
	fmt.Printf("register: %d %s%s\n", answer.status, said.ClientId, said.Description)
}

// Returns an access token that is bound to the DPoP key (RFC 9449 §5).
func (tpp *Tpp) token(grant url.Values) string {
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	decode(tpp.askServer(tpp.server.TokenEndpoint, grant).bodyOf(200), &answer)
	return answer.AccessToken
}

// Sends the customer to the platform. Returns the code with its PKCE verifier (RFC 7636).
func (tpp *Tpp) authorize(consentId, outcome string) (code, codeVerifier string) {
	codeVerifier, state := randomText(32), randomText(16)
	var pushed struct {
		RequestUri string `json:"request_uri"`
	}
	decode(tpp.askServer(tpp.server.ParEndpoint, url.Values{
		"response_type":         {"code"},
		"redirect_uri":          {tpp.redirectUri()},
		"code_challenge":        {sha256Of(codeVerifier)},
		"code_challenge_method": {"S256"},
		"consent_id":            {consentId},
		"scope":                 {"payments"},
		"state":                 {state},
	}).bodyOf(201), &pushed)
	var answer url.Values
	if outcome == "" {
		query := url.Values{"client_id": {tpp.me.ClientId}, "request_uri": {pushed.RequestUri}}
		fmt.Println("open this and log in as alice / sandbox, one-time code 123456:")
		fmt.Println(tpp.server.AuthorizationEndpoint + "?" + query.Encode())
		answer = waitForCustomer(tpp.redirectUri())
	} else {
		answer = tpp.sendHeadlessCustomer(pushed.RequestUri, outcome)
	}
	// Another server's answer, or that of another customer, must not be used (RFC 9207, RFC 9700 §4.7).
	if answer.Get("state") != state || answer.Get("iss") != tpp.server.Issuer {
		stop("This is not the answer to the request that was sent. No payment was made.")
	}
	if !answer.Has("code") {
		stop("The customer came back without consent: %s, %s No payment was made.",
			answer.Get("error"), answer.Get("error_description"))
	}
	return answer.Get("code"), codeVerifier
}

// In a sandbox alone, a customer needs no browser to approve, refuse, be late or fail.
func (tpp *Tpp) sendHeadlessCustomer(requestUri, outcome string) url.Values {
	body := encode(object{"bank": tpp.bank, "client_id": tpp.me.ClientId, "request_uri": requestUri, "outcome": outcome})
	header := http.Header{"Content-Type": {"application/json"}}
	var sent struct {
		RedirectUrl string `json:"redirect_url"`
	}
	decode(send(http.DefaultClient, "POST", tpp.endpoints.BanksUrl+"/authorizations", header, body).bodyOf(200), &sent)
	back, err := url.Parse(sent.RedirectUrl)
	check(err)
	return back.Query()
}

// Listens at the redirect URL until the customer's browser comes back. Returns the query.
func waitForCustomer(redirectUri string) url.Values {
	address, err := url.Parse(redirectUri)
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:"+address.Port())
	check(err)
	queries := make(chan url.Values)
	handler := http.NewServeMux()
	handler.HandleFunc(address.Path, func(answer http.ResponseWriter, request *http.Request) {
		io.WriteString(answer, "Thank you. You can close this window.")
		answer.(http.Flusher).Flush()
		queries <- request.URL.Query()
	})
	go http.Serve(listener, handler)
	return <-queries
}

// Polls the TPP's events of this bank until those of the payment are there (RFC 8936). Your program stores an event
// before it acknowledges it. Until then each poll returns it again.
func (tpp *Tpp) printEvents(token, consentId, paymentId string) {
	received, isFound := []string{}, false
	for polls := 0; polls < 10 && !isFound; polls++ {
		var answer struct{ Sets securityEvents }
		decode(tpp.poll(token, object{"ack": received, "maxEvents": 50}), &answer)
		received = []string{}
		for _, set := range answer.Sets {
			received = append(received, set.jti)
			event := tpp.verifiedEvent(set.token)
			id := path.Base(event.Sub)
			isFound = isFound || id == paymentId
			for name, content := range event.Events {
				if content.Status != "" && (id == paymentId || id == consentId) {
					fmt.Printf("event %s: %s\n", path.Base(name), content.Status)
				}
			}
		}
	}
	if !isFound {
		stop("No event of payment %s came.", paymentId)
	}
	tpp.poll(token, object{"ack": received, "maxEvents": 0})
}

func (tpp *Tpp) poll(token string, body object) []byte {
	return tpp.call(call{method: "POST", path: "/events/v1", token: token, body: encode(body), expected: 200})
}

// The claims of a security event token (RFC 8417).
type event struct {
	Iss, Aud, Sub string
	Events        map[string]struct{ Status string }
}

// Returns the claims of a security event token of this bank for this TPP.
func (tpp *Tpp) verifiedEvent(token string) event {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		stop("An event is not a JWT.")
	}
	header := tpp.verify(parts[0], parts[0]+"."+parts[1], parts[2])
	var claims event
	decode(decodeBase64url(parts[1]), &claims)
	if header.Typ != "secevent+jwt" || claims.Iss != tpp.server.Issuer || claims.Aud != tpp.me.ClientId {
		stop("An event has another typ, is of another bank or for another TPP.")
	}
	return claims
}

// Asks the authorization server, authenticated by private_key_jwt (RFC 7523 §3).
func (tpp *Tpp) askServer(address string, fields url.Values) answer {
	id := tpp.me.ClientId
	fields.Set("client_id", id)
	fields.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	fields.Set("client_assertion", tpp.signedJwt(object{"iss": id, "sub": id, "aud": tpp.server.Issuer}))
	return send(tpp.mutualTls, "POST", address, http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"},
		"DPoP":         {tpp.proof("POST", address, "")},
	}, []byte(fields.Encode()))
}

// Creates a consent or a payment.
func (tpp *Tpp) post(path, token string, content object) (created resource) {
	body := encode(content)
	decode(tpp.call(call{"POST", path, token, body, uuid(), 201}), &created)
	return created
}

// A request to a resource endpoint. With an idempotency key, its body is signed.
type call struct {
	method, path, token string
	body                []byte
	idempotencyKey      string
	expected            int
}

// Sends the request and returns the body of the answer. If no answer comes, it asks again with the same idempotency
// key, so that at most one payment is made. Each attempt has a new DPoP proof, because a proof is used once.
func (tpp *Tpp) call(call call) []byte {
	address := tpp.endpoints.BaseUrl + "/" + tpp.bank + call.path
	for attempt := 1; ; attempt++ {
		header := http.Header{
			"Authorization": {"DPoP " + call.token},
			"DPoP":          {tpp.proof(call.method, address, call.token)},
			"Content-Type":  {"application/json"},
		}
		if call.idempotencyKey != "" {
			header.Set("x-idempotency-key", call.idempotencyKey)
			header.Set("x-jws-signature", tpp.detachedSignature(call.body))
		}
		answer := send(tpp.mutualTls, call.method, address, header, call.body)
		if answer.mayBeRepeated() && attempt < 4 {
			time.Sleep(answer.pause(attempt))
			continue
		}
		body := answer.bodyOf(call.expected)
		tpp.verifyAnswer(answer)
		return body
	}
}

// Verifies the platform's signature over the bytes received, before they are read. It leaves the payload out (RFC 7515
// appendix F). With b64 false it covers the payload as it is (RFC 7797), as in answers to requests without a signature.
func (tpp *Tpp) verifyAnswer(answer answer) {
	header, signature, _ := strings.Cut(answer.header.Get("x-jws-signature"), "..")
	payload := base64url(answer.body)
	if b64 := headerOf(header).Encoded; b64 != nil && !*b64 {
		payload = string(answer.body)
	}
	tpp.verify(header, header+"."+payload, signature)
}

// The protected header of a signature.
type joseHeader struct {
	Alg, Kid, Typ string
	Encoded       *bool `json:"b64"`
	Crit          []string
}

func headerOf(segment string) (header joseHeader) {
	content, _ := base64.RawURLEncoding.DecodeString(segment)
	json.Unmarshal(content, &header)
	return header
}

// Stops if this is not a PS256 signature over the input by the platform's key that kid names. The names in crit must be
// those that this program knows (RFC 7515 §4.1.11).
func (tpp *Tpp) verify(segment, input, signature string) joseHeader {
	header := headerOf(segment)
	key, isKnown := tpp.platformKeys[header.Kid]
	known, isB64Critical := strings.Join(signedHeaders, " ")+" b64", false
	for _, name := range header.Crit {
		isKnown = isKnown && strings.Contains(" "+known+" ", " "+name+" ")
		isB64Critical = isB64Critical || name == "b64"
	}
	if !isKnown || header.Alg != "PS256" || isB64Critical != (header.Encoded != nil) {
		stop("The platform's answer is not signed as it must be, by a key of %s.", tpp.server.JwksUri)
	}
	hash, value := sha256.Sum256([]byte(input)), decodeBase64url(signature)
	options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
	if rsa.VerifyPSS(key, crypto.SHA256, hash[:], value, options) != nil {
		stop("The signature of the platform's answer is wrong. Do not use the answer.")
	}
	return header
}

// Signs exactly the bytes that are sent, and leaves them out of the signature (RFC 7515 appendix F).
func (tpp *Tpp) detachedSignature(body []byte) string {
	directory, err := url.Parse(tpp.endpoints.DirectoryUrl)
	check(err)
	signed := jws(tpp.signingKey, object{
		"alg":            "PS256",
		"kid":            tpp.me.SigningKid,
		signedHeaders[0]: tpp.now(),
		signedHeaders[1]: tpp.me.OrgId + "/" + tpp.me.SoftwareClientId,
		signedHeaders[2]: directory.Host,
		"crit":           signedHeaders,
	}, body)
	parts := strings.Split(signed, ".")
	return parts[0] + ".." + parts[2]
}

// Returns a JWT that the TPP signs, with an id of its own, for five minutes.
func (tpp *Tpp) signedJwt(claims object) string {
	claims["jti"], claims["iat"], claims["exp"] = uuid(), tpp.now(), tpp.now()+300
	return jws(tpp.signingKey, object{"alg": "PS256", "typ": "JWT", "kid": tpp.me.SigningKid}, encode(claims))
}

// Proves possession of the DPoP key for one request (RFC 9449 §4.2).
func (tpp *Tpp) proof(method, address, token string) string {
	claims := object{"jti": uuid(), "htm": method, "htu": address, "iat": tpp.now()}
	if token != "" {
		claims["ath"] = sha256Of(token)
	}
	public := object{"kty": "RSA", "e": "AQAB", "n": base64url(tpp.dpopKey.N.Bytes())}
	return jws(tpp.dpopKey, object{"alg": "PS256", "typ": "dpop+jwt", "jwk": public}, encode(claims))
}

// The sandbox's time, which can be moved ahead. Outside of sandboxes it is this computer's own.
func (tpp *Tpp) now() int64 {
	var clock struct {
		Ahead float64 `json:"ahead_seconds"`
	}
	answer := send(&http.Client{Timeout: 5 * time.Second}, "GET", tpp.endpoints.DirectoryUrl+"/sandbox/clock", nil, nil)
	json.Unmarshal(answer.body, &clock)
	return time.Now().Unix() + int64(math.Round(clock.Ahead))
}

// Signs with PS256.
func jws(key *rsa.PrivateKey, header object, payload []byte) string {
	input := base64url(encode(header)) + "." + base64url(payload)
	hash := sha256.Sum256([]byte(input))
	options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
	signature, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, hash[:], options)
	check(err)
	return input + "." + base64url(signature)
}

// An answer of a server. Status 0: no answer came.
type answer struct {
	request string
	status  int
	header  http.Header
	body    []byte
	problem error
}

// Sends one request and reads the whole answer.
func send(client *http.Client, method, address string, header http.Header, body []byte) answer {
	got := answer{request: method + " " + address}
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	check(err)
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		got.problem = err
		return got
	}
	defer response.Body.Close()
	if got.body, got.problem = io.ReadAll(response.Body); got.problem == nil {
		got.status, got.header = response.StatusCode, response.Header
	}
	return got
}

func (got answer) mayBeRepeated() bool {
	return got.status == 0 || got.status == 429 || got.status >= 500
}

// How long to wait before the next attempt: as the platform asks, at most 30 s.
func (got answer) pause(attempt int) time.Duration {
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil {
		seconds = attempt
	}
	return time.Duration(math.Min(float64(seconds), 30)) * time.Second
}

// Returns the body. Stops if the status is another.
func (got answer) bodyOf(expected int) []byte {
	if got.status == 0 {
		stop("No answer: %v\nStart the sandbox (npx -y deno@2.9.6 task start), or set SANDBOX_DIR.", got.problem)
	}
	if got.status != expected {
		// A 401 of a resource says what was wrong in this header (RFC 9449 §7.1).
		stop("%s was rejected: HTTP %d %s%s", got.request, got.status, got.body, got.header.Get("WWW-Authenticate"))
	}
	return got.body
}

// The tokens of a poll in the order in which they were sent, which a Go map would lose.
type securityEvents []struct{ jti, token string }

func (events *securityEvents) UnmarshalJSON(content []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	if _, err := decoder.Token(); err != nil { // the brace
		return err
	}
	for decoder.More() {
		jti, err := decoder.Token()
		if err != nil {
			return err
		}
		event := struct{ jti, token string }{jti: fmt.Sprint(jti)}
		if err := decoder.Decode(&event.token); err != nil {
			return err
		}
		*events = append(*events, event)
	}
	return nil
}

func encode(value any) []byte {
	content, err := json.Marshal(value)
	check(err)
	return content
}

func decode(content []byte, value any) { check(json.Unmarshal(content, value)) }

func base64url(content []byte) string { return base64.RawURLEncoding.EncodeToString(content) }

func decodeBase64url(text string) []byte {
	content, err := base64.RawURLEncoding.DecodeString(text)
	check(err)
	return content
}

func sha256Of(text string) string {
	hash := sha256.Sum256([]byte(text))
	return base64url(hash[:])
}

func randomBytes(length int) []byte {
	content := make([]byte, length)
	_, err := rand.Read(content)
	check(err)
	return content
}

func randomText(length int) string { return base64url(randomBytes(length)) }

func uuid() string {
	id := randomBytes(16)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func read(file, advice string) []byte {
	content, err := os.ReadFile(file)
	if err != nil {
		reason := err
		var failed *os.PathError
		if errors.As(err, &failed) {
			reason = failed.Err
		}
		stop("%s cannot be read: %v. %s", file, reason, advice)
	}
	return content
}

func check(err error) {
	if err != nil {
		stop("No payment was made: %v", err)
	}
}

func stop(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
