"""What the responder says of itself, in the caller's language. Facts never come from here."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Phrases:
    greeting: str
    thanks: str
    goodbye: str
    anything_else: str
    not_known: str  # it was looked up, and it is not there, or not for this line
    not_now: str  # it could not be looked up, which says nothing of whether it is there
    person: str  # said after either
    no_tool: str  # asked without any way to look things up
    say_again: str


ENGLISH: Final = Phrases(
    greeting="Hello. What would you like to know?",
    thanks="You're welcome. Is there anything else?",
    goodbye="Thank you for calling. Goodbye.",
    anything_else="All right. What else would you like to know?",
    not_known="I'm sorry, that isn't in the information I have, and I don't want to guess.",
    not_now="I'm sorry, I can't look that up just now, so I can't tell you either way.",
    person="A person on our team can help you with it.",
    no_tool="I'm sorry, I have no way to look that up in this conversation.",
    say_again="I'm sorry, I didn't catch that. Could you say it again, in a few words?",
)

_BY_LANGUAGE: Final[dict[str, Phrases]] = {
    "ru": Phrases(
        greeting="Здравствуйте. Что вы хотите узнать?",
        thanks="Пожалуйста. Могу ли я помочь ещё чем-нибудь?",
        goodbye="Спасибо за звонок. До свидания.",
        anything_else="Хорошо. Что ещё вы хотите узнать?",
        not_known="К сожалению, этого нет в моих сведениях, а гадать я не хочу.",
        not_now="К сожалению, сейчас я не могу это проверить, поэтому ничего не скажу.",
        person="Вам может помочь наш сотрудник.",
        no_tool="К сожалению, в этом разговоре мне негде это проверить.",
        say_again="Простите, не расслышал. Повторите, пожалуйста, в нескольких словах.",
    ),
    "kk": Phrases(
        greeting="Сәлеметсіз бе. Не білгіңіз келеді?",
        thanks="Оқасы жоқ. Тағы не керек?",
        goodbye="Қоңырау шалғаныңызға рахмет. Сау болыңыз.",
        anything_else="Жақсы. Тағы не білгіңіз келеді?",
        not_known="Кешіріңіз, менде ондай мәлімет жоқ, болжап айтқым келмейді.",
        not_now="Кешіріңіз, қазір оны тексере алмаймын, сондықтан ештеңе айта алмаймын.",
        person="Сізге қызметкеріміз көмектесе алады.",
        no_tool="Кешіріңіз, бұл сөйлесуде оны тексере алмаймын.",
        say_again="Кешіріңіз, естімей қалдым. Қысқаша қайталап жіберіңізші.",
    ),
    "ar": Phrases(
        greeting="مرحبا. ماذا تريد أن تعرف؟",
        thanks="على الرحب والسعة. هل من شيء آخر؟",
        goodbye="شكرا لاتصالك. مع السلامة.",
        anything_else="حسنا. ماذا تريد أن تعرف أيضا؟",
        not_known="عذرا، هذا ليس ضمن المعلومات المتوفرة لدي ولا أريد أن أخمن.",
        not_now="عذرا، لا أستطيع البحث عن ذلك الآن، فلا يمكنني أن أجيبك.",
        person="يمكن لأحد موظفينا مساعدتك في ذلك.",
        no_tool="عذرا، ليس لدي وسيلة للبحث عن ذلك في هذه المحادثة.",
        say_again="عذرا، لم أسمع جيدا. هل يمكنك الإعادة بكلمات قليلة؟",
    ),
}


def phrases_for(language: str) -> Phrases:
    """Phrases of a voice name as `spoken.pieces` gives it; English for any other."""
    return _BY_LANGUAGE.get(language, ENGLISH)
