//! The helper of the sandbox as a program of its own, for programs that cannot be executed again themselves.

fn main() -> std::process::ExitCode {
    recount_sandbox::run_if_helper();
    #[allow(clippy::print_stderr, reason = "this is a program")]
    {
        eprintln!("recount-sandbox: started by programs that use the sandbox; try `recount sandbox`");
    }
    std::process::ExitCode::from(2)
}
