//! The browser of tests.

use std::path::PathBuf;

const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The browser that `TIMELOOM_CHROMIUM` names, or the first one in `PATH`.
///
/// `None` if there is none; the reason is printed.
///
/// # Panics
/// If there is none and `TIMELOOM_REQUIRE_CHROMIUM` is set.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
#[must_use]
pub fn chromium() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("TIMELOOM_CHROMIUM") {
        return Some(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|directory| PROGRAMS.map(|program| directory.join(program)))
        .find(|program| program.is_file());
    if found.is_none() {
        assert!(
            std::env::var_os("TIMELOOM_REQUIRE_CHROMIUM").is_none(),
            "there is no Chromium: scripts/setup.sh optional installs it, or TIMELOOM_CHROMIUM names it"
        );
        eprintln!("skipped: there is no Chromium in PATH (scripts/setup.sh optional installs it)");
    }
    found
}
