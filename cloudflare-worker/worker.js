// A door to Workers AI for batchui: this Worker has the AI binding, batchui has its address and a
// shared secret, and nobody has to hand out an API token. How to deploy it: README.md.
//
//   POST /ai/run/{model}?queueRequest=true   {"requests": […]}: a batch is queued
//   POST /ai/run/{model}                     {"request_id": "…"}: how far it is, or its answers
//   POST /ai/run/{model}                     one item, answered at once
//   GET  /ai/models/search?search=…          the models of the account
//
// Replies have the envelope of Cloudflare's REST API, {"result", "success", "errors", "messages"},
// with the error codes of Workers AI. The routes of Cloudflare's demo for batches are at the end.
//
// Without the right secret in "Authorization: Bearer …" nothing is answered. No reply allows a page
// of another site to read it (there are no CORS headers).

// Marks every reply, so that batchui can tell it from a page of somebody else.
const MARK = { "batchui-worker": "1" };
const SHORTEST_SECRET = 32; // characters
const LONGEST_BODY = 10_000_000; // bytes: Cloudflare documents "under 10 MB"
const LONGEST_MESSAGE = 1_000; // characters
const MODEL = /^@?[\w.:-]+(\/[\w.:-]+)*$/;
const SEARCHES = ["author", "hide_experimental", "page", "per_page", "search", "source", "task"];

// Codes of this Worker, which Workers AI does not have.
const WRONG_SECRET = 990401;
const NO_SECRET = 990403;
const NO_ROUTE = 990404;
const NO_BINDING = 990424;
// Codes of Workers AI.
const TOO_LARGE = 3006;
const BAD_INPUT = 5006;
const NO_MODEL = 5007;

export default {
  async fetch(request, env) {
    let reply;
    try {
      await admit(request, env.BATCHUI_SECRET);
      reply = await answer(request, env.AI);
    } catch (error) {
      reply = failure(error);
    }
    const headers = { ...MARK, "cache-control": "no-store", "x-content-type-options": "nosniff" };
    for (const [name, value] of Object.entries(headers)) reply.headers.set(name, value);
    return reply;
  },
};

/** An error that this Worker finds itself. */
class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Throws a Refusal unless the request has the secret, and the secret is worth something. */
async function admit(request, secret) {
  const wanted = typeof secret === "string" ? secret.trim() : "";
  if (wanted.length < SHORTEST_SECRET) {
    throw new Refusal(
      503,
      NO_SECRET,
      `BATCHUI_SECRET is not set, or has less than ${SHORTEST_SECRET} characters.`,
    );
  }
  const [, given = ""] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  // Digests have one length, so that the time tells neither how long the secret is nor how it begins.
  const [left, right] = await Promise.all([given, wanted].map(digest));
  if (!crypto.subtle.timingSafeEqual(left, right)) {
    throw new Refusal(
      401,
      WRONG_SECRET,
      "The secret is missing or wrong. Send that of BATCHUI_SECRET as “Authorization: Bearer …”.",
    );
  }
}

function digest(text) {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}

async function answer(request, ai) {
  if (!ai) throw new Refusal(503, NO_BINDING, "This Worker has no binding AI. Add Workers AI as AI.");
  const url = new URL(request.url);
  const [, model] = /^\/ai\/run\/(.+)$/.exec(url.pathname) ?? [];
  if (model && request.method === "POST") return run(request, url, model, ai);
  const route = `${request.method} ${url.pathname}`;
  if (route === "GET /ai/models/search") return search(url, ai);
  if (DEMO.has(route)) return Response.json(await DEMO.get(route)(ai, request, url));
  throw new Refusal(404, NO_ROUTE, `This Worker has nothing at ${route}.`);
}

