"""What models cost, by a table that operators edit."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.voice import UsageEvent

Kind: TypeAlias = Literal["stt", "llm", "tts"]
Price: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_MILLION: Final = 1_000_000


class PricesError(Exception):
    """The table of prices cannot be read; the message says where it is wrong."""


class ModelPrice(BaseModel):
    """What one model costs; see `prices.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    model: Annotated[str, Field(min_length=1)]
    input_tokens: Price = 0
    cached_input_tokens: Price | None = None
    audio_input_tokens: Price | None = None
    output_tokens: Price = 0
    audio_output_tokens: Price | None = None
    characters: Price = 0
    audio_minutes: Price = 0

    def fits(self, kind: str, model: str) -> bool:
        """Whether it is the price of that model."""
        if self.model.endswith("*"):
            return self.kind == kind and model.startswith(self.model[:-1])
        return (self.kind, self.model) == (kind, model)

    def cost(self, used: UsageEvent) -> float:
        """What was used, at this price."""
        cached, heard = used.cached_input_tokens or 0, used.audio_input_tokens or 0
        spoken = used.audio_output_tokens or 0
        tokens = (
            max(0, (used.input_tokens or 0) - cached - heard) * self.input_tokens
            + cached * _or(self.cached_input_tokens, self.input_tokens)
            + heard * _or(self.audio_input_tokens, self.input_tokens)
            + max(0, (used.output_tokens or 0) - spoken) * self.output_tokens
            + spoken * _or(self.audio_output_tokens, self.output_tokens)
        )
        by_length = (used.characters or 0) / _MILLION * self.characters
        return tokens / _MILLION + by_length + (used.audio_seconds or 0) / 60 * self.audio_minutes


class Prices(BaseModel):
    """The table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    price: Sequence[ModelPrice] = ()

    @classmethod
    def read(cls, path: Path | None) -> "Prices":
        """Read a file, or the table that comes with the worker.

        Raises:
            PricesError: when it is away or wrong.
        """
        source = path or files("worker") / "prices.toml"
        try:
            return cls.model_validate(tomllib.loads(source.read_text("utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PricesError(f"The prices cannot be read: {error}") from None
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
                for fault in error.errors(include_input=False, include_url=False)
            )
            raise PricesError(f"The prices are wrong: {faults}") from None

    def priced(self, used: UsageEvent) -> UsageEvent:
        """The same with its cost, where the table has the model."""
        price = next((each for each in self.price if each.fits(used.kind, used.model)), None)
        if price is None:
            return used
        return used.model_copy(update={"cost": round(price.cost(used), 6), "currency": self.currency})


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price
