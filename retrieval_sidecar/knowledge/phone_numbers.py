"""One reading of phone numbers: E.164 or nothing."""

import re
from urllib.parse import unquote

import phonenumbers

# The user of a SIP address, also within "name" <…>, without password and parameters (a host alone is no number, not
# even one of digits); the number of a tel URI.
_URI = re.compile(r"(?:[^<>]*<)?(?:sips?:(?:(?P<user>[^@:;?>]+)[^@>]*@)?|tel:(?P<number>[^;?>]*))", re.IGNORECASE)
_INTERNATIONAL_PREFIX = re.compile(r"^00(?=[1-9])")


def to_e164(raw: str | None, *, region: str | None = None) -> str | None:
    """The number as E.164, without its extension; None where it is not one: anonymous, a name, empty.

    A number without `+` or `00` belongs to no country by itself, so it needs a region: `8 701…` and `77012345678` are
    None without one, and so is a number whose `+` became a space in a query string.

    Args:
        raw: as the trunk gives it: `+1555…`, `001555…`, `sip:+1555…@host`, `tel:`, percent-encoded or not, digits of
            any script.
        region: ISO 3166 alpha-2, for numbers written without a country code.
    """
    if not raw:
        return None
    text = raw.strip()
    if wrapped := _URI.match(text):
        text = wrapped["user"] or wrapped["number"] or ""
    text = _INTERNATIONAL_PREFIX.sub("+", unquote(text).strip())
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    # Not those that can only be dialled locally: the same digits are another line elsewhere.
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