async function run(request, url, name, ai) {
  let model = "";
  try {
    model = decodeURIComponent(name);
  } catch {
    // Like any other name that no model has.
  }
  if (!MODEL.test(model)) throw new Refusal(400, NO_MODEL, "This is not the name of a model.");
  const inputs = await readJson(request);
  // The answer as it came: of a finished batch it can be so large that reading it here would take
  // more time and memory than a Worker has.
  const options = { returnRawResponse: true };
  if (typeof inputs.request_id === "string") {
    return enveloped(await ai.run(model, { request_id: inputs.request_id }, options));
  }
  if (url.searchParams.get("queueRequest") === "true") options.queueRequest = true;
  return enveloped(await ai.run(model, inputs, options));
}

async function search(url, ai) {
  const asked = SEARCHES.filter((name) => url.searchParams.has(name));
  const result = await ai.models(
    Object.fromEntries(asked.map((name) => [name, url.searchParams.get(name)])),
  );
  return Response.json({ result, success: true, errors: [], messages: [] });
}

/** The JSON object in a body. Throws a Refusal for anything else, and for more than 10 MB. */
async function readJson(request) {
  const length = request.headers.get("content-length");
  if (Number(length) > LONGEST_BODY) throw tooLarge();
  const bytes = length === null ? await counted(request.body) : await request.arrayBuffer();
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, BAD_INPUT, "Bad input: the body is not JSON.");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Refusal(400, BAD_INPUT, "Bad input: the body is not a JSON object.");
  }
  return value;
}

/** A body that does not say how long it is. Throws a Refusal as soon as it is too long. */
async function counted(body) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > LONGEST_BODY) throw tooLarge();
    pieces.push(piece);
  }
  return new Blob(pieces).arrayBuffer();
}

function tooLarge() {
  return new Refusal(413, TOO_LARGE, `The request has more than ${LONGEST_BODY} bytes.`);
}

/** What the binding answered, in the envelope of the REST API. A result is passed on as a stream. */
function enveloped(reply) {
  // Now and then the binding gives undefined.
  const isAnswer = reply instanceof Response && (reply.body || !reply.ok);
  if (!isAnswer) throw new Error("Workers AI gave no answer.");
  if (!reply.ok) return passedOn(reply);
  const type = reply.headers.get("content-type") ?? "";
  if (!type.startsWith("application/json")) {
    return new Response(reply.body, { status: reply.status, headers: { "content-type": type } });
  }
  const { readable, writable } = new IdentityTransformStream();
  wrapped(reply.body, writable); // goes on while the reply is sent
  return new Response(readable, {
    status: reply.status,
    headers: { "content-type": "application/json" },
  });
}

/** Write a body with the envelope around it. */
async function wrapped(body, writable) {
  try {
    await write(writable, '{"result":');
    await body.pipeTo(writable, { preventClose: true });
    await write(writable, ',"success":true,"errors":[],"messages":[]}');
    await writable.close();
  } catch {
    // The body broke off, and pipeTo broke off what is written, too; or nobody reads on.
  }
}

async function write(writable, text) {
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode(text));
  writer.releaseLock();
}

/** An error of Workers AI with its status, code and words. One that is not JSON has no code. */
async function passedOn(reply) {
  const text = await reply.text();
  const status = reply.status >= 400 ? reply.status : 502;
  const after = reply.headers.get("retry-after");
  const headers = after === null ? {} : { "retry-after": after };
  const told = parsed(text);
  if (!told) return failed(status, [], [text.slice(0, LONGEST_MESSAGE)], headers);
  return failed(status, faultsIn(told, text), [], headers);
}

