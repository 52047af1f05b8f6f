//! The tools `glob` and `grep`.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::bench::Bench;

fn project() -> Bench {
    let bench = Bench::new();
    bench.file("src/lib.rs", "fn one() {}\n// TODO: two\nfn three() {}\n");
    bench.file("src/deep/main.rs", "fn main() { one() }\n");
    bench.file("notes.md", "todo later\n");
    bench.file("target/made.rs", "TODO\n");
    bench.file("image.bin", b"TODO\0\0");
    bench.file(".gitignore", "target\n");
    bench.file(".git/config", "TODO");
    std::fs::write(bench.path("outside/secret.rs"), "TODO").unwrap();
    symlink(bench.path("outside"), bench.path("work/link")).unwrap();
    bench
}

#[tokio::test]
async fn glob_finds_files_only_inside_directory() {
    let bench = project();
    assert_eq!(bench.text("glob", r#"{"pattern":"*.rs"}"#).await, "src/deep/main.rs\nsrc/lib.rs");
    assert_eq!(bench.text("glob", r#"{"pattern":"src/*.rs"}"#).await, "src/lib.rs");
    assert_eq!(bench.text("glob", r#"{"pattern":"*.{md,bin}"}"#).await, "image.bin\nnotes.md");
    assert_eq!(bench.text("glob", r#"{"pattern":"*.rs","path":"src/deep"}"#).await, "src/deep/main.rs");
    assert_eq!(bench.text("glob", r#"{"pattern":"*.c"}"#).await, "no file in `.` matches `*.c`");
    let error = bench.error("glob", r#"{"pattern":"../outside/*"}"#).await;
    assert_eq!(error, "the pattern leads out of the directory: pass the directory as `path`");
    assert!(bench.error("glob", r#"{"pattern":"a[","path":"."}"#).await.contains("a["));
}

#[tokio::test]
async fn grep_returns_file_and_line() {
    let bench = project();
    assert_eq!(bench.text("grep", r#"{"pattern":"TODO"}"#).await, "src/lib.rs:2:// TODO: two\n");
    let both = bench.text("grep", r#"{"pattern":"todo","ignore_case":true}"#).await;
    assert_eq!(both, "notes.md:1:todo later\nsrc/lib.rs:2:// TODO: two\n");
    let around = bench.text("grep", r#"{"pattern":"TODO","context":1,"glob":"*.rs"}"#).await;
    assert_eq!(around, "src/lib.rs-1-fn one() {}\nsrc/lib.rs:2:// TODO: two\nsrc/lib.rs-3-fn three() {}\n");
    let limited = bench.text("grep", r#"{"pattern":"fn","path":"src/lib.rs","limit":1}"#).await;
    assert_eq!(limited, "src/lib.rs:1:fn one() {}\n[there may be more: use a narrower pattern, `glob` or `path`]");
    assert_eq!(bench.text("grep", r#"{"pattern":"nowhere"}"#).await, "no text in `.` matches `nowhere`");
    let error = bench.error("grep", r#"{"pattern":"("}"#).await;
    assert!(error.starts_with("invalid regular expression"), "{error}");
    assert!(bench.error("grep", r#"{"pattern":"a","path":"nope.rs"}"#).await.starts_with("`nope.rs` does not exist"));
}

#[tokio::test]
async fn long_output_is_offloaded_and_readable() {
    let bench = Bench::with(|workspace| workspace.max_output_bytes(200));
    for number in 0..100 {
        bench.file(&format!("file-{number:03}"), "");
    }
    let output = bench.text("glob", r#"{"pattern":"file-*"}"#).await;
    let (shown, note) = output.split_once("\n[truncated: ").unwrap();
    assert_eq!(shown.len(), 200);
    let path = note.split('`').nth(1).unwrap();
    let arguments = format!(r#"{{"path":"{path}","offset":100}}"#);
    let allowed = recount_agent::permission::Permissions::default();
    assert!(bench.decide(&allowed, "read", &arguments).await.is_allowed());
    assert_eq!(bench.text("read", &arguments).await, "   100\tfile-099\n");
}
