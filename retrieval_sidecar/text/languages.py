"""Which language a text is in, and which of its words carry no meaning."""

from functools import cache

import stopwordsiso
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from retrieval_sidecar.text.normalize import for_embedding, words

# Telephone questions are short, and an identifier that may answer with any of a hundred languages is often wrong on
# them. These are the languages with stop words and a measured embedding mean.
SUPPORTED = ("ar", "de", "en", "es", "fr", "hi", "it", "kk", "pt", "ru", "tr", "uk", "ur", "zh")


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(SUPPORTED))
    return identifier


def detect(text: str, *, default: str) -> str:
    """The language of a text as an ISO 639-1 code; `default` where the text does not tell."""
    cleaned = for_embedding(text)
    if not any(char.isalpha() for char in cleaned):
        return default
    language, confidence = _identifier().classify(cleaned)
    return str(language) if confidence >= _SURE else default


_SURE = 0.5


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words of a language that say nothing about what is asked, folded as the keyword leg folds."""
    if not stopwordsiso.has_lang(language):
        return frozenset()
    return frozenset(word for entry in stopwordsiso.stopwords(language) for word in words(entry))
