# The Worker on the real runtime, offline: Cloudflare's own binding module sends its calls to a sandbox on
# this machine. `workerd.py` gives the address of the sandbox, and reads those of the sockets.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.ai, .secret])),
    (name = "no secret", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.ai])),
    (name = "short secret", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.ai, (name = "BATCHUI_SECRET", text = "0123456789012345678901234567890")])),
    (name = "padded secret", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.ai, (name = "BATCHUI_SECRET", text = " a-secret-for-tests-0123456789abcdef\n")])),
    (name = "no text", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.ai, (name = "BATCHUI_SECRET", json = "{\"length\": 40}")])),
    (name = "no binding", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.secret])),
    (name = "odd binding", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.secret, (name = "AI", service = (name = "odd", entrypoint = "Odd"))])),
    (name = "odd", worker = (
      modules = [(name = "odd.js", esModule = embed "odd.js")], compatibilityDate = .date)),
    (name = "sandbox", external = (address = "127.0.0.1:1", http = ())),
  ],
  sockets = [
    (name = "worker", address = "127.0.0.1:0", http = (), service = "worker"),
    (name = "no secret", address = "127.0.0.1:0", http = (), service = "no secret"),
    (name = "short secret", address = "127.0.0.1:0", http = (), service = "short secret"),
    (name = "padded secret", address = "127.0.0.1:0", http = (), service = "padded secret"),
    (name = "no text", address = "127.0.0.1:0", http = (), service = "no text"),
    (name = "no binding", address = "127.0.0.1:0", http = (), service = "no binding"),
    (name = "odd binding", address = "127.0.0.1:0", http = (), service = "odd binding"),
  ],
);

const date :Text = "2026-11-01";
const modules :List(Workerd.Worker.Module) = [
  (name = "worker.js", esModule = embed "../../cloudflare-worker/worker.js"),
];
const secret :Workerd.Worker.Binding = (
  name = "BATCHUI_SECRET", text = "a-secret-for-tests-0123456789abcdef");
const ai :Workerd.Worker.Binding = (name = "AI", wrapped = (
  moduleName = "cloudflare-internal:ai-api",
  innerBindings = [(name = "fetcher", service = "sandbox")],
));
