// Signs the requests of the Postman collection, and verifies what the platform has signed, with signing.js of the Bruno
// collection. Postman's scripts cannot read key files, and those of its command line cannot sign with RSA. The keys stay
// here: Postman gets signatures alone. Answers programs of this computer, and no web page.
//
//   node examples/postman/signer.js [folder of the sandbox] [participant] [port]
const http = require("node:http");
const path = require("node:path");
const { prepare, verify } = require("../bruno/signing.js");

const [folder = ".data/sandbox", participant = "mine", port = "8490"] = process.argv.slice(2);
const fixed = { sandbox: path.resolve(folder), participant };
const MAX_BYTES = 1_000_000;

// The variables that signing.js has set. Those of KEPT_HERE are not given to Postman.
const made = {};
const KEPT_HERE = ["dpop_key", "platform_keys"];

const actions = {
  // Returns what a request gets before it is sent: headers, a body, and variables.
  async prepare({ method, url, headers, body, variables }) {
    const changed = { headers: {}, body };
    const req = {
      getMethod: () => method,
      getUrl: () => url,
      getHeaders: () => headers,
      getBody: () => changed.body,
      setBody: (text) => changed.body = text,
      setHeader: (name, value) => changed.headers[name] = value,
    };
    await prepare(req, bruOf(variables));
    const given = Object.entries(made).filter(([name]) => !KEPT_HERE.includes(name));
    return { ...changed, variables: Object.fromEntries(given) };
  },
  // Returns the result of each test of an answer.
  verify({ url, headers, variables, status, answerHeaders, answer }) {
    const req = { getUrl: () => url, getHeaders: () => headers };
    const res = {
      getStatus: () => status,
      getHeader: (name) => answerHeaders[name],
      getBody: () => JSON.parse(answer),
      getDataBuffer: () => Buffer.from(answer),
    };
    const tests = [];
    verify(req, res, bruOf(variables), (name, run) => {
      try {
        run();
        tests.push({ name });
      } catch ({ message }) {
        tests.push({ name, fault: message });
      }
    });
    return { tests };
  },
};

// Stands for Bruno's own object in signing.js.
function bruOf(variables) {
  const values = { ...variables, ...made, ...fixed };
  return {
    cwd: () => "/",
    getVar: (name) => made[name],
    setVar: (name, value) => made[name] = values[name] = value,
    interpolate: (text) => text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name) => values[name] ?? whole),
  };
}

// A page in a browser sends Origin, cannot send JSON without a preflight, and may have another name for this address.
function isFromProgram({ method, headers }) {
  return method === "POST" && headers.origin === undefined &&
    headers["content-type"] === "application/json" &&
    headers.host === `127.0.0.1:${server.address().port}`;
}

async function textOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the request has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const server = http.createServer(async (request, response) => {
  const act = Object.hasOwn(actions, request.url.slice(1)) ? actions[request.url.slice(1)] : undefined;
  if (act === undefined || !isFromProgram(request)) return response.writeHead(404).end();
  try {
    const result = await act(JSON.parse(await textOf(request)));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
  } catch ({ message }) {
    response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ fault: message }));
  }
});
server.listen(Number(port), "127.0.0.1", () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`Signs as ${participant} of ${fixed.sandbox} at ${address} until Ctrl-C\n`);
});
