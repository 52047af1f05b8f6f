"""JSON values for free-form content, such as metadata.

They are texts, because their spelling is tested.
"""

from __future__ import annotations

from collections.abc import Iterator


def free_values() -> Iterator[tuple[str, str]]:
    """Return the name and the JSON text of each value."""
    yield from _numbers().items()
    yield from _depths()
    yield from {
        "null": "null",
        "true": "true",
        "empty-object": "{}",
        "empty-list": "[]",
        "mixed-list": '[1,"a",null,true,[],{},1.5]',
        "nested-objects": '{"a":{"b":{"c":[{"d":null}]}}}',
        "key-order": '{"z":1,"a":2,"m":3}',
        "key-twice": '{"a":1,"b":2,"a":3}',
        "key-empty": '{"":""}',
        "key-escaped": r'{"\u00e9\ud83d\ude00":1}',
        "key-lone-surrogate": r'{"\ud800":1}',
        "text-escaped": r'"\u00e9\u0041\/\ud83d\ude00\u2028"',
        "text-lone-surrogate": r'"\ud800"',
        "text-lone-low-surrogate": r'"\udc00"',
        "white-space": '{ "a" : [ 1 , 2 ] }',
    }.items()


def _numbers() -> dict[str, str]:
    return {
        "number-25.0": "25.0",
        "number-1.0E-4": "1.0E-4",
        "number-1.0e-5": "1.0e-5",
        "number-1e400": "1e400",
        "number-minus-1e400": "-1e400",
        "number-1e-400": "1e-400",
        "number-1E5": "1E5",
        "number-1e15": "1e15",
        "number-1e16": "1e16",
        "number-1e22": "1e+22",
        "number-0.1": "0.1",
        "number-0.10": "0.10",
        "number-long-fraction": "0.1000000000000000055511151231257827",
        "number-largest": "1.7976931348623157e308",
        "number-smallest": "5e-324",
        "number-zero-exponent": "0e0",
        "number-minus-zero": "-0",
        "number-minus-zero-float": "-0.0",
        "number-i64-max": "9223372036854775807",
        "number-i64-max-plus-1": "9223372036854775808",
        "number-i64-min": "-9223372036854775808",
        "number-u64-max-plus-1": "18446744073709551616",
        "number-2-to-53-plus-1": "9007199254740993",
        "number-30-digits": "123456789012345678901234567890",
        "number-minus-30-digits": "-123456789012345678901234567890",
        "number-30-digits-float": "123456789012345678901234567890.0",
        # The interpreter converts at most 4300 digits.
        "number-4300-digits": "7" * 4300,
        "number-4301-digits": "7" * 4301,
        "number-leading-zero": "01",
        "number-leading-plus": "+1",
        "number-bare-point": "1.",
        "number-no-integer": ".5",
        "number-hexadecimal": "0x1",
        "number-NaN": "NaN",
        "number-Infinity": "Infinity",
        "number-minus-Infinity": "-Infinity",
        "number-inf": "inf",
    }


def _depths() -> Iterator[tuple[str, str]]:
    """Nested lists and objects. The parser has a limit near 200."""
    for depth in (2, 127, 128, 129, 130, 199, 200):
        yield f"depth-{depth:03}-lists", "[" * depth + "]" * depth
        yield f"depth-{depth:03}-objects", '{"a":' * depth + "1" + "}" * depth
