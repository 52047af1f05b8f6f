//! `recount check`.

use crate::run::cases;

const FINDINGS: &str = r#"{"id":"e1","created_at":"2026-01-01T00:00:00Z","type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}
{"id":"e2","created_at":"2026-01-01T00:00:01Z","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t\u001b[2J","delta":"x"}
{"id":"e2","created_at":"2026-01-01T00:00:02Z","type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"search"}
{"created_at":"yesterday","type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
{"id":"e4","created_at":"2026-01-01T00:00:04Z","type":"WHAT_IS_THIS"}
data: {"type":"REPLY_END","session_id":"s","reply_id":"r"}
{"id":"e5","created_at":"2026-01-01T00:00:05Z","type":"REPLY_END","session_id":"s","reply_id":"r"}
{"name":"Alice","role":"user","content":[{"type":"tool_call","id":"c","name":"search","input":"{}"}]}
{"id":"m","created_at":"2026-01-01T00:00:06Z","name":"Friday","role":"assistant","content":[{"type":"tool_result","id":"c","name":"search","output":"found"}]}
{"id":"e6","created_at":"2026-01-01T00:00:07Z","type":"REPLY_START","session_id":"s","reply_id":"r2","name":"Friday"}
"#;

const WARNING: &str = r#"{"created_at":"2026-01-01T00:00:00Z","type":"USER_INTERRUPT","reply_id":"r"}"#;

const ONLY_WARNINGS: &str = r#"{"id":"e4","created_at":"2026-01-01T00:00:04Z","type":"WHAT_IS_THIS"}"#;

cases! {
    sample: "check samples/weather.jsonl";
    findings: "check" < FINDINGS;
    findings_as_json: "check --json" < FINDINGS;
    findings_strict: "check --strict" < FINDINGS;
    error_and_warning: "check" < WARNING;
    only_warnings: "check" < ONLY_WARNINGS;
    missing_file: "check no/such/file.jsonl";
    empty: "check" < "";
}
