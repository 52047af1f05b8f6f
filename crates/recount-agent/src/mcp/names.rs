//! Unique tool names that all providers accept.

use recount_message::wire::Fnv1a;

use super::error::McpError;

/// The maximum length of a tool name that all providers accept.
const MAX_LENGTH: usize = 64;
/// The maximum length of a server name. The rest is for the name of the tool.
const MAX_SERVER_LENGTH: usize = 32;

/// Validates the name of a server.
pub(super) fn validate_server_name(name: &str) -> Result<(), McpError> {
    let is_valid = (1..=MAX_SERVER_LENGTH).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.contains("__")
        && !name.ends_with('_');
    if is_valid { Ok(()) } else { Err(McpError::Name { name: name.to_owned() }) }
}

/// Returns the name of a server's tool. It depends only on the two names, so it is stable when other tools change.
pub(super) fn tool_name(server: &str, tool: &str) -> String {
    let plain = format!("{server}__{tool}");
    if !tool.is_empty() && plain.len() <= MAX_LENGTH && plain.bytes().all(is_allowed) {
        return plain;
    }
    // The converted name could equal that of another tool, so a hash of the original name is appended.
    let hash = format!("_{:08x}", Fnv1a::of(tool).value() & 0xffff_ffff);
    let fitted = plain.chars().map(|c| if c.is_ascii() && is_allowed(c as u8) { c } else { '_' });
    fitted.take(MAX_LENGTH - hash.len()).collect::<String>() + &hash
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_name_is_kept() {
        assert_eq!(tool_name("files", "read-file"), "files__read-file");
    }

    #[test]
    fn converted_names_have_hash() {
        let long = "x".repeat(100);
        let tools = ["a.b", "a/b", "a b", "größe", "", &long, &format!("{long}y")];
        let names: Vec<String> = tools.iter().map(|tool| tool_name("s", tool)).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(crate::tool::is_name(name) && name.starts_with("s__"), "{name}");
            assert!(!names.iter().skip(index + 1).any(|other| other == name), "{name}");
        }
    }

    #[test]
    fn server_name_is_validated() {
        for name in ["files", "my-files_2", &"x".repeat(32)] {
            assert_eq!(validate_server_name(name), Ok(()), "{name}");
        }
        for name in ["", "a__b", "a_", "a b", "größe", &"x".repeat(33)] {
            assert!(validate_server_name(name).is_err(), "{name}");
        }
    }
}
