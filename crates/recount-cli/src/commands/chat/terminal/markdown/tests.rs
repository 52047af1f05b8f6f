#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[track_caller]
fn check(source: &str, expected: &str) {
    let lines = render(source, 40, Paint { has_color: false });
    pretty_assertions::assert_eq!(lines.join("\n"), expected);
}

#[test]
fn blocks_are_separated_by_an_empty_line() {
    check(
        "# Title\nText that is *long* enough to be broken into lines.",
        "# Title\n\nText that is *long* enough to be broken\ninto lines.",
    );
    check("one\n\ntwo\n\n---\n\nthree", "one\n\ntwo\n\n────────────────────────────────────────\n\nthree");
}

#[test]
fn lists_are_indented() {
    check("- one\n- two\n  - inner\n- three", "- one\n- two\n  - inner\n- three");
    check(
        "3. one\n4. a line that has to be broken because it is long\n\nAfter.",
        "3. one\n4. a line that has to be broken because\n   it is long\n\nAfter.",
    );
    check("- one\n\n  more of one\n- two", "- one\n\n  more of one\n- two");
    check("- [x] done\n- [ ] not\n-", "- [x] done\n- [ ] not\n- ");
}

#[test]
fn code_blocks_keep_their_lines() {
    check("```rust\nfn main() {}\n\n    let a = 1;\n```\n", "```rust\nfn main() {}\n\n    let a = 1;\n```");
    check("- item\n  ```\n  code\n  ```", "- item\n  ```\n  code\n  ```");
    check("use `x` and <b>html</b>", "use `x` and <b>html</b>");
}

#[test]
fn quotes_tables_and_links_are_rendered() {
    check("> said\n> somebody\n\nAnswer", "│ said somebody\n\nAnswer");
    check("| a | long |\n|---|---|\n| 1 | 2 |", "a │ long\n──┼─────\n1 │ 2");
    check("[docs](https://a.b) <https://c.d> ![cat](cat.png)", "docs (https://a.b) https://c.d image:\ncat (cat.png)");
}

#[test]
fn styles_use_escape_sequences_with_color() {
    let lines = render("**bold** and `code`", 40, Paint { has_color: true });
    assert_eq!(lines, ["\x1b[1mbold\x1b[0m and \x1b[36m`code`\x1b[0m"]);
}

#[test]
fn last_block_returns_offset_of_unfinished_block() {
    for (source, rest) in [
        ("", ""),
        ("one", "one"),
        ("one\n\ntwo", "two"),
        ("- a\n- b\n\n- c", "- a\n- b\n\n- c"),
        ("text\n```\ncode\n\nmore", "```\ncode\n\nmore"),
        ("text\n\n    code", "    code"),
        ("| a |\n|---|\n|", "| a |\n|---|\n|"),
        ("| a |\n|---|\n| 1 |\n\n|", "|"),
    ] {
        assert_eq!(source.get(last_block(source)..).unwrap(), rest, "{source:?}");
    }
}

/// Rendering stays fast for pathological input.
#[test]
fn long_and_deep_texts_are_rendered() {
    let deep = format!("{}deep", "> ".repeat(5_000));
    let lines = render(&deep, 40, Paint { has_color: false });
    assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");

    let paint = Paint { has_color: false };
    let mut text = super::super::prose::MarkdownText::default();
    text.push("```text\n");
    let mut lines = Vec::new();
    for number in 0..5_000 {
        text.push(&format!("line {number}\n"));
        lines.extend(text.take_done(40, paint));
    }
    lines.extend(text.take_rest(40, paint));
    let shown: Vec<&String> = lines.iter().filter(|line| line.starts_with("line ")).collect();
    assert_eq!((shown.len(), shown[4_999].as_str()), (5_000, "line 4999"));
}

/// Streaming produces the same lines as rendering the whole text.
#[test]
fn streaming_renders_the_same_lines_as_the_whole_text() {
    let source = "# Title\n\nSome *text*.\n\n- one\n- two\n\n```\nlet a;\n\nlet b;\n```\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n\
                  text\n- three\n  1. four\n  2. five\n\nTitle\n=====\n\n***\nend\n";
    let paint = Paint { has_color: false };
    let whole = render(source, 40, paint);
    let mut text = super::super::prose::MarkdownText::default();
    let mut lines = Vec::new();
    for char in source.chars() {
        text.push(&char.to_string());
        lines.extend(text.take_done(40, paint));
    }
    lines.extend(text.take_rest(40, paint));
    pretty_assertions::assert_eq!(lines, whole);
}

#[test]
fn table_fits_available_width() {
    let source = "| Name | 数量 | Note |\n|---|---|---|\n| tea | 12 | green, and a rather long note that does not fit |\n| 咖啡 | 3 | black |\n";
    let paint = Paint { has_color: false };
    let wide = "\
Name │ 数量 │ Note
─────┼──────┼────────────────────────────────────────────────
tea  │ 12   │ green, and a rather long note that does not fit
咖啡 │ 3    │ black";
    assert_eq!(render(source, 80, paint).join("\n"), wide);
    let narrow = "\
Name │ 数量 │ Note
─────┼──────┼───────────────
tea  │ 12   │ green, and a
     │      │ rather long
     │      │ note that does
     │      │ not fit
咖啡 │ 3    │ black";
    assert_eq!(render(source, 28, paint).join("\n"), narrow);
    assert!(render(source, 12, paint).iter().all(|line| !line.is_empty()));
}
