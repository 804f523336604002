"""From items and instructions to what the contract says of them, and from the audit log's point of view."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from contracts import management as wire
from retrieval_sidecar.content.directories import Directory
from retrieval_sidecar.content.instructions import Instruction
from retrieval_sidecar.content.items import Item
from retrieval_sidecar.knowledge.validity import weekly_hours


def to_item_detail(item: Item) -> wire.KnowledgeItemDetail:
    return wire.KnowledgeItemDetail(
        id=item.item_id,
        kb_id=item.base_id,
        source_id=item.source_id,
        source_kind=item.source_kind,
        written=item.is_written,
        external_id=item.external_id,
        title=item.title,
        content=item.content,
        language=item.language,
        region_code=item.region_code,
        status=item.status,
        visibility=item.visibility,
        channels=list(item.channels),
        segments=list(item.segments),
        valid_from=item.valid_from.astimezone(UTC) if item.valid_from else None,
        valid_until=item.valid_until.astimezone(UTC) if item.valid_until else None,
        schedule=_schedule(item),
        source_url=item.source_url,
        folder_key=item.folder_key,
        set_by_hand=list(item.set_by_hand),
        indexed=item.is_indexed,
        error=item.error,
        error_code=item.error_code,
        updated_at=item.updated_at.astimezone(UTC),
    )


def to_instruction_detail(instruction: Instruction) -> wire.InstructionDetail:
    return wire.InstructionDetail(
        id=instruction.instruction_id,
        title=instruction.title,
        content=instruction.content,
        directory_id=instruction.directory_id,
        language=instruction.language,
        status=instruction.status,
        dynamic=instruction.dynamic,
        segments=list(instruction.segments),
        indexed=instruction.is_indexed,
        error=instruction.error,
        error_code=instruction.error_code,
        updated_at=instruction.updated_at.astimezone(UTC),
    )


def to_directory_detail(directory: Directory) -> wire.InstructionDirectory:
    return wire.InstructionDirectory(
        id=directory.directory_id,
        parent_id=directory.parent_id,
        name=directory.name,
        instruction_count=directory.instructions,
    )


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a record has changed, as it was and as it is; and its title or name, by which people know it."""
    names = [name for name in after if before[name] != after[name] or name in ("title", "name")]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def _schedule(item: Item) -> wire.WeeklySchedule | None:
    if item.open_minutes is None:
        return None
    hours = weekly_hours(item.open_minutes)
    return wire.WeeklySchedule.model_validate(
        {day: [{"opens": opens, "closes": closes} for opens, closes in spans] for day, spans in hours.items()}
    )
