"""Context usage of the root conversation, and usage in the forms that ACP has for it (S§10.3–10.4)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from machines.results.usage import Tokens, Usage, read_tokens

DEFAULT_WINDOW = 200_000
LONG_WINDOW = 1_000_000

_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(slots=True)
class ContextUsage:
    """How much of its window the conversation fills; what the client holds is not sent again."""

    model: str | None = None
    windows: dict[str, int] = field(default_factory=dict)
    """Window sizes by model that Claude Code itself told; they outrank every guess."""
    used: int | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _sent: tuple[int, int] | None = None
    _guess: int | None = None

    def start_message(self, model: object, usage: object) -> Mapping[str, object] | None:
        """A message of a real model begins: its counts replace those of the last one."""
        if not isinstance(model, str) or model.startswith("<"):
            return None
        self.model = model
        self._counts = {}
        return self.add(usage)

    def add(self, usage: object) -> Mapping[str, object] | None:
        """Take in cumulative counts of the message; an update when the total changed."""
        counts = usage if isinstance(usage, Mapping) else {}
        for key in _COUNTS:
            value = counts.get(key)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                self._counts[key] = value
        self.used = read_tokens(self._counts).total
        return self.changed()

    def changed(self) -> Mapping[str, object] | None:
        """The update, when the client does not hold it already."""
        if self.used is None or self.model is None or self._sent == (self.used, self.size):
            return None
        return self.update()

    def update(
        self, cost: float | None = None, origin: Mapping[str, object] | None = None
    ) -> Mapping[str, object] | None:
        """The update as it stands, after a result with its cost and origin; None before a real answer."""
        if self.used is None or self.model is None:
            return None
        self._sent = (self.used, self.size)
        update: dict[str, object] = {"sessionUpdate": "usage_update", "used": self.used, "size": self.size}
        if cost is not None:
            update["cost"] = {"amount": cost, "currency": "USD"}
        meta: dict[str, object] = {"_claude/origin": origin} if origin else {}
        update["_meta"] = {**meta, "_claude/model": self.model}
        return update

    def learn(self, model_usage: Mapping[str, object]) -> None:
        """A result names the windows of the models that it used."""
        for model, row in model_usage.items():
            window = row.get("contextWindow") if isinstance(row, Mapping) else None
            if isinstance(window, int) and window > 0:
                self.windows[model] = window

    def suggest(self, window: object) -> None:
        """Claude Code's own estimate, until a result tells."""
        if isinstance(window, int) and window > 0:
            self._guess = window

    def clear(self) -> None:
        """The conversation starts anew."""
        self.shrink(0)

    def shrink(self, used: int) -> None:
        """The conversation was compacted to this many tokens."""
        self.used, self._counts = used, {}

    @property
    def size(self) -> int:
        """The window of the model that answers."""
        model = self.model or ""
        exact = self.windows.get(model)
        if exact is not None:
            return exact
        prefixed = [name for name in self.windows if name.startswith(model) or model.startswith(name)]
        if prefixed and model:
            return self.windows[max(prefixed, key=len)]
        if self._guess is not None:
            return self._guess
        return LONG_WINDOW if re.search(r"\b1m\b", model) else DEFAULT_WINDOW


def prompt_usage(usage: Usage | None) -> dict[str, object]:
    """`usage` and `_meta.quota` of a prompt response; empty when nothing is known (decision 11)."""
    if usage is None:
        return {}
    tokens = usage.tokens
    return {
        "usage": {
            "inputTokens": tokens.input,
            "outputTokens": tokens.output,
            "cachedReadTokens": tokens.cache_read,
            "cachedWriteTokens": tokens.cache_write,
            "totalTokens": tokens.total,
        },
        "_meta": {
            "quota": {
                "token_count": _token_count(tokens),
                "model_usage": [
                    {"model": model, "token_count": _token_count(row)} for model, row in usage.by_model
                ],
            }
        },
    }


def _token_count(tokens: Tokens) -> dict[str, int]:
    return {
        "totalTokens": tokens.total,
        "inputTokens": tokens.input,
        "cachedInputTokens": tokens.cache_read,
        "cachedWriteTokens": tokens.cache_write,
        "outputTokens": tokens.output,
        "reasoningOutputTokens": 0,
    }
