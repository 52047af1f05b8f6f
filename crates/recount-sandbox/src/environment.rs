//! The environment of a confined program: an allow-list.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables that programs need and that hold no secrets.
const PASSED: &[&str] = &[
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_COLOR",
    "PATH",
    "SHELL",
    "TERM",
    "TZ",
    "USER",
    // Toolchains.
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CC",
    "CFLAGS",
    "CONDA_PREFIX",
    "CPATH",
    "CXX",
    "CXXFLAGS",
    "DENO_DIR",
    "DOTNET_ROOT",
    "FNM_DIR",
    "GEM_HOME",
    "GEM_PATH",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_HOME",
    "JAVA_HOME",
    "LD_LIBRARY_PATH",
    "LDFLAGS",
    "LIBRARY_PATH",
    "MAVEN_HOME",
    "NODE_ENV",
    "NODE_PATH",
    "NVM_DIR",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SDKMAN_DIR",
    "SOURCE_DATE_EPOCH",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    // Windows.
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
];

/// Variables without which a program may not reach the network. A proxy's address may hold a password, so they are passed
/// only to programs that have the network.
const PASSED_WITH_NETWORK: &[&str] = &[
    "ALL_PROXY",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The variables of this process that a program gets, by name.
///
/// `names` are passed in addition to those that every program gets.
pub fn passed_environment(names: &[String], network: bool) -> BTreeMap<OsString, OsString> {
    let is_passed = |name: &str| {
        PASSED.contains(&name)
            || name.starts_with("LC_")
            || (network && PASSED_WITH_NETWORK.contains(&name))
            || names.iter().any(|passed| passed == name)
    };
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_passes_only_listed_variables() {
        let passed = passed_environment(&[], false);
        assert!(passed.contains_key(&OsString::from("PATH")));
        assert!(passed.keys().all(|name| {
            let name = name.to_string_lossy();
            PASSED.contains(&&*name) || name.starts_with("LC_")
        }));
    }

    #[test]
    fn environment_passes_configured_variables() {
        // Cargo sets this variable for every test.
        let name = "CARGO_PKG_NAME".to_owned();
        assert!(!passed_environment(&[], true).contains_key(&OsString::from(&name)));
        assert!(passed_environment(std::slice::from_ref(&name), false).contains_key(&OsString::from(&name)));
    }
}
