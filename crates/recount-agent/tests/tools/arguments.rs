use pretty_assertions::assert_eq;
use recount_agent::tool::arguments;

use super::support::echo;

/// Reads arguments for a schema: what the tool gets, and what is told of repairs.
#[track_caller]
fn check(schema: &str, input: &str, expected: &str, repairs: &[&str]) {
    let read = arguments::parse(input, &echo(schema)).unwrap();
    assert_eq!(read.object.to_json(), expected, "{input}");
    assert_eq!(read.repaired.iter().map(ToString::to_string).collect::<Vec<_>>(), repairs, "{input}");
}

#[track_caller]
fn refused(schema: &str, input: &str, expected: &str) {
    let error = arguments::parse(input, &echo(schema)).unwrap_err();
    assert_eq!(error.to_string(), format!("invalid arguments for `echo`: {expected}"), "{input}");
}

const ANY: &str = r#"{"type":"object"}"#;

/// What AgentScope Python takes, and what it refuses.
#[test]
fn the_reference_takes_and_refuses_the_same() {
    check(ANY, "", "{}", &[]);
    check(ANY, r#"{"x": "hel"#, r#"{"x":"hel"}"#, &["the truncated text was closed"]);
    let integer = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    check(integer, r#"{"n": "42"}"#, r#"{"n":42}"#, &[r#"`"42"` became `42` (at $.n)"#]);
    refused(ANY, "[1,2]", "expected an object, found an array: send one JSON object");
    refused(ANY, "this is not json", "expected an object at character 1: send one JSON object");
    refused(integer, r#"{"q": 1}"#, "\"n\" is a required property (at $)");
}

#[test]
fn what_is_right_stays_as_it_is() {
    let schema = r#"{"type":"object","properties":{"n":{"type":["string","integer"]},"f":{"type":"number"}}}"#;
    check(
        schema,
        r#"{"n": "42", "f": 25.0, "id": 12345678901234567890123}"#,
        r#"{"n":"42","f":25.0,"id":12345678901234567890123}"#,
        &[],
    );
}

#[test]
fn strings_become_what_they_tell_of() {
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
    refused(schema, r#"{"integer": "4.5"}"#, "4.5 is not of type \"integer\" (at $.integer)");
    refused(schema, r#"{"integer": "four"}"#, "\"four\" is not of type \"integer\" (at $.integer)");
    refused(schema, r#"{"boolean": 1}"#, "1 is not of type \"boolean\" (at $.boolean)");
    refused(schema, r#"{"object": "[]"}"#, "\"[]\" is not of type \"object\" (at $.object)");
}

#[test]
fn one_value_becomes_a_list() {
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
fn numbers_become_text_as_they_were_written() {
    let schema = r#"{"type":"object","properties":{"zip":{"type":"string"}}}"#;
    check(
        schema,
        r#"{"zip": 12345678901234567890.10}"#,
        r#"{"zip":"12345678901234567890.10"}"#,
        &[r#"`12345678901234567890.10` became `"12345678901234567890.10"` (at $.zip)"#],
    );
    refused(schema, r#"{"zip": {"a": 1}}"#, "{\"a\":1} is not of type \"string\" (at $.zip)");
}

#[test]
fn null_is_left_out_where_it_may_be() {
    let schema =
        r#"{"type":"object","properties":{"unit":{"type":"string"},"city":{"type":"string"}},"required":["city"]}"#;
    check(schema, r#"{"city": "Paris", "unit": null}"#, r#"{"city":"Paris"}"#, &["`null` was left out (at $.unit)"]);
    refused(schema, r#"{"city": null}"#, "\"city\" is a required property (at $)");
}

#[test]
fn alternatives_and_references_are_followed() {
    let schema = r##"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/A"}]}},
        "$defs":{"A":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}"##;
    check(schema, r#"{"a": {"n": "7"}}"#, r#"{"a":{"n":7}}"#, &[r#"`"7"` became `7` (at $.a.n)"#]);
    check(schema, r#"{"a": "null"}"#, r#"{"a":null}"#, &[r#"`"null"` became `null` (at $.a)"#]);
    // Of two ways to be wrong, the one that is nearly right is told of.
    refused(schema, r#"{"a": {"n": "x"}}"#, "\"x\" is not of type \"integer\" (at $.a.n)");
    let choice = r#"{"type":"object","properties":{"level":{"enum":[1,2,"high"]},"version":{"const":"2"}}}"#;
    check(
        choice,
        r#"{"level": "2", "version": 2}"#,
        r#"{"level":2,"version":"2"}"#,
        &[r#"`"2"` became `2` (at $.level)"#, r#"`2` became `"2"` (at $.version)"#],
    );
}

#[test]
fn of_a_repeated_key_the_last_one_counts() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object"}}}"#;
    check(
        schema,
        r#"{"a": {"x": 1, "x": 2}, "b": 1, "b": 3}"#,
        r#"{"a":{"x":2},"b":3}"#,
        &["of a repeated key the last one counts (at $.a.x)", "of a repeated key the last one counts (at $.b)"],
    );
}

#[test]
fn a_schema_that_cannot_be_met_ends() {
    let schema = r#"{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}"#;
    assert!(arguments::parse(r#"{"a": "1"}"#, &echo(schema)).is_err());
}

#[test]
fn mistakes_are_told_in_short() {
    let schema = r#"{"type":"object","additionalProperties":{"type":"boolean"}}"#;
    let many: Vec<String> = (0..9).map(|index| format!("\"k{index}\": 1")).collect();
    let error = arguments::parse(&format!("{{{}}}", many.join(",")), &echo(schema)).unwrap_err().to_string();
    assert!(error.ends_with("(at $.k4); and 4 more"), "{error}");
    let long = format!(r#"{{"a b": "{}"}}"#, "x".repeat(100_000));
    let error = arguments::parse(&long, &echo(schema)).unwrap_err().to_string();
    assert!(error.len() < 500 && error.ends_with("… (at $[\"a b\"])"), "{error}");
    refused(schema, r#"{"a": 1e400}"#, "the number 1e400 is too large (at $)");
}
