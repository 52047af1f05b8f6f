use pretty_assertions::assert_eq;
use recount_agent::tool::arguments;

use super::support::echo;

/// Parses arguments for a schema, and compares the result and the repairs.
#[track_caller]
fn check(schema: &str, input: &str, expected: &str, repairs: &[&str]) {
    let parsed = arguments::parse(input, &echo(schema)).unwrap();
    assert_eq!(parsed.object.to_json(), expected, "{input}");
    assert_eq!(parsed.repaired.iter().map(ToString::to_string).collect::<Vec<_>>(), repairs, "{input}");
}

#[track_caller]
fn rejected(schema: &str, input: &str, expected: &str) {
    let error = arguments::parse(input, &echo(schema)).unwrap_err();
    assert_eq!(error.to_string(), format!("invalid arguments for `echo`: {expected}"), "{input}");
}

const ANY: &str = r#"{"type":"object"}"#;

/// Input that AgentScope Python accepts or rejects.
#[test]
fn parse_agrees_with_agentscope() {
    check(ANY, "", "{}", &[]);
    check(ANY, r#"{"x": "hel"#, r#"{"x":"hel"}"#, &["the truncated text was closed"]);
    let integer = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    check(integer, r#"{"n": "42"}"#, r#"{"n":42}"#, &[r#"`"42"` became `42` (at $.n)"#]);
    rejected(ANY, "[1,2]", "expected an object, found an array: send one JSON object");
    rejected(ANY, "this is not json", "expected an object at character 1: send one JSON object");
    rejected(integer, r#"{"q": 1}"#, "\"n\" is a required property (at $)");
}

#[test]
fn valid_arguments_are_unchanged() {
    let schema = r#"{"type":"object","properties":{"n":{"type":["string","integer"]},"f":{"type":"number"}}}"#;
    check(
        schema,
        r#"{"n": "42", "f": 25.0, "id": 12345678901234567890123}"#,
        r#"{"n":"42","f":25.0,"id":12345678901234567890123}"#,
        &[],
    );
}

#[test]
fn strings_are_parsed_to_expected_types() {
    let schema = r#"{"type":"object","properties":{
        "integer":{"type":"integer"},"number":{"type":"number"},"boolean":{"type":"boolean"},
        "object":{"type":"object"},"array":{"type":"array","items":{"type":"integer"}},"nullable":{"type":["integer","null"]}}}"#;
    check(schema, r#"{"number": " 1.50 "}"#, r#"{"number":1.50}"#, &[r#"`" 1.50 "` became `1.50` (at $.number)"#]);
    check(schema, r#"{"boolean": "True"}"#, r#"{"boolean":true}"#, &[r#"`"True"` became `true` (at $.boolean)"#]);
    check(schema, r#"{"nullable": "null"}"#, r#"{"nullable":null}"#, &[r#"`"null"` became `null` (at $.nullable)"#]);
    check(
        schema,
        r#"{"object": "{\"a\": 1}"}"#,
        r#"{"object":{"a":1}}"#,
        &[r#"`"{\"a\": 1}"` became `{"a":1}` (at $.object)"#],
    );
    rejected(schema, r#"{"integer": "4.5"}"#, "4.5 is not of type \"integer\" (at $.integer)");
    rejected(schema, r#"{"integer": "four"}"#, "\"four\" is not of type \"integer\" (at $.integer)");
    rejected(schema, r#"{"boolean": 1}"#, "1 is not of type \"boolean\" (at $.boolean)");
    rejected(schema, r#"{"object": "[]"}"#, "\"[]\" is not of type \"object\" (at $.object)");
}

#[test]
fn single_value_is_wrapped_in_list() {
    let schema = r#"{"type":"object","properties":{"tags":{"type":"array","items":{"type":"integer"}}}}"#;
    check(schema, r#"{"tags": 1}"#, r#"{"tags":[1]}"#, &["`1` became `[1]` (at $.tags)"]);
    check(
        schema,
        r#"{"tags": "[1, \"2\"]"}"#,
        r#"{"tags":[1,2]}"#,
        &[r#"`"[1, \"2\"]"` became `[1,"2"]` (at $.tags)"#, r#"`"2"` became `2` (at $.tags[1])"#],
    );
    let objects = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}"#;
    check(objects, r#"{"a": {"b": 1}}"#, r#"{"a":[{"b":1}]}"#, &[r#"`{"b":1}` became `[{"b":1}]` (at $.a)"#]);
}

#[test]
fn number_becomes_string_with_exact_digits() {
    let schema = r#"{"type":"object","properties":{"zip":{"type":"string"}}}"#;
    check(
        schema,
        r#"{"zip": 12345678901234567890.10}"#,
        r#"{"zip":"12345678901234567890.10"}"#,
        &[r#"`12345678901234567890.10` became `"12345678901234567890.10"` (at $.zip)"#],
    );
    rejected(schema, r#"{"zip": {"a": 1}}"#, "{\"a\":1} is not of type \"string\" (at $.zip)");
}

#[test]
fn null_of_optional_property_is_removed() {
    let schema =
        r#"{"type":"object","properties":{"unit":{"type":"string"},"city":{"type":"string"}},"required":["city"]}"#;
    check(schema, r#"{"city": "Paris", "unit": null}"#, r#"{"city":"Paris"}"#, &["`null` was removed (at $.unit)"]);
    rejected(schema, r#"{"city": null}"#, "\"city\" is a required property (at $)");
}

#[test]
fn coercion_resolves_alternatives_and_references() {
    let schema = r##"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/A"}]}},
        "$defs":{"A":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}"##;
    check(schema, r#"{"a": {"n": "7"}}"#, r#"{"a":{"n":7}}"#, &[r#"`"7"` became `7` (at $.a.n)"#]);
    check(schema, r#"{"a": "null"}"#, r#"{"a":null}"#, &[r#"`"null"` became `null` (at $.a)"#]);
    // The violations of the closest alternative are reported.
    rejected(schema, r#"{"a": {"n": "x"}}"#, "\"x\" is not of type \"integer\" (at $.a.n)");
    let choice = r#"{"type":"object","properties":{"level":{"enum":[1,2,"high"]},"version":{"const":"2"}}}"#;
    check(
        choice,
        r#"{"level": "2", "version": 2}"#,
        r#"{"level":2,"version":"2"}"#,
        &[r#"`"2"` became `2` (at $.level)"#, r#"`2` became `"2"` (at $.version)"#],
    );
}

#[test]
fn last_value_of_repeated_key_is_kept() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object"}}}"#;
    check(
        schema,
        r#"{"a": {"x": 1, "x": 2}, "b": 1, "b": 3}"#,
        r#"{"a":{"x":2},"b":3}"#,
        &["the last value of a repeated key was kept (at $.a.x)", "the last value of a repeated key was kept (at $.b)"],
    );
}

#[test]
fn unsatisfiable_schema_terminates() {
    let schema = r#"{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}"#;
    assert!(arguments::parse(r#"{"a": "1"}"#, &echo(schema)).is_err());
}

#[test]
fn violations_are_limited_and_truncated() {
    let schema = r#"{"type":"object","additionalProperties":{"type":"boolean"}}"#;
    let many: Vec<String> = (0..9).map(|index| format!("\"k{index}\": 1")).collect();
    let error = arguments::parse(&format!("{{{}}}", many.join(",")), &echo(schema)).unwrap_err().to_string();
    assert!(error.ends_with("(at $.k4); and 4 more"), "{error}");
    let long = format!(r#"{{"a b": "{}"}}"#, "x".repeat(100_000));
    let error = arguments::parse(&long, &echo(schema)).unwrap_err().to_string();
    assert!(error.len() < 500 && error.ends_with("… (at $[\"a b\"])"), "{error}");
    rejected(schema, r#"{"a": 1e400}"#, "the number 1e400 is too large (at $)");
}
