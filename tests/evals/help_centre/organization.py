"""The organization whose help centre it is: who answers which number, and what each may tell to whom."""

from typing import Any, Final
from uuid import UUID

from tests.evals.help_centre.centre import branch_folder, device_folder, material

ORGANIZATION_ID: Final = UUID("c0bbe21e-0f5a-4d0b-9a51-3f6e0c1d3143")
# Dialled numbers, by what their agents may tell.
EVERYTHING: Final = "+15555563100"
SELECTED_INSTRUCTIONS: Final = "+15555563101"
SELECTED_KNOWLEDGE: Final = "+15555563102"
FIVE_ITEMS: Final = "+15555563103"
ONE_FOLDER: Final = "+15555563104"
TENTH: Final = "+15555563105"
NOTHING_LEFT: Final = "+15555563106"
# Callers.
PARTNER: Final = "+15555563901"
EMPLOYEE: Final = "+15555563902"

# What the agents of a selection may tell: no question of another one's is answered by them.
SELECTED_FOLDERS: Final = (branch_folder("Basil Court"), device_folder("kitchen printer"))
FIVE: Final = (
    "waiter-code:alder-row",
    "terminal-pin:alder-row",
    "fault:card-terminal:refused-card",
    "guide:share:gift-card",
    "policy:overtime:now",
)
FOLDER: Final = branch_folder("Cedar Yard")
TENTH_FOLDERS: Final = tuple(branch_folder(branch) for branch in material()["branches"][:13])


def organization() -> dict[str, Any]:
    """What organization.yaml holds."""
    return {
        "organization": {
            "id": str(ORGANIZATION_ID),
            "name": "Copperleaf Kitchens",
            "time_zone": "Europe/Berlin",
            "default_language": "en",
            "language_fallbacks": {"kk": ["ru"]},
        },
        "segments": [{"key": "partners", "name": "Franchise partners"}],
        "contacts": [
            {"phone": PARTNER, "name": "Odran Pell", "segments": ["partners"]},
            {"phone": EMPLOYEE, "name": "Mika Tarn", "segments": []},
        ],
        "instruction_directories": [
            {"key": "cash", "name": "Cash"},
            {"key": "drawers", "name": "Drawers", "parent": "cash"},
            {"key": "guests", "name": "Guests"},
        ],
        "instructions": [
            _instruction(
                "short-drawer",
                "drawers",
                "A drawer is short after the shift",
                "If a caller reports that money is missing in the drawer after a shift, ask for the branch and the"
                " amount, and tell them that two people count again before anything is booked.",
            ),
            _instruction(
                "fake-note",
                "cash",
                "A banknote looks forged",
                "If a caller suspects a forged banknote, tell them to keep it apart, not to give it back to the guest,"
                " and to call the manager on duty.",
            ),
            _instruction(
                "angry-guest",
                "guests",
                "A guest threatens to leave a bad review",
                "If a guest threatens with a bad review, let the caller describe what happened and offer the guest a"
                " dessert; never offer money.",
            ),
            _instruction(
                "famous-guest",
                "guests",
                "A well-known guest is in the house",
                "If a well-known guest has come, no photographs are taken, and nobody tells the press that they"
                " are here.",
            ),
            _instruction("tone", "guests", "Tone", "Speak calmly and name the branch in each answer.", dynamic=True),
            _instruction(
                "unfinished",
                "cash",
                "Paying with crypto coins",
                "Crypto coins are taken from the spring on. Not agreed yet.",
                status="draft",
            ),
        ],
        "knowledge_bases": [
            {"key": "handbook", "name": "Handbook"},
            {"key": "support", "name": "Support"},
            {"key": "menu", "name": "Menu"},
        ],
        "agents": [
            _agent(1, "everything", EVERYTHING),
            _agent(2, "selected instructions", SELECTED_INSTRUCTIONS, instruction_scope={"directories": ["cash"]}),
            _agent(3, "selected knowledge", SELECTED_KNOWLEDGE, knowledge_scope={"folders": list(SELECTED_FOLDERS)}),
            _agent(4, "five items", FIVE_ITEMS, instruction_scope={}, knowledge_scope={"items": list(FIVE)}),
            _agent(5, "one folder", ONE_FOLDER, instruction_scope={}, knowledge_scope={"folders": [FOLDER]}),
            _agent(6, "a tenth", TENTH, instruction_scope={}, knowledge_scope={"folders": list(TENTH_FOLDERS)}),
            _agent(
                7,
                "nothing left",
                NOTHING_LEFT,
                instruction_scope={},
                knowledge_scope={"items": ["policy:overtime:draft"]},
            ),
        ],
    }


def _instruction(key: str, directory: str, title: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "directory": directory,
        "title": title,
        "content": content,
        "language": "en",
        "status": "published",
    } | more


def _agent(number: int, name: str, phone: str, **scope: Any) -> dict[str, Any]:
    return {
        "key": name.replace(" ", "-"),
        "id": f"c0bbe21e-0f5a-4d0b-9a51-{number:012d}",
        "name": name,
        "numbers": [phone],
        "language": "en",
        "greeting": "Copperleaf support. What can I do?",
        "prompt": "You answer the support telephone of a chain of restaurants. The callers work there.",
        "handoff_number": "+15555563999",
    } | scope
