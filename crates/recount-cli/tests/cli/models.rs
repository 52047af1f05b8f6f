//! `recount models`.

use pretty_assertions::assert_eq;
use recount_model::Provider;

use crate::run::{check_run, command, finish};

#[test]
fn variables_are_listed_without_their_values() {
    check("models_table", "models");
    check("models_json", "models --json");
}

fn check(name: &str, arguments: &str) {
    let mut command = command(arguments);
    for provider in Provider::ALL {
        for name in provider.api_key_env_vars().iter().copied().chain([provider.base_url_env_var()]) {
            command.env_remove(name);
        }
    }
    command.env("OPENAI_API_KEY", "sk-secret").env("OLLAMA_HOST", "http://gpu.example").env("XAI_API_KEY", "");
    let run = finish(command, b"");
    assert_eq!(run.stderr, "");
    assert!(!run.stdout.contains("secret") && !run.stdout.contains("gpu.example"));
    check_run(name, arguments, &run);
}
