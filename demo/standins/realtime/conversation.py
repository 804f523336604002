"""The items of a conversation, in their order, and what may be done to them."""

from copy import deepcopy
from typing import Any, Final

Item = dict[str, Any]
_ROOT: Final = "root"
_CONTENT: Final = {
    "user": ("input_text", "input_audio", "input_image"),
    "assistant": ("output_text", "output_audio"),
    "system": ("input_text",),
}


class RefusedError(Exception):
    """A client's event that is answered with an error event.

    Attributes:
        code: OpenAI's, where it has one.
        param: the field that is wrong.
    """

    def __init__(self, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.param = code, param


class Conversation:
    """All items, each with the milliseconds of sound that it holds where the agent said it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.sound_ms: dict[str, int] = {}

    @property
    def last_id(self) -> str | None:
        """The id of the last item."""
        return self.items[-1]["id"] if self.items else None

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Put an item after another, by default at the end; gives the id of the one before it.

        Raises:
            RefusedError: its id is there already, or the other is not, or it is no item that a client may make.
        """
        _check(item)
        if any(each["id"] == item["id"] for each in self.items):
            raise RefusedError(
                f"Error adding item: an item with id '{item['id']}' already exists.",
                code="item_create_duplicate_item_id",
                param="item.id",
            )
        at = len(self.items) if after is None else 0 if after == _ROOT else self._index(after, "previous_item_id") + 1
        self.items.insert(at, item)
        return self.items[at - 1]["id"] if at else None

    def get(self, item_id: str) -> Item:
        """The item of that id.

        Raises:
            RefusedError: there is none.
        """
        return self.items[self._index(item_id, "item_id")]

    def before(self, item: Item) -> str | None:
        """The id of the item before that one; `None` where it is the first, or was deleted."""
        ids = [each["id"] for each in self.items]
        at = ids.index(item["id"]) if item["id"] in ids else 0
        return ids[at - 1] if at else None

    def delete(self, item_id: str) -> None:
        """Take it out.

        Raises:
            RefusedError: there is none.
        """
        del self.items[self._index(item_id, "item_id", "item_delete_invalid_item_id")]

    def truncate(self, item_id: str, audio_end_ms: int) -> None:
        """Cut what the agent said, where the caller stopped listening; its words go, for they were not all heard.

        Raises:
            RefusedError: it is nothing that the agent said, or shorter than that.
        """
        item = self.get(item_id)
        if item.get("role") != "assistant":
            raise RefusedError("Only model output audio messages can be truncated.", param="item_id")
        if audio_end_ms > self.sound_ms.get(item_id, 0):
            raise RefusedError(
                f"Audio content of {self.sound_ms.get(item_id, 0)}ms is already shorter than {audio_end_ms}ms",
                code="invalid_value",
                param="audio_end_ms",
            )
        self.sound_ms[item_id] = audio_end_ms
        for part in item["content"]:
            part.pop("transcript", None)

    def shown(self, item: Item) -> Item:
        """The item as events carry it: without sound, which its deltas carried or the client sent."""
        shown = deepcopy(item)
        for part in shown.get("content", ()):
            part.pop("audio", None)
        return shown

    def _index(self, item_id: str, param: str, code: str = "item_not_found") -> int:
        for index, item in enumerate(self.items):
            if item["id"] == item_id:
                return index
        raise RefusedError(f"Item with item_id '{item_id}' not found.", code=code, param=param)


def _check(item: Item) -> None:
    if item["type"] != "message":
        return
    allowed = _CONTENT[item["role"]]
    for number, part in enumerate(item["content"]):
        if part.get("type") not in allowed:
            raise RefusedError(
                f"Invalid value: '{part.get('type')}'. Supported values are: {', '.join(allowed)}.",
                code="invalid_value",
                param=f"item.content[{number}].type",
            )
