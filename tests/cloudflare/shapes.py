"""Answers as models give them, to build replies from."""

VECTORS = [[0.25, -0.5, 1e-7], [0.0, 1.0, 2.0]]


def chat(content: object, **message: object) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": content} | message}
    return {"object": "chat.completion", "choices": [choice], "usage": {"total_tokens": 5}}


def responses_object(*output: object, **more: object) -> dict[str, object]:
    return {"object": "response", "output": list(output), "usage": {"input_tokens": 3}} | more


def said(*texts: str) -> dict[str, object]:
    pieces = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "role": "assistant", "content": pieces}
