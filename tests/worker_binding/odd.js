// A binding that answers as Cloudflare's seldom does, by the name of the model.
import { WorkerEntrypoint } from "cloudflare:workers";

export class Odd extends WorkerEntrypoint {
  run(model, inputs, options) {
    if (model === "echo") return Response.json({ inputs, options });
    if (model === "nothing") return undefined;
    if (model === "silence") {
      return new Response(null, { headers: { "content-type": "application/json" } });
    }
    if (model === "page") return new Response(`<p>${"x".repeat(5_000)}`, { status: 500 });
    if (model === "picture") {
      return new Response("a picture", { headers: { "content-type": "image/png" } });
    }
    if (model === "moved") return new Response("gone", { status: 307 });
    return Response.json({ message: "No code, but words" }, { status: 418 });
  }
}

export default {};
