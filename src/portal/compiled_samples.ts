/** Requests to copy in languages that are compiled. They need nothing beyond the language's own library. */
import { NAME, type Pair, type SampleRequest } from "./sample_request.ts";

/** The type that a form has as a body. */
const FORM_TYPE: readonly Pair[] = [["content-type", "application/x-www-form-urlencoded"]];

/** A Go program, as gofmt writes it. */
export function go(request: SampleRequest): string {
  const { method, url, isMutual, headers, form } = request;
  const env = (value: string): string => joined(value, (name) => `os.Getenv("${name}")`, "+");
  const [body, sent] = goBody(request, env);
  const lines = [
    ...(isMutual ? GO_TLS : ["\tclient := http.DefaultClient"]),
    ...body,
    `\trequest := must(http.NewRequest("${method}", ${env(url)}, ${sent}))`,
    ...[...headers, ...form === undefined ? [] : FORM_TYPE]
      .map(([name, value]) => `\trequest.Header.Set("${name}", ${env(value)})`),
    "\tresponse := must(client.Do(request))",
    "\tdefer response.Body.Close()",
    "\tfmt.Println(response.StatusCode, string(must(io.ReadAll(response.Body))))",
  ];
  const used = GO_PACKAGES.filter((name) =>
    lines.some((line) => new RegExp(`\\b${name.split("/").at(-1)}\\.`).test(line.replaceAll(/"[^"]*"/g, "")))
  );
  return [
    "package main",
    "",
    "import (",
    ...used.map((name) => `\t"${name}"`),
    ")",
    "",
    "func must[T any](value T, err error) T {",
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    "\treturn value",
    "}",
    "",
    "func main() {",
    ...lines,
    "}",
  ].join("\n");
}

const GO_PACKAGES: readonly string[] = [
  "bytes",
  "crypto/tls",
  "crypto/x509",
  "fmt",
  "io",
  "net/http",
  "net/url",
  "os",
  "strings",
];

/** The lines that make the body, and the expression that sends it. */
function goBody(
  { form, file }: SampleRequest,
  env: (value: string) => string,
): readonly [lines: readonly string[], sent: string] {
  if (form !== undefined) {
    const set = form.map(([name, value]) => `\tform.Set("${name}", ${env(value)})`);
    return [["\tform := url.Values{}", ...set], "strings.NewReader(form.Encode())"];
  }
  return file === undefined
    ? [[], "nil"]
    : [[`\tbody := must(os.ReadFile("${file}"))`], "bytes.NewReader(body)"];
}

const GO_TLS: readonly string[] = [
  "\troots := x509.NewCertPool()",
  '\troots.AppendCertsFromPEM(must(os.ReadFile("ca.pem")))',
  "\tclient := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{",
  '\t\tCertificates: []tls.Certificate{must(tls.LoadX509KeyPair("transport.cert.pem", "transport.key.pem"))},',
  "\t\tRootCAs:      roots,",
  "\t}}}",
];

/** A Java program, started as `java Sample.java`. */
export function java({ method, url, isMutual, headers, form, file }: SampleRequest): string {
  const env = (value: string): string => joined(value, (name) => `System.getenv("${name}")`);
  const publisher = form !== undefined
    ? "ofString(body)"
    : file !== undefined
    ? `ofFile(Path.of("${file}"))`
    : "noBody()";
  return [
    ...(isMutual ? JAVA_STORES : []),
    "import java.net.URI;",
    ...(form === undefined ? [] : ["import java.net.URLEncoder;"]),
    "import java.net.http.HttpClient;",
    "import java.net.http.HttpRequest;",
    "import java.net.http.HttpResponse;",
    ...(form === undefined ? [] : ["import java.nio.charset.StandardCharsets;"]),
    ...(file === undefined ? [] : ["import java.nio.file.Path;"]),
    ...(form === undefined ? [] : ["import java.util.stream.Collectors;", "import java.util.stream.Stream;"]),
    "",
    "class Sample {",
    "  public static void main(String[] args) throws Exception {",
    ...(isMutual ? JAVA_TLS : []),
    ...(form === undefined ? [] : javaForm(form, env)),
    `    var request = HttpRequest.newBuilder(URI.create(${env(url)}))`,
    ...[...headers, ...form === undefined ? [] : FORM_TYPE]
      .map(([name, value]) => `        .header("${name}", ${env(value)})`),
    `        .method("${method}", HttpRequest.BodyPublishers.${publisher})`,
    "        .build();",
    "    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());",
    '    System.out.println(response.statusCode() + " " + response.body());',
    "  }",
    "}",
  ].join("\n");
}

const JAVA_STORES: readonly string[] = [
  "// openssl pkcs12 -export -in transport.cert.pem -inkey transport.key.pem -out transport.p12 -passout pass:changeit",
  "// keytool -importcert -noprompt -file ca.pem -keystore ca.p12 -storepass changeit",
];

const JAVA_TLS: readonly string[] = [
  '    System.setProperty("javax.net.ssl.keyStore", "transport.p12");',
  '    System.setProperty("javax.net.ssl.keyStorePassword", "changeit");',
  '    System.setProperty("javax.net.ssl.trustStore", "ca.p12");',
  '    System.setProperty("javax.net.ssl.trustStorePassword", "changeit");',
];

function javaForm(form: readonly Pair[], env: (value: string) => string): readonly string[] {
  const pairs = form.map(([name, value]) => `        new String[] {"${name}", ${env(value)}}`).join(",\n");
  return [
    "    var body = Stream.of(",
    pairs,
    '    ).map(one -> one[0] + "=" + URLEncoder.encode(one[1], StandardCharsets.UTF_8))',
    '        .collect(Collectors.joining("&"));',
  ];
}

/** A C# program of top-level statements, for .NET 8 and later. */
export function csharp({ method, url, isMutual, headers, form, file }: SampleRequest): string {
  const env = (value: string): string => joined(value, (name) => `Env("${name}")`);
  const [types, others] = [
    headers.filter(([name]) => name === "content-type"),
    headers.filter(([name]) => name !== "content-type"),
  ];
  const content = form !== undefined
    ? [
      "request.Content = new FormUrlEncodedContent(new Dictionary<string, string>",
      "{",
      ...form.map(([name, value]) => `    ["${name}"] = ${env(value)},`),
      "});",
    ]
    : file !== undefined
    ? [`request.Content = new ByteArrayContent(File.ReadAllBytes("${file}"));`]
    : [];
  return [
    ...(isMutual
      ? ["using System.Net.Security;", "using System.Security.Cryptography.X509Certificates;", ""]
      : []),
    ...(others.some(([, value]) => value.includes("$")) || form !== undefined || url.includes("$")
      ? ['string Env(string name) => Environment.GetEnvironmentVariable(name) ?? "";', ""]
      : []),
    ...(isMutual ? CSHARP_TLS : ["using var client = new HttpClient();"]),
    `using var request = new HttpRequestMessage(new HttpMethod("${method}"), ${env(url)});`,
    ...others.map(([name, value]) => `request.Headers.TryAddWithoutValidation("${name}", ${env(value)});`),
    ...content,
    ...types.map(([name, value]) =>
      `request.Content.Headers.TryAddWithoutValidation("${name}", "${value}");`
    ),
    "using var response = await client.SendAsync(request);",
    'Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");',
  ].join("\n");
}

const CSHARP_TLS: readonly string[] = [
  'var certificate = X509Certificate2.CreateFromPemFile("transport.cert.pem", "transport.key.pem");',
  "var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust };",
  'policy.CustomTrustStore.ImportFromPemFile("ca.pem");',
  "using var client = new HttpClient(new SocketsHttpHandler",
  "{",
  "    SslOptions = new SslClientAuthenticationOptions",
  "    {",
  "        ClientCertificates = [certificate],",
  "        CertificateChainPolicy = policy,",
  "    },",
  "});",
];

/** Literals and variables, joined. */
function joined(value: string, variable: (name: string) => string, plus = " + "): string {
  const parts: string[] = [];
  let at = 0;
  for (const match of value.matchAll(NAME)) {
    if (match.index > at) parts.push(JSON.stringify(value.slice(at, match.index)));
    parts.push(variable(match[1] ?? ""));
    at = match.index + match[0].length;
  }
  if (at < value.length || parts.length === 0) parts.push(JSON.stringify(value.slice(at)));
  return parts.join(plus);
}
