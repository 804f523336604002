"""From what can be selected, and is, to what the contract says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts import management as wire
from retrieval_sidecar.organization.agents import Profile
from retrieval_sidecar.scope.configuration import Selection
from retrieval_sidecar.scope.selectable import Agent, Directory, Folder, Instruction, Item


@dataclass(frozen=True, slots=True)
class Tree:
    """What an agent may search, and what there is to select from."""

    selection: Selection
    directories: Sequence[Directory]
    folders: Sequence[Folder]


def to_agent(agent: Agent, profile: Profile | None = None) -> wire.PhoneAgent:
    """An agent; of one alone, not in lists, also what it says and whom it hands calls to."""
    more = {} if profile is None else _of_one(profile)
    return wire.PhoneAgent(
        id=agent.agent_id,
        name=agent.name,
        language=agent.language,
        region_code=agent.region_code,
        instruction_scope_mode=agent.instruction_mode,
        knowledge_scope_mode=agent.knowledge_mode,
        numbers=list(agent.numbers),
        **more,
    )


def _of_one(profile: Profile) -> dict[str, Any]:
    return {
        "prompt": profile.prompt,
        "greeting": profile.greeting,
        "handoff_number": profile.handoff_number,
        "knowledge_mode": profile.knowledge_mode,
    }


def to_folder(folder: Folder) -> wire.KnowledgeFolder:
    return wire.KnowledgeFolder(key=folder.key, name=folder.name, item_count=folder.items)


def to_item(item: Item) -> wire.KnowledgeItem:
    return wire.KnowledgeItem(id=item.item_id, title=item.title, status=item.status)


def to_directory(directory: Directory) -> wire.InstructionDirectory:
    return wire.InstructionDirectory(
        id=directory.directory_id,
        parent_id=directory.parent_id,
        name=directory.name,
        instruction_count=directory.instructions,
    )


def to_instruction(instruction: Instruction) -> wire.Instruction:
    return wire.Instruction(
        id=instruction.instruction_id,
        title=instruction.title,
        directory_id=instruction.directory_id,
        status=instruction.status,
    )


def to_knowledge_sources(tree: Tree) -> wire.KnowledgeSources:
    selection = tree.selection
    return wire.KnowledgeSources(
        instruction_scope=wire.InstructionScope(
            mode=selection.instruction_mode,
            instruction_ids=list(selection.instruction_ids),
            directory_ids=list(selection.directory_ids),
        ),
        knowledge_scope=wire.KnowledgeScope(
            mode=selection.knowledge_mode, item_ids=list(selection.item_ids), folder_keys=selection.keys
        ),
        directories=[
            wire.DirectorySummary(
                id=each.directory_id,
                parent_id=each.parent_id,
                name=each.name,
                instruction_count=each.instructions,
                is_selected=each.is_selected,
                selected_instruction_count=each.selected_instructions,
            )
            for each in tree.directories
        ],
        folders=[
            wire.FolderSummary(
                key=each.key,
                name=each.name,
                item_count=each.items,
                is_selected=each.is_selected,
                selected_item_count=each.selected_items,
            )
            for each in tree.folders
        ],
    )
