"""The sidecar's rules of scope, each broken in one place: what an oracle that sees anything must notice."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from retrieval_sidecar.scope import resolve
from retrieval_sidecar.search import statement

_SEARCH, _SCOPE = statement.SQL, resolve._SQL


@dataclass(frozen=True, slots=True)
class Mutant:
    """A condition of some statements, and what stands there instead."""

    name: str
    statements: Mapping[str, str]
    condition: str
    instead: str

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Every statement that has the condition is broken within the block."""
        broken = {
            name: text.replace(self.condition, self.instead)
            for name, text in self.statements.items()
            if self.condition in text
        }
        assert broken, f"no statement has this condition any more: {self.condition}"
        with pytest.MonkeyPatch.context() as patch:
            for name, text in broken.items():
                patch.setitem(self.statements, name, text)
            _forget_composed()
            yield
        _forget_composed()


def _forget_composed() -> None:
    statement.search_statement.cache_clear()
    statement.anything_statement.cache_clear()
    statement.whole_statement.cache_clear()


def _search(name: str, condition: str, instead: str = "true") -> Mutant:
    return Mutant(name, _SEARCH, condition, instead)


def _scope(name: str, condition: str, instead: str) -> Mutant:
    return Mutant(name, _SCOPE, condition, instead)


MUTANTS = (
    _search("any organization", "p.organization_id = %(organization_id)s and p.space_id", "p.space_id"),
    _search("not servable", "p.servable"),
    _search("what a team or a person keeps to themselves", "{or_reserved}", "or p.reserved"),
    _search("any segment", "p.segment_ids && %(segment_ids)s::integer[]"),
    _search("nothing without segments", "p.segment_ids is null", "false"),
    _search("before it is valid", "p.valid_from <= %(now)s"),
    _search("not at its first instant", "p.valid_from <= %(now)s", "p.valid_from < %(now)s"),
    _search("after it was valid", "%(now)s < p.valid_to"),
    _search("at the instant of its end", "%(now)s < p.valid_to", "%(now)s <= p.valid_to"),
    _search("out of hours", "p.open_minutes @> %(minute)s::integer"),
    _search("a minute late", "p.open_minutes @> %(minute)s::integer", "p.open_minutes @> %(minute)s::integer - 1"),
    _search("by the clock of Greenwich", "p.open_minutes @> %(minute)s::integer",
            "p.open_minutes @> (extract(isodow from %(now)s at time zone 'UTC')::integer - 1) * 1440"
            " + extract(hour from %(now)s at time zone 'UTC')::integer * 60"
            " + extract(minute from %(now)s at time zone 'UTC')::integer"),
    _search("an item that has become a draft", "i.status = 'published'"),
    _search("an item that has become internal", "i.visibility = 'public'"),
    _search("an item that was deleted", "i.deleted_at is null"),
    _search("an item that left the phone", "'phone' = any(i.channels)"),
    _search("an instruction that has become a draft", "n.status = 'published'"),
    _search("an instruction that was deleted", "n.deleted_at is null"),
    _search("any instruction", "p.owner_key = any(%(instruction_keys)s::integer[])"),
    _search("any item", "p.owner_key = any(%(item_keys)s::integer[])"),
    _search("any folder", "p.folder_id = any(%(folder_ids)s::integer[])"),
    _search("any base", "p.base_key = any(%(base_keys)s::integer[])"),
    _search("an instruction of an item's number", "not p.is_instruction and p.owner_key", "p.owner_key"),
    _search("not narrowed", "and p.base_key = any(%(narrowed_base_keys)s::integer[])", ""),
    _search("widened", "and p.base_key = any(%(narrowed_base_keys)s::integer[])",
            "or p.base_key = any(%(narrowed_base_keys)s::integer[])"),
    _search("a limit before the filter", "limit {pool}", "limit 2"),
    _scope("no knowledge selected is all", "a.knowledge_scope_mode = 'selected' as",
           "exists (select from agent_item x where x.organization_id = a.organization_id and x.agent_id = a.agent_id)"
           " as"),
    _scope("no instructions selected is all", "case when a.instruction_scope_mode = 'selected' then",
           "case when exists (select from agent_instruction x where x.organization_id = a.organization_id"
           " and x.agent_id = a.agent_id) then"),
    _scope("narrowed to nothing is not narrowed", "s.narrowed_base_ids is not null",
           "cardinality(s.narrowed_base_ids) > 0"),
    _scope("nested directories left out", "where child.organization_id = a.organization_id", "where false"),
    _scope("directories of anyone", "d.organization_id = a.organization_id and d.agent_id", "d.agent_id"),
    _scope("folders of anyone", "select x.folder_id from agent_folder x\n        where x.organization_id ="
           " a.organization_id and", "select x.folder_id from agent_folder x\n        where"),
    _scope("folders of every agent", "select x.folder_id from agent_folder x\n        where x.organization_id ="
           " a.organization_id and x.agent_id = a.agent_id", "select x.folder_id from agent_folder x\n        where"
           " x.organization_id = a.organization_id"),
    _scope("segments of a contact elsewhere", "where c.organization_id = s.organization_id and c.contact_id",
           "where c.contact_id"),
    _scope("unknown callers are one contact", "c.contact_id = s.contact_id",
           "(c.contact_id = s.contact_id or s.contact_id is null)"),
)  # fmt: skip
