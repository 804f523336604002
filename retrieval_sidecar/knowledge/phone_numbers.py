"""One reading of phone numbers: E.164 or nothing."""

import re

import phonenumbers

_SIP_USER = re.compile(r"^(?:sips?|tel):([^@;]*)")


def to_e164(raw: str | None, *, region: str | None = None) -> str | None:
    """The number as E.164; None where it is not one: anonymous, a name, empty.

    Args:
        raw: as the trunk gives it: `+1555…`, `sip:+1555…@host`, `tel:`, digits of any script.
        region: ISO 3166 alpha-2, for numbers written without a country code.
    """
    if not raw:
        return None
    text = raw.strip()
    if wrapped := _SIP_USER.match(text):
        text = wrapped[1]
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
