"""A calibration as it stands in `embedding_space.calibration`."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval_sidecar.search.relevance import Calibration, calibration_of

log = structlog.get_logger()


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Coefficients(_Model):
    """The coefficients that are fitted; see `Calibration`. What a search without vectors uses is the model's own."""

    intercept: float
    meaning: float
    words: float
    code: float
    foreign: float
    nearest: float
    neighbours: float

    @classmethod
    def of(cls, calibration: Calibration) -> Self:
        return cls(**{name: getattr(calibration, name) for name in cls.model_fields})


class StoredCalibration(_Model):
    """Coefficients, and how they were made.

    Attributes:
        answerable, unanswerable: the questions of each kind that they were fitted on.
        auroc: the chance that an answerable one of those has the better evidence.
        lost: the share of answerable ones that is refused.
        refused: the share of unanswerable ones that is refused.
    """

    coefficients: Coefficients
    made_from: Literal["questions", "corpus"]
    answerable: int = Field(ge=0)
    unanswerable: int = Field(ge=0)
    auroc: float = Field(ge=0, le=1)
    lost: float = Field(ge=0, le=1)
    refused: float = Field(ge=0, le=1)
    made_at: datetime

    def calibration(self, model: str | None) -> Calibration:
        """For searches in a space of that model."""
        return replace(calibration_of(model), **self.coefficients.model_dump())


def read_calibration(value: Any, model: str | None, *, organization_id: UUID, space_id: int | None) -> Calibration:
    """The calibration of a space: what is stored, or the model's own where nothing is, or nothing that can be used.

    A value that somebody broke must neither take searches down nor open the gate, so it counts as none.
    """
    if value is None:
        return calibration_of(model)
    try:
        stored = StoredCalibration.model_validate(value).calibration(model)
    except (ValidationError, OverflowError):
        is_usable = False
    else:
        is_usable = stored.is_sound()
    if is_usable:
        return stored
    log.warning(
        "stored calibration cannot be used, the model's own is", organization_id=str(organization_id), space_id=space_id
    )
    return calibration_of(model)
