//! Names for the tools of servers: such that every provider takes them, and no two are the same.

use recount_message::wire::Fnv1a;

use super::error::McpError;

/// The longest name that every provider takes.
const LONGEST: usize = 64;
/// The longest name of a server, so that there is room for those of its tools.
const LONGEST_SERVER: usize = 32;

/// Checks the name of a server.
pub(super) fn check_server(name: &str) -> Result<(), McpError> {
    let is_fine = (1..=LONGEST_SERVER).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.contains("__")
        && !name.ends_with('_');
    if is_fine { Ok(()) } else { Err(McpError::Name { name: name.to_owned() }) }
}

/// The name of a server's tool. It depends on nothing but both names, so it stays the same when other tools come and go.
pub(super) fn of_tool(server: &str, tool: &str) -> String {
    let plain = format!("{server}__{tool}");
    if !tool.is_empty() && plain.len() <= LONGEST && plain.bytes().all(is_allowed) {
        return plain;
    }
    // What had to be changed could be the name of another tool; its hash tells them apart.
    let hash = format!("_{:08x}", Fnv1a::of(tool).value() & 0xffff_ffff);
    let fitted = plain.chars().map(|c| if c.is_ascii() && is_allowed(c as u8) { c } else { '_' });
    fitted.take(LONGEST - hash.len()).collect::<String>() + &hash
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_fits_stays() {
        assert_eq!(of_tool("files", "read-file"), "files__read-file");
    }

    #[test]
    fn what_does_not_fit_is_told_apart_by_a_hash() {
        let long = "x".repeat(100);
        let tools = ["a.b", "a/b", "a b", "größe", "", &long, &format!("{long}y")];
        let names: Vec<String> = tools.iter().map(|tool| of_tool("s", tool)).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(crate::tool::is_name(name) && name.starts_with("s__"), "{name}");
            assert!(!names.iter().skip(index + 1).any(|other| other == name), "{name}");
        }
    }

    #[test]
    fn a_server_has_a_name_that_its_tools_can_begin_with() {
        for name in ["files", "my-files_2", &"x".repeat(32)] {
            assert_eq!(check_server(name), Ok(()), "{name}");
        }
        for name in ["", "a__b", "a_", "a b", "größe", &"x".repeat(33)] {
            assert!(check_server(name).is_err(), "{name}");
        }
    }
}