function faultsIn(told, text) {
  if (told.internalCode) return [fault(told.internalCode, told.description)];
  const errors = Array.isArray(told.errors) ? told.errors.filter(Boolean) : [];
  return errors.length ? errors.map((error) => fault(error.code, error.message)) : [fault(null, text)];
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** What was thrown, as a reply: a Refusal, or the binding's "5007: No such model". */
function failure(error) {
  if (error instanceof Refusal) return failed(error.status, [fault(error.code, error.message)]);
  const message = String(error?.message ?? error);
  const [, code, words] = /^(\d{3,6}): (.*)$/s.exec(message) ?? [];
  if (!code) return failed(502, [fault(null, message)]);
  return failed(STATUSES[code] ?? 400, [fault(code, words)]);
}

// What is thrown has lost its HTTP status. These are those of Cloudflare's table of errors.
const STATUSES = {
  ...{ 3006: 413, 3007: 408, 3008: 408, 3021: 429, 3036: 429, 3040: 429, 3050: 429 },
  ...{ 3023: 403, 3041: 403, 5016: 403, 5018: 403, 5035: 403, 3042: 404, 5504: 404 },
  ...{ 5001: 500, 8008: 500 },
};

function fault(code, message) {
  const told = { message: String(message ?? "").slice(0, LONGEST_MESSAGE) };
  return Number.isInteger(Number(code ?? NaN)) ? { code: Number(code), ...told } : told;
}

function failed(status, errors, messages = [], headers = {}) {
  return Response.json({ result: null, success: false, errors, messages }, { status, headers });
}

// -- Cloudflare's demo for batches ----------------------------------------------------------------
//
// The routes of the template "Batching on Workers AI Explorer" with its replies, for programs that
// were written for it. They need the secret, too: each costs what Workers AI costs.

const TALKER = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
const TRANSLATOR = "@cf/meta/m2m100-1.2b";

const DEMO = new Map([
  ["GET /example/single", single],
  ["POST /example/batch", (ai, request) => queued(ai, TRANSLATOR, request, "queries", sentence)],
  ["POST /example/batch/with-reference", (ai, request) => queued(ai, TRANSLATOR, request, "users", profile)],
  ["POST /example/batch/extract", (ai, request) => queued(ai, TALKER, request, "users", extraction)],
  ["GET /sus", again],
  ["GET /generate/sentences", (ai) => ai.run(TALKER, made("sentences", { type: "string" }))],
  ["GET /generate/users", (ai) => ai.run(TALKER, made("users", USER))],
  ["GET /check-request", check],
]);

const USER = {
  type: "object",
  properties: { username: { type: "string" }, profileStatus: { type: "string" } },
  required: ["username", "profileStatus"],
};

async function single(ai) {
  const prompt = "Which song begins with “All the single ladies”?";
  return { response: await ai.run(TALKER, { prompt }) };
}

/** A batch made of the list `field` in the body. */
async function queued(ai, model, request, field, item) {
  const { [field]: given } = await readJson(request);
  if (!Array.isArray(given)) throw new Refusal(400, BAD_INPUT, `Bad input: ${field} is not a list.`);
  const response = await ai.run(model, { requests: given.map(item) }, { queueRequest: true });
  return { response, model };
}

function sentence(text) {
  return { text, target_lang: "es" };
}

function profile(user) {
  return {
    text: user?.profileStatus,
    source_lang: "en",
    target_lang: "es",
    external_reference: user?.username,
  };
}

function extraction(user) {
  return { ...companiesIn(user?.profileStatus), external_reference: user?.username };
}

function companiesIn(text) {
  const prompt = `Which companies are named in this profile? ${text}`;
  return { prompt, response_format: listOf("companies", { type: "string" }) };
}

/** Profiles whose companies a batch has missed, asked again one by one. */
async function again(ai) {
  const results = [];
  for (const text of MISSED) {
    const result = await ai.run(TALKER, companiesIn(text));
    if (result.response?.companies?.length) results.push(result);
  }
  return { results };
}

const MISSED = [
  "Keeps the payments of Adyen fast, after five years at Klarna",
  "Builds flight software at Airbus; before that at Thales",
  "Looks after the data of Zalando, formerly with SAP and Bosch",
];

function made(field, items) {
  return { prompt: `Make up ten ${field} to try a batch with.`, response_format: listOf(field, items) };
}

function listOf(field, items) {
  const properties = { [field]: { type: "array", items } };
  return { type: "json_schema", json_schema: { type: "object", properties, required: [field] } };
}

function check(ai, request, url) {
  const model = url.searchParams.get("model") ?? "";
  if (!MODEL.test(model)) throw new Refusal(400, NO_MODEL, "This is not the name of a model.");
  return ai.run(model, { request_id: url.searchParams.get("id") });
}
