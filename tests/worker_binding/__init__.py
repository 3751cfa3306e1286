"""The Worker on the real runtime, with Cloudflare's own AI binding around a sandbox."""
