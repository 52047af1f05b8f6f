//! Checks that the pages under `docs/` match the code.
//!
//! `UPDATE_DOCS=1 cargo test -p recount-message --test documentation` regenerates the generated parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use recount_message::schema::{self, first_sentence};
use recount_message::{Field, Record, Shape};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a file with its expected content, or writes it if `UPDATE_DOCS` is set.
fn check_generated(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, expected).unwrap();
    }
    assert_eq!(read(path), expected, "{} is out of date: run with UPDATE_DOCS=1", path.display());
}

/// Replaces the text between `<!-- generated: name -->` and `<!-- end -->` in a page.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let open = format!("<!-- generated: {name} -->\n");
    let (before, rest) = page.split_once(&open).unwrap_or_else(|| panic!("the page has no part {name}"));
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{open}\n{part}\n<!-- end -->{after}")
}

#[test]
fn protocol_page_lists_all_declared_types() {
    let path = root().join("docs/protocol.md");
    let mut page = read(&path);
    page = with_part(&page, "events", &tables(&schema::events()));
    page = with_part(&page, "blocks", &tables(&schema::blocks()));
    page = with_part(&page, "messages", &tables(&schema::messages()));
    page = with_part(&page, "signals", &signals());
    check_generated(&path, &page);
}

#[test]
fn json_schema_matches_declarations() {
    check_generated(&root().join("docs/schema.json"), &schema::json_schema());
}

fn tables(records: &[Record]) -> String {
    let mut out = String::new();
    for record in records {
        let title = record.tag.unwrap_or(record.name);
        writeln!(out, "#### `{title}`\n\n{}\n", first_sentence(record.doc)).unwrap();
        writeln!(out, "| field | value | meaning |\n|---|---|---|").unwrap();
        for Field { name, shape, required, doc } in &record.fields {
            let default = if *required { "" } else { " (optional)" };
            writeln!(out, "| `{name}` | {}{default} | {doc} |", describe(shape)).unwrap();
        }
        if let Some(example) = record.example {
            writeln!(out, "\n```json\n{example}\n```").unwrap();
        }
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

fn describe(shape: &Shape) -> String {
    match shape {
        Shape::String => "string".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer => "non-negative integer".to_owned(),
        Shape::Object => "object".to_owned(),
        Shape::Enum(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Record(name) => (*name).to_owned(),
        Shape::OneOf(shapes) => shapes.iter().map(describe).collect::<Vec<_>>().join(" or "),
        Shape::Array(item) => format!("array of {}", describe(item)),
        Shape::Nullable(inner) => format!("{} or null", describe(inner)),
        other => panic!("{other:?} has no description"),
    }
}

fn signals() -> String {
    let names = schema::custom_names().iter().map(|name| format!("- `{name}`"));
    names.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn tests_named_on_compatibility_page_exist() {
    let page = read(&root().join("docs/compatibility.md"));
    let mut named = 0;
    for reference in page.split('`').filter(|code| code.contains(".rs::") || code.contains(".ts::")) {
        let (file, test) = reference.split_once("::").unwrap();
        let found = [
            "crates/recount-message/tests",
            "crates/recount/tests",
            "crates/recount-message/src",
            "crates/recount-cli/tests",
            "clients/typescript/test",
            "crates/recount-model/tests",
            "crates/recount-agent/tests",
        ]
        .iter()
        .map(|folder| root().join(folder).join(file))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{file} does not exist"));
        let written = if file.ends_with(".ts") { format!("\"{test}\"") } else { format!("fn {test}(") };
        assert!(read(&found).contains(&written), "{file} has no test {test}");
        named += 1;
    }
    assert!(named > 50, "the page names only {named} tests");
}

#[test]
fn index_lists_every_page() {
    let docs = root().join("docs");
    let index = read(&docs.join("llms.txt"));
    let pages: BTreeSet<String> = std::fs::read_dir(&docs)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "llms.txt")
        .collect();
    let missing: Vec<&String> = pages.iter().filter(|page| !index.contains(page.as_str())).collect();
    assert!(missing.is_empty(), "docs/llms.txt does not list {missing:?}");
}
