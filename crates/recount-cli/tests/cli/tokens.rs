//! `recount token`, and access tokens in the service and its clients.

use pretty_assertions::assert_eq;

use crate::run::{command, directory, finish, recount};
use crate::serve::{Service, text_of};

#[test]
fn tokens_are_created_and_revoked_while_the_service_runs() {
    let data = directory("serve-tokens");
    let service = Service::start(&data);
    assert_eq!(service.request("GET", "/v1/sessions", &[], "").0, 200);
    let run = recount(&format!("token create --tenant acme --scope write --data {}", data.display()), b"");
    assert_eq!((run.exit, run.stderr.as_str(), run.stdout.lines().count()), (Some(0), "", 1));
    let header = format!("authorization: Bearer {}", run.stdout.trim());
    assert_eq!(service.request("GET", "/v1/sessions", &[], "").0, 401);
    assert_eq!(service.request("GET", "/v1/sessions", &[&header], "").0, 200);
    let kept = std::fs::read_to_string(data.join("tokens.jsonl")).unwrap();
    assert!(!kept.contains(run.stdout.trim()), "only the hash is stored");
    let list = recount(&format!("token list --data {}", data.display()), b"").stdout;
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows.len(), rows[0].as_slice()), (2, &["ID", "TENANT", "SCOPE", "CREATED"][..]));
    let id = rows[1][0];
    assert_eq!(rows[1][1..3], ["acme", "write"]);
    let json = recount(&format!("token list --json --data {}", data.display()), b"").stdout;
    assert_eq!((text_of(&json, "id").as_str(), text_of(&json, "scope").as_str()), (id, "write"));
    assert!(!json.contains("hash"), "{json}");
    // The command-line client sends the token too.
    let url = format!("http://{}", service.address);
    let refused = recount(&format!("sessions {url}"), b"");
    assert!(
        refused.stderr.ends_with("hint: `--token TOKEN` or the variable RECOUNT_TOKEN says who asks\n"),
        "{refused:?}"
    );
    assert_eq!(recount(&format!("sessions {url} --token {}", run.stdout), b"").exit, Some(0));
    let mut named = command(&format!("sessions {url}"));
    named.env("RECOUNT_TOKEN", run.stdout.trim());
    assert_eq!(finish(named, b"").exit, Some(0));
    assert_eq!(recount(&format!("token revoke {id} --data {}", data.display()), b"").exit, Some(0));
    assert_eq!(service.request("GET", "/v1/sessions", &[&header], "").0, 401);
    assert_eq!(recount(&format!("token revoke {id} --data {}", data.display()), b"").exit, Some(2));
    service.kill();
}

#[test]
fn doctor_reports_shared_machines_and_invalid_token_lines() {
    let data = directory("serve-tenants");
    drop(Service::start(&data));
    let create =
        |tenant: &str| recount(&format!("token create --tenant {tenant} --scope write --data {}", data.display()), b"");
    let doctor = || recount(&format!("doctor --data {}", data.display()), b"");
    create("acme");
    assert!(!doctor().stdout.contains("tenants"));
    create("other");
    let expected =
        "note  there are tokens of 2 tenants, and whoever may write can have agent `assistant` use its tools";
    let run = doctor();
    assert!(run.exit == Some(0) && run.stdout.contains(expected), "{}", run.stdout);
    let path = data.join("tokens.jsonl");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"id\":").unwrap();
    let run = doctor();
    assert!(run.exit == Some(1) && run.stdout.contains("line 3 of tokens.jsonl is no token"), "{}", run.stdout);
}

#[test]
fn token_uses_the_data_directory_of_the_configuration() {
    let here = directory("serve-tokens-data");
    let token = |args: &str| {
        let mut command = command(&format!("token {args}"));
        command.current_dir(&here).env("RECOUNT_SERVER_DATA", "elsewhere");
        finish(command, b"")
    };
    let missing = token("list");
    assert_eq!((missing.exit, missing.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        missing.stderr,
        "error: there is no data directory elsewhere\nhint: `recount serve` makes it, `--data` names another one\n"
    );
    assert_eq!(token("create --tenant= --scope read").exit, Some(0));
    std::fs::write(here.join("recount.toml"), "[server]\ndata = \"unused\"\n").unwrap();
    let list = token("list").stdout;
    assert!(list.lines().nth(1).is_some_and(|line| line.contains("  ''      read   ")), "{list}");
    assert!(token("list --data unused").stderr.contains("there is no data directory unused"));
    assert!(token("revoke 1 --data unused").stderr.contains("there is no data directory unused"));
}
