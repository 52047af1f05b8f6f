//! What of the machine every profile may read: system programs, and the toolchains that the environment names.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories of the system that hold programs, libraries and public data.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
    "/sys/devices/system/cpu",
    "/snap",
];

/// Files and directories of `/etc` that programs need and that hold no secrets.
const ETC: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "bash_completion.d",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "default/locale",
    "environment.d",
    "fonts",
    "gai.conf",
    "gitconfig",
    "group",
    "host.conf",
    "hostname",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "magic",
    "magic.mime",
    "manpath.config",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "php",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "protocols",
    "python3",
    "rpc",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "vimrc",
    "xdg",
    "zsh",
];

/// Directories of the system that are not readable although they lie in a readable one: local configuration may hold
/// secrets.
const HIDDEN: &[&str] = &["/usr/local/etc"];

/// A toolchain: the variable that names its directory, its usual place below the home directory, and the parts of it that
/// are readable. No part means the whole directory.
struct Toolchain {
    variable: &'static str,
    below_home: &'static str,
    parts: &'static [&'static str],
}

const fn toolchain(variable: &'static str, below_home: &'static str, parts: &'static [&'static str]) -> Toolchain {
    Toolchain { variable, below_home, parts }
}

/// The toolchains, without the files in which they keep credentials.
const TOOLCHAINS: &[Toolchain] = &[
    toolchain("CARGO_HOME", ".cargo", &["bin", "env", "git", "registry"]),
    toolchain("RUSTUP_HOME", ".rustup", &[]),
    toolchain("PYENV_ROOT", ".pyenv", &[]),
    toolchain("NVM_DIR", ".nvm", &[]),
    toolchain("FNM_DIR", ".local/share/fnm", &[]),
    toolchain("VOLTA_HOME", ".volta", &[]),
    toolchain("PNPM_HOME", ".local/share/pnpm", &[]),
    toolchain("ASDF_DATA_DIR", ".asdf", &[]),
    toolchain("MISE_DATA_DIR", ".local/share/mise", &[]),
    toolchain("RBENV_ROOT", ".rbenv", &[]),
    toolchain("SDKMAN_DIR", ".sdkman", &["candidates"]),
    toolchain("GOPATH", "go", &["bin", "pkg"]),
    toolchain("GOMODCACHE", "go/pkg/mod", &[]),
    toolchain("GOROOT", "", &[]),
    toolchain("JAVA_HOME", "", &[]),
    toolchain("MAVEN_HOME", "", &[]),
    toolchain("GRADLE_HOME", "", &[]),
    toolchain("CONDA_PREFIX", "", &[]),
    toolchain("VIRTUAL_ENV", "", &[]),
    toolchain("DOTNET_ROOT", ".dotnet", &[]),
    toolchain("DENO_INSTALL", ".deno", &["bin"]),
    toolchain("BUN_INSTALL", ".bun", &["bin", "install"]),
    toolchain("", ".local/bin", &[]),
    toolchain("", ".local/lib", &[]),
    toolchain("", ".local/share/uv", &["python", "tools"]),
    toolchain("", ".local/share/pipx", &["venvs"]),
    toolchain("", ".m2", &["repository", "wrapper"]),
    toolchain("", ".gradle", &["wrapper"]),
];

/// Files of the user that tools read, passed unless they hold a secret.
const CONFIGURATION: &[&str] = &[".cargo/config", ".cargo/config.toml", ".config/git", ".gitconfig"];

/// Words that mark a configuration file as one that holds a secret.
const SECRET_WORDS: &[&str] = &["token", "password", "secret", "extraheader", "_auth"];

/// The paths that every profile may read, as they are written; symbolic links are not resolved.
pub(crate) fn readable_paths() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.extend(ETC.iter().map(|name| Path::new("/etc").join(name)));
    paths.extend(versioned_etc());
    for toolchain in TOOLCHAINS {
        let Some(directory) = directory_of(toolchain, home.as_deref()) else { continue };
        if toolchain.parts.is_empty() {
            paths.push(directory);
        } else {
            paths.extend(toolchain.parts.iter().map(|part| directory.join(part)));
        }
    }
    paths.extend(program_directories(home.as_deref()));
    if let Some(home) = &home {
        paths.extend(CONFIGURATION.iter().map(|name| home.join(name)).filter(|path| !holds_secret(path)));
    }
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths
}

