//! Paths of the machine that every profile may read: system programs, and the toolchains that the environment names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::process::geteuid;

use crate::resolve::resolve;

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

/// Files and directories of the home directory that hold credentials.
const CREDENTIALS: &[&str] = &[
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
];

/// Files and directories of the home directory that the user's shells, sessions and tools run.
const START_UP: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".gitconfig",
    ".pam_environment",
    ".profile",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// The home directory of the user, as the environment names it.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The credentials of the user that exist.
pub(crate) fn credentials(home: &Path) -> Vec<PathBuf> {
    existing(home, CREDENTIALS)
}

/// The files and directories that the user's shells, sessions and tools run, if they exist.
pub(crate) fn start_up(home: &Path) -> Vec<PathBuf> {
    existing(home, START_UP)
}

fn existing(home: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| home.join(name)).filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// The paths that every profile may read, as they are written; symbolic links are not resolved.
pub(crate) fn readable_paths() -> Vec<PathBuf> {
    let home = home();
    let canonical_home = home.as_ref().and_then(|home| fs::canonicalize(home).ok());
    let is_trusted = |path: &PathBuf| !leads_astray(path, canonical_home.as_deref());
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.extend(ETC.iter().map(|name| Path::new("/etc").join(name)));
    paths.extend(versioned_etc());
    for toolchain in TOOLCHAINS {
        let Some(directory) = directory_of(toolchain, home.as_deref()) else { continue };
        if toolchain.parts.is_empty() {
            paths.push(directory);
        } else {
            let parts = toolchain.parts.iter().map(|part| directory.join(part));
            paths.extend(parts.filter(is_trusted));
        }
    }
    paths.extend(program_directories(home.as_deref()));
    if let Some(home) = &home {
        let configuration = CONFIGURATION.iter().map(|name| home.join(name));
        paths.extend(configuration.filter(|path| !holds_secret(path) && is_trusted(path)));
    }
    paths.retain(|path| path.to_str().is_some() && path.symlink_metadata().is_ok());
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
fn is_grantable(written: &Path, home: Option<&Path>) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let Ok(directory) = fs::canonicalize(written) else { return false };
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    if !written.is_absolute() || !written.components().all(is_plain) || leads_astray(written, home.as_deref()) {
        return false;
    }
    let Some(home) = home else { return directory.components().count() > 2 };
    let broad = [".local", ".local/share", ".config", ".cache"];
    directory.components().count() > 1
        && !home.starts_with(&directory)
        && !broad.iter().any(|name| directory == home.join(name))
        && !CREDENTIALS.iter().any(|name| directory.starts_with(home.join(name)))
        && !directory.starts_with(home.join(".config"))
}

/// Directories of programs, which a symbolic link may lead to from anywhere.
const PROGRAMS: &[&str] = &["/bin", "/gnu/store", "/home/linuxbrew", "/lib", "/nix", "/opt", "/sbin", "/snap", "/usr"];

/// Whether a path is reached by a symbolic link that a program may have put there, to be shown what it leads to.
///
/// The environment may name a directory of a project, such as a virtual environment, which programs can write to. A link in
/// a directory that this user can write to may lead to its siblings, or to a place of programs. Links in the home directory
/// itself, and in those that are hidden by a dot, are the user's. `home` is canonical.
fn leads_astray(written: &Path, home: Option<&Path>) -> bool {
    let is_astray = |link: &PathBuf| {
        let (Some(directory), Ok(target)) = (link.parent(), fs::canonicalize(link)) else { return true };
        let is_program = PROGRAMS.iter().any(|place| target.starts_with(place));
        let is_toolchain = |home: &Path| {
            let mut places = TOOLCHAINS.iter().map(|toolchain| toolchain.below_home).filter(|place| !place.is_empty());
            places.any(|place| target.starts_with(home.join(place)))
        };
        let is_in_home = |home: &Path| directory.strip_prefix(home).is_ok_and(is_dot_path);
        let is_trusted = target.starts_with(directory) || is_program || !is_writable(directory);
        !is_trusted && !home.is_some_and(|home| is_toolchain(home) || is_in_home(home))
    };
    resolve(written).map_or(true, |resolved| resolved.links.iter().any(is_astray))
}

/// Whether a path below the home directory is that directory, or begins with a dot.
fn is_dot_path(below_home: &Path) -> bool {
    below_home.components().next().is_none_or(|first| first.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Whether this user, even if it is root, may write to a directory as its owner, by its group or as any user.
fn is_writable(directory: &Path) -> bool {
    let Ok(metadata) = directory.metadata() else { return true };
    let is_root_only = metadata.uid() == 0 && metadata.mode() & 0o022 == 0;
    let is_system = ["/", "/home", "/usr", "/opt", "/var", "/run", "/mnt", "/srv"];
    !is_root_only || (geteuid().is_root() && !is_system.iter().any(|place| directory == Path::new(place)))
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
        assert!(!is_grantable(&home.join("bin/../.ssh"), Some(&home)));
        assert!(!is_grantable(Path::new("."), Some(&home)));
    }

    #[test]
    fn symlinks_in_projects_make_nothing_readable() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let home = root.join("home");
        for name in ["home/.nvm/versions/v1/bin", "home/project/.venv/real", "home/other", "data/cargo/bin"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, home.join(name)).unwrap();
        link("real", "project/.venv/bin");
        link("../../other", "project/.venv/stolen");
        link("../.nvm/versions/v1", "project/node");
        link("../data/cargo", ".cargo");
        assert!(is_grantable(&home.join("project/.venv/bin"), Some(&home)));
        assert!(is_grantable(&home.join("project/node/bin"), Some(&home)));
        assert!(is_grantable(&home.join(".cargo/bin"), Some(&home)));
        assert!(!is_grantable(&home.join("project/.venv/stolen"), Some(&home)));
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
