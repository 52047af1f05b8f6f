//! `recount show`.

use pretty_assertions::assert_eq;

use crate::run::{SAMPLE, cases, command, finish, recount};

/// A message with every kind of content and field.
const RICH: &str = r#"{"id":"m1","created_at":"2026-01-01T00:00:00Z","name":"Friday","role":"assistant","finished_at":"2026-01-01T00:01:05Z","finished_reason":"error","error":{"type":"rate_limit","message":"too much\ntoo fast"},"structured_output":{"goal":"tea","heat":100.0,"steps":["boil","pour"]},"usage":{"input_tokens":1200300,"output_tokens":1,"cache_creation_input_tokens":7},"content":[
{"type":"thinking","thinking":"Hm."},
{"type":"tool_call","id":"c1","name":"search","input":"{\"q\": 1.0, \"empty\": {}}","state":"finished"},
{"type":"tool_call","id":"c2","name":"shell","input":"{\"command\": \"rm -rf","state":"asking"},
{"type":"tool_call","id":"c3","name":"delete","input":"","state":"finished"},
{"type":"tool_result","id":"c3","name":"delete","output":"the user said no","state":"denied"},
{"type":"tool_result","id":"c1","name":"search","output":[{"type":"text","text":"not found"},{"type":"data","source":{"type":"url","url":"https://example.com/a.png","media_type":"image/png"}},{"type":"future","x":1}],"state":"error"},
{"type":"tool_result","id":"c9","name":"ghost","output":"who asked?","state":"success"},
{"type":"hint","hint":"The build is green.","source":"ci"},
{"type":"hint","hint":[{"type":"text","text":"Look:"},{"type":"data","name":"a.gif","source":{"type":"base64","data":"R0lGODlh","media_type":"image/gif"}}]},
{"type":"data","name":"notes.pdf","source":{"type":"base64","data":"AAAA","media_type":"application/pdf"}},
{"type":"chart","id":"x","points":[1.50,2]},
{"type":"text","text":""},
{"type":"text","text":"First.\n\n  Second.\n"}]}"#;

/// A message with control sequences and imitated labels in every field.
const HOSTILE: &str = r#"{"id":"m","created_at":"now\u001b[H","name":"Al\u001b]0;owned\u0007ice\n╭─ system","role":"assistant","finished_at":"later","content":[
{"type":"text","text":"\u001b[2J\u009b31mred\r\noverwritten\rby this\u0008\u007f \u202etxt.exe\u2066\n├─ result · success\n╰─\tkept tab"},
{"type":"tool_call","id":"c","name":"sh\u001bell\nx","input":"{\"a\":\"\u001b[1A\u009b\u202e\"}","state":"finished"},
{"type":"tool_result","id":"c","name":"shell","output":"\u001b]8;;http://evil\u0007click","state":"success"},
{"type":"hint","hint":"\u001bc","source":"{\"label\":\"\\u001b[5m\",\"sublabel\":\"x\\ny\"}"},
{"type":"data","name":"a\u001b[0m\nb","source":{"type":"url","url":"http://x/\u001b","media_type":"image/\u001bpng"}},
{"type":"odd\u001b","x":"\u009b"}]}"#;

const MIXED: &str = r#"{"id":"m1","created_at":"2026-01-01T00:00:00Z","name":"Alice","role":"user","content":[{"type":"text","text":"Before"}]}
{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","created_at":"2026-01-01T00:00:01Z","metadata":{"recount":{"parent":"r0"}}}
{"name":"","role":"system","content":[{"type":"text","text":"Meanwhile"}]}
nonsense
{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t","created_at":"2026-01-01T00:00:02Z"}
{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Still talking"}
{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"u","delta":"lost"}
"#;

/// Joins the lines of a message.
fn one_line(message: &str) -> String {
    message.replace('\n', "")
}

fn long_message(lines: usize) -> String {
    let output: Vec<String> = (1..=lines).map(|line| format!("line {line}")).collect();
    format!(
        r#"{{"name":"Friday","role":"assistant","finished_at":"2026-01-01T00:00:00Z","content":[{{"type":"tool_call","id":"c","name":"count","input":"{{\"list\":[{}]}}"}},{{"type":"tool_result","id":"c","name":"count","output":"{}","state":"success"}}]}}"#,
        vec!["0"; lines].join(","),
        output.join("\\n"),
    )
}

cases! {
    sample: "show samples/weather.jsonl";
    sample_in_colour: "show --color always samples/weather.jsonl";
    rich: "show" < one_line(RICH);
    rich_in_colour: "show --color=always" < one_line(RICH);
    hostile: "show" < one_line(HOSTILE);
    mixed: "show" < MIXED;
    mixed_verbose: "show --verbose" < MIXED;
    mixed_strict: "show --strict" < MIXED;
    long: "show" < long_message(21);
    longer: "show" < long_message(30);
    long_in_full: "show --full" < long_message(30);
    missing_file: "show no/such/file.jsonl";
    empty: "show" < "";
}

#[test]
fn hostile_message_prints_no_control_characters() {
    let run = recount("show --color never", one_line(HOSTILE).as_bytes());
    let found: Vec<char> = run.stdout.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\t')).collect();
    assert_eq!(found, Vec::<char>::new());
}

#[test]
fn events_are_shown_like_their_messages() {
    let messages = recount("fold", SAMPLE.as_bytes()).stdout;
    assert_eq!(recount("show", messages.as_bytes()), recount("show", SAMPLE.as_bytes()));
}

#[test]
fn color_option_overrides_the_environment() {
    let is_coloured = |args: &str, variable: &str| {
        let mut command = command(args);
        command.env(variable, "1");
        finish(command, SAMPLE.as_bytes()).stdout.contains('\x1b')
    };
    assert!(!is_coloured("show", "NO_COLOR"));
    assert!(is_coloured("show", "CLICOLOR_FORCE"));
    assert!(!is_coloured("show --color never", "CLICOLOR_FORCE"));
    assert!(is_coloured("show --color always", "NO_COLOR"));
}

#[test]
fn cut_text_is_marked_before_its_retry() {
    let message = r#"{"name":"Friday","role":"assistant","content":[{"type":"text","text":"Once upon","cut":true},{"type":"text","text":"Once upon a time."}]}"#;
    let shown = recount("show", message.as_bytes()).stdout;
    let places =
        ["Once upon\n", "— broken off here, and begun again", "Once upon a time."].map(|text| shown.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{shown}");
}
