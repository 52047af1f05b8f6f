use super::*;

#[track_caller]
fn check(input: &str, expected: &str, repairs: &[Repair]) {
    let read = parse_object(input).unwrap();
    assert_eq!(read.object.to_json(), expected, "{input}");
    assert_eq!(read.repairs, repairs, "{input}");
}

#[track_caller]
fn check_error(input: &str, expected: &str) {
    assert_eq!(parse_object(input).unwrap_err().to_string(), expected, "{input}");
}

#[test]
fn valid_json_is_unchanged() {
    check(
        r#"{"a": 25.0, "b": 12345678901234567890123, "a": 1}"#,
        r#"{"a":25.0,"b":12345678901234567890123,"a":1}"#,
        &[],
    );
    check("", "{}", &[]);
    check(" \n", "{}", &[]);
}

#[test]
fn closes_truncated_json() {
    let check = |input, expected| check(input, expected, &[Repair::Truncated]);
    check(r#"{"city": "Par"#, r#"{"city":"Par"}"#);
    check(r#"{"city": "Par\"#, r#"{"city":"Par"}"#);
    check(r#"{"city": "Par\u00e"#, r#"{"city":"Par"}"#);
    check(r#"{"city": "Par\ud83c"#, r#"{"city":"Par"}"#);
    check(r#"{"city": "Par\ud83c\u"#, r#"{"city":"Par"}"#);
    check(r#"{"city": "Par\ud83c\udf0d"#, r#"{"city":"Par🌍"}"#);
    check(r#"{"city": "Paris", "un"#, r#"{"city":"Paris"}"#);
    check(r#"{"city": "Paris", "unit""#, r#"{"city":"Paris"}"#);
    check(r#"{"city": "Paris", "unit":"#, r#"{"city":"Paris"}"#);
    check(r#"{"city": "Paris", "unit": tr"#, r#"{"city":"Paris"}"#);
    check(r#"{"city": "Paris", "unit": true"#, r#"{"city":"Paris","unit":true}"#);
    check(r#"{"city": "Paris","#, r#"{"city":"Paris"}"#);
    check(r#"{"a": {"b": [1, 2, {"c": "d"#, r#"{"a":{"b":[1,2,{"c":"d"}]}}"#);
    check(r#"{"a": [1, 2,"#, r#"{"a":[1,2]}"#);
    check(r#"{"a": [1, 2"#, r#"{"a":[1,2]}"#);
    check(r#"{"a": [1, fal"#, r#"{"a":[1]}"#);
    check(r#"{"a": 12."#, r#"{"a":12}"#);
    check(r#"{"a": 12e-"#, r#"{"a":12}"#);
    check(r#"{"a": -"#, "{}");
    check(r#"{"a": [], "b": {"#, r#"{"a":[],"b":{}}"#);
    check("{", "{}");
    check(r#"{"ci"#, "{}");
}

#[test]
fn removes_surrounding_text() {
    check("```json\n{\"a\": 1}\n```", r#"{"a":1}"#, &[Repair::SurroundingText]);
    check("```\n{\"a\": 1}", r#"{"a":1}"#, &[Repair::SurroundingText]);
    check(r#"{"a": 1} and so on"#, r#"{"a":1}"#, &[Repair::SurroundingText]);
    check(r#"{"a": 1}}"#, r#"{"a":1}"#, &[Repair::SurroundingText]);
    check("\u{feff}{\"a\": 1,}", r#"{"a":1}"#, &[Repair::Whitespace, Repair::TrailingComma]);
    check(r#""{\"a\": 1}""#, r#"{"a":1}"#, &[Repair::StringWrapped]);
}

#[test]
fn converts_python_literals() {
    let python = "{'city': 'Paris', 'ok': True, 'no': False, 'unit': None}";
    let json = r#"{"city":"Paris","ok":true,"no":false,"unit":null}"#;
    check(python, json, &[Repair::NonStandardQuotes, Repair::PythonLiteral]);
    check(r"{'a': 'it\'s'}", r#"{"a":"it's"}"#, &[Repair::NonStandardQuotes, Repair::Escape]);
    check(r#"{'a': 'say "hi"'}"#, r#"{"a":"say \"hi\""}"#, &[Repair::NonStandardQuotes]);
}

#[test]
fn converts_javascript_literals() {
    check("{city: 1, $x_2: [1, 2,],}", r#"{"city":1,"$x_2":[1,2]}"#, &[Repair::UnquotedKey, Repair::TrailingComma]);
    check("{\"a\": 1, // one\n \"b\": /* two */ 2}", r#"{"a":1,"b":2}"#, &[Repair::Comment]);
    check(r#"{"a": +1, "b": .5, "c": -.5, "d": 5.}"#, r#"{"a":1,"b":0.5,"c":-0.5,"d":5}"#, &[Repair::Number]);
}

#[test]
fn escapes_strings() {
    check("{\"a\": \"x\ny\"}", r#"{"a":"x\ny"}"#, &[Repair::ControlCharacter]);
    check(r#"{"a": "\d+ C:\new \u12"}"#, r#"{"a":"\\d+ C:\new \\u12"}"#, &[Repair::Escape]);
    check(r#"{"a": "\ud83c x \udf0d"}"#, "{\"a\":\"\u{fffd} x \u{fffd}\"}", &[Repair::Escape]);
    check("{\u{201c}a\u{201d}: \u{201c}b\u{201d}}", r#"{"a":"b"}"#, &[Repair::NonStandardQuotes]);
}

#[test]
fn rejects_ambiguous_text() {
    check_error(r#"{"a": "say "hi" to them"}"#, "expected `,` or `}`, found `h` at character 13");
    check_error(r#"{"a": 1}{"a": 2}"#, "unexpected text after the object at character 9");
    check_error(r#"{"a": 1 "b": 2}"#, "expected `,` or `}`, found `\"` at character 9");
    check_error(r#"{"a": 007}"#, "expected a value at character 7");
    check_error(r#"{"a": hello}"#, "expected a value at character 7");
    check_error(r#"{"a": NaN}"#, "expected a value at character 7");
    check_error(r#"{"a": 1,, "b": 2}"#, "expected a key at character 9");
    check_error(r#"{"a" 1}"#, "expected `:` after a key, found `1` at character 6");
}

#[test]
fn rejects_other_json_types() {
    check_error("[1, 2]", "expected an object, found an array");
    check_error("3", "expected an object, found a number");
    check_error("\"text\"", "expected an object, found a string");
    check_error("null", "expected an object, found null");
    check_error("true", "expected an object, found a boolean");
    check_error("this is not json", "expected an object at character 1");
}

#[test]
fn rejects_deep_nesting() {
    check_error(&"{\"a\":".repeat(200), "nesting deeper than 128 levels at character 641");
}
