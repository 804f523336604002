"""The agent's canned lines, by message key and language, for when no model phrases the answer.

The keys `knowledge.*` are the contract's. A language without lines of its own hears English.
"""

from typing import Final

_LINES: Final[dict[str, dict[str, str]]] = {
    "greeting": {
        "en": "Hello, how can I help you?",
        "ar": "مرحبًا، كيف يمكنني مساعدتك؟",
        "ru": "Здравствуйте! Чем могу помочь?",
    },
    "search.wait": {
        "en": "One moment.",
        "ar": "لحظة من فضلك.",
        "ru": "Одну минуту.",
    },
    "knowledge.no_match": {
        "en": "I'm sorry, I have no information on that.",
        "ar": "عذرًا، ليست لدي معلومات عن ذلك.",
        "ru": "К сожалению, у меня нет сведений об этом.",
    },
    "knowledge.scope_empty": {
        "en": "I'm sorry, I can't give information on that on this line.",
        "ar": "عذرًا، لا يمكنني تقديم معلومات عن ذلك عبر هذا الخط.",
        "ru": "К сожалению, по этой линии я не могу дать таких сведений.",
    },
    "knowledge.context_required": {
        "en": "Could you tell me a little more about what you need?",
        "ar": "هل يمكنك أن توضح لي أكثر ما تحتاج إليه؟",
        "ru": "Не могли бы вы уточнить, что именно вас интересует?",
    },
    "knowledge.unavailable": {
        "en": "I'm sorry, I can't look that up just now.",
        "ar": "عذرًا، لا يمكنني البحث عن ذلك في الوقت الحالي.",
        "ru": "К сожалению, сейчас я не могу это проверить.",
    },
    "knowledge.ask_again": {
        "en": "I'm sorry, could you say your question again?",
        "ar": "عذرًا، هل يمكنك إعادة سؤالك؟",
        "ru": "Извините, повторите, пожалуйста, ваш вопрос.",
    },
    "call.unknown_number": {
        "en": "I'm sorry, this number is not in service. Goodbye.",
        "ar": "عذرًا، هذا الرقم ليس في الخدمة. مع السلامة.",
        "ru": "Извините, этот номер не обслуживается. До свидания.",
    },
    "call.out_of_order": {
        "en": "I'm sorry, we can't take your call just now. Please try again later. Goodbye.",
        "ar": "عذرًا، لا يمكننا الرد على مكالمتك الآن. يرجى المحاولة لاحقًا. مع السلامة.",
        "ru": "Извините, сейчас мы не можем ответить. Пожалуйста, перезвоните позже. До свидания.",
    },
    "call.trouble": {
        "en": "I'm sorry, something went wrong. Could you say that again?",
        "ar": "عذرًا، حدث خطأ ما. هل يمكنك إعادة ما قلته؟",
        "ru": "Извините, произошла ошибка. Повторите, пожалуйста.",
    },
    "call.still_there": {
        "en": "Are you still there?",
        "ar": "هل ما زلت معي؟",
        "ru": "Вы ещё на линии?",
    },
    "call.goodbye": {
        "en": "Thank you for calling. Goodbye.",
        "ar": "شكرًا لاتصالك. مع السلامة.",
        "ru": "Спасибо за звонок. До свидания.",
    },
}


def line(key: str, language: str) -> str:
    """The line of that key in that language (ISO 639), or in English where there is none.

    Raises:
        KeyError: for a key that does not exist.
    """
    lines = _LINES[key]
    return lines.get(language, lines["en"])


def keys() -> frozenset[str]:
    """Every key that has lines."""
    return frozenset(_LINES)
