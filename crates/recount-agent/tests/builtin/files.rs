//! The tools `read`, `write` and `edit`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pretty_assertions::assert_eq;

use super::bench::Bench;

#[tokio::test]
async fn read_returns_numbered_lines_in_ranges() {
    let bench = Bench::new();
    bench.file("a.txt", "one\ntwo\r\nthree");
    assert_eq!(bench.text("read", r#"{"path":"a.txt"}"#).await, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let part = bench.text("read", r#"{"path":"a.txt","offset":2,"limit":1}"#).await;
    assert_eq!(part, "     2\ttwo\n[there are more lines: continue with `offset` 3]");
    let beyond = bench.error("read", r#"{"path":"a.txt","offset":9}"#).await;
    assert_eq!(beyond, "the file has only 3 lines: use a smaller `offset`");
    bench.file("empty", "");
    assert_eq!(bench.text("read", r#"{"path":"empty"}"#).await, "[the file is empty]");
    bench.file("long", "x".repeat(5_000));
    assert!(bench.text("read", r#"{"path":"long"}"#).await.ends_with("x [3000 more bytes in this line]\n"));
}

#[tokio::test]
async fn read_returns_images_and_rejects_other_binaries() {
    let bench = Bench::new();
    bench.file("dot.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0");
    assert_eq!(bench.text("read", r#"{"path":"dot.png"}"#).await, "<image/png>");
    bench.file("a.bin", b"\0\x01\x02");
    let error = bench.error("read", r#"{"path":"a.bin"}"#).await;
    assert_eq!(error, "`a.bin` is not text (3 bytes): use `shell` with `file` or `od` to inspect it");
}

#[tokio::test]
async fn missing_file_error_lists_similar_names() {
    let bench = Bench::new();
    bench.file("src/server.rs", "");
    bench.file("src/other.txt", "");
    let error = bench.error("read", r#"{"path":"src/sever.rs"}"#).await;
    assert_eq!(error, "`src/sever.rs` does not exist; similar names in `src`: `server.rs`");
    let error = bench.error("read", r#"{"path":"zzz"}"#).await;
    assert_eq!(error, "`zzz` does not exist, and `.` has no similar name: use `glob` to search for it");
    let error = bench.error("read", r#"{"path":"src"}"#).await;
    assert_eq!(error, "`src` is a directory: use `glob` to list its files");
}

#[tokio::test]
async fn read_rejects_devices_and_pipes() {
    let bench = Bench::new();
    let pipe = bench.path("work/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = bench.error("read", r#"{"path":"pipe"}"#).await;
    assert_eq!(error, "`pipe`: not a regular file but a device or a pipe");
    let error = bench.error("read", r#"{"path":"/dev/zero"}"#).await;
    assert_eq!(error, "`/dev/zero`: not a regular file but a device or a pipe");
}

#[tokio::test]
async fn write_creates_directories_and_requires_read_before_replace() {
    let bench = Bench::new();
    let written = bench.text("write", r#"{"path":"a/b/c.txt","content":"x"}"#).await;
    assert_eq!(written, "created `a/b/c.txt`: 1 bytes");
    // A file that the tool has written counts as read.
    assert_eq!(bench.text("write", r#"{"path":"a/b/c.txt","content":"yz"}"#).await, "replaced `a/b/c.txt`: 2 bytes");
    assert_eq!(bench.content("a/b/c.txt"), "yz");

    bench.file("old.txt", "precious");
    let error = bench.error("write", r#"{"path":"old.txt","content":""}"#).await;
    assert_eq!(error, "`old.txt` already exists: `read` it before you replace it");
    bench.text("read", r#"{"path":"old.txt"}"#).await;
    bench.file("old.txt", "changed elsewhere");
    let error = bench.error("write", r#"{"path":"old.txt","content":""}"#).await;
    assert_eq!(error, "`old.txt` was changed since you read it: `read` it again");
    assert_eq!(bench.content("old.txt"), "changed elsewhere");
}

#[tokio::test]
async fn edit_keeps_file_mode() {
    let bench = Bench::new();
    bench.file("run.sh", "#!/bin/sh\nold\n");
    let path = bench.path("work/run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    bench.text("edit", r#"{"path":"run.sh","old_text":"old","new_text":"new"}"#).await;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_dir(bench.path("work")).unwrap().count(), 1, "no temporary file remains");
}

#[tokio::test]
async fn edit_replaces_unique_text_or_explains_failure() {
    let bench = Bench::new();
    bench.file("a.rs", "fn a() {}\nfn b() {}\nfn c() { b() }\n");
    let output = bench.text("edit", r#"{"path":"a.rs","old_text":"fn b() {}","new_text":"fn b() { a() }"}"#).await;
    assert_eq!(output, "changed `a.rs`:\n     1\tfn a() {}\n     2\tfn b() { a() }\n     3\tfn c() { b() }\n");
    let error = bench.error("edit", r#"{"path":"a.rs","old_text":"b()","new_text":"d()"}"#).await;
    assert_eq!(error, "`old_text` occurs 2 times in `a.rs` (lines 2, 3): include more surrounding lines, or set `all`");
    let output = bench.text("edit", r#"{"path":"a.rs","old_text":"b()","new_text":"d()","all":true}"#).await;
    assert!(output.starts_with("changed `a.rs` in 2 places"), "{output}");
    assert_eq!(bench.content("a.rs"), "fn a() {}\nfn d() { a() }\nfn c() { d() }\n");
    let error = bench.error("edit", r#"{"path":"a.rs","old_text":"fn d() {  a() }","new_text":""}"#).await;
    assert!(error.contains("the line most similar to its beginning is line 2: `fn d() { a() }`"), "{error}");
    let error = bench.error("edit", r#"{"path":"a.rs","old_text":"quite another thing","new_text":""}"#).await;
    assert_eq!(error, "`old_text` does not occur in `a.rs`, nor any similar text: `read` the file first");
    let error = bench.error("edit", r#"{"path":"a.rs","old_text":"","new_text":"x"}"#).await;
    assert!(error.starts_with("`old_text` is empty"), "{error}");
    bench.file("dos.txt", "one\r\ntwo\r\n");
    let error = bench.error("edit", r#"{"path":"dos.txt","old_text":"one\ntwo","new_text":"x"}"#).await;
    assert!(error.contains("its lines end in \\r\\n"), "{error}");
    bench.text("read", r#"{"path":"a.rs"}"#).await;
    bench.file("a.rs", "fn other() {}");
    let error = bench.error("edit", r#"{"path":"a.rs","old_text":"other","new_text":"x"}"#).await;
    assert_eq!(error, "`a.rs` was changed since you read it: `read` it again");
}

#[tokio::test]
async fn link_created_after_decision_is_rejected() {
    let bench = Bench::new();
    fs::write(bench.path("outside/secret"), "secret").unwrap();
    bench.file("d/a", "harmless");
    let arguments = r#"{"path":"d/a"}"#;
    let permissions = recount_agent::permission::Permissions::default();
    assert!(bench.decide(&permissions, "read", arguments).await.is_allowed());
    fs::remove_dir_all(bench.path("work/d")).unwrap();
    symlink(bench.path("outside"), bench.path("work/d")).unwrap();
    fs::write(bench.path("outside/a"), "secret").unwrap();
    let error = bench.error("read", arguments).await;
    assert_eq!(error, "the target of `d/a` has changed since permission was given: call again");
    assert!(!bench.decide(&permissions, "read", arguments).await.is_allowed());
}