/// The paths below [`readable_paths`] that stay hidden.
pub(crate) fn hidden_paths() -> Vec<PathBuf> {
    HIDDEN.iter().map(PathBuf::from).filter(|path| path.is_dir()).collect()
}

fn directory_of(toolchain: &Toolchain, home: Option<&Path>) -> Option<PathBuf> {
    let named = (!toolchain.variable.is_empty()).then(|| std::env::var_os(toolchain.variable)).flatten();
    let usual =
        || (!toolchain.below_home.is_empty()).then(|| home.map(|home| home.join(toolchain.below_home))).flatten();
    let directory = named.map(PathBuf::from).or_else(usual)?;
    is_grantable(&directory, home).then_some(directory)
}

/// The directories of PATH, and the installation that a `bin` directory outside of the home directory belongs to.
fn program_directories(home: Option<&Path>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for directory in std::env::var_os("PATH").iter().flat_map(std::env::split_paths) {
        let installation = directory.parent().filter(|parent| {
            let in_home = home.is_some_and(|home| parent.starts_with(home));
            directory.file_name() == Some(OsStr::new("bin")) && !in_home && parent.components().count() > 2
        });
        paths.extend(installation.map(Path::to_owned).filter(|path| is_grantable(path, home)));
        if is_grantable(&directory, home) {
            paths.push(directory);
        }
    }
    paths
}

/// Whether a directory that the environment names is narrow enough to be readable: not the root, not a directory that
/// holds the home directory, not the configuration or data of other programs.
fn is_grantable(directory: &Path, home: Option<&Path>) -> bool {
    let Ok(directory) = fs::canonicalize(directory) else { return false };
    let Some(home) = home.and_then(|home| fs::canonicalize(home).ok()) else {
        return directory.components().count() > 2;
    };
    let broad = [".local", ".local/share", ".config", ".cache", ".ssh", ".gnupg", ".aws"];
    directory.components().count() > 1
        && !home.starts_with(&directory)
        && !broad.iter().any(|name| directory == home.join(name))
        && ![".ssh", ".gnupg", ".aws", ".config"].iter().any(|name| directory.starts_with(home.join(name)))
}

/// Directories of `/etc` that carry a version in their names, as `python3.11` and `java-17-openjdk`.
fn versioned_etc() -> Vec<PathBuf> {
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    let is_toolchain = |name: &OsStr| {
        name.to_str().is_some_and(|name| name.starts_with("python3.") || name.starts_with("java-") || name == "java")
    };
    entries.filter(|entry| is_toolchain(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Whether a configuration file holds what looks like a secret. One that cannot be read counts as holding one.
fn holds_secret(path: &Path) -> bool {
    if path.is_dir() {
        return fs::read_dir(path).into_iter().flatten().flatten().any(|entry| holds_secret(&entry.path()));
    }
    let Ok(text) = fs::read_to_string(path) else { return true };
    let text = text.to_lowercase();
    let has_password = text.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '"', '\'', ' ', '\n']).next().unwrap_or_default();
        host.contains('@')
    });
    has_password || SECRET_WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn home_directory_is_never_readable() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        for name in ["bin", ".ssh/keys", ".local/share", ".config/gh"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        assert!(!is_grantable(&home, Some(&home)));
        assert!(!is_grantable(home.parent().unwrap(), Some(&home)));
        assert!(!is_grantable(Path::new("/"), Some(&home)));
        assert!(!is_grantable(&home.join(".local/share"), Some(&home)));
        assert!(!is_grantable(&home.join(".ssh/keys"), Some(&home)));
        assert!(!is_grantable(&home.join(".config/gh"), Some(&home)));
        assert!(is_grantable(&home.join("bin"), Some(&home)));
    }

    #[test]
    fn configuration_with_secrets_is_not_passed() {
        let directory = tempfile::tempdir().unwrap();
        let check = |text: &str, expected: bool| {
            let path = directory.path().join("config");
            fs::write(&path, text).unwrap();
            assert_eq!(holds_secret(&path), expected, "{text}");
        };
        check("[user]\nname = Ada\nemail = ada@example.org\n", false);
        check("[url \"https://me:x@example.org/\"]\n", true);
        check("[registry]\ntoken = \"x\"\n", true);
        check("[source.mirror]\nregistry = \"sparse+https://example.org/index/\"\n", false);
    }
}
