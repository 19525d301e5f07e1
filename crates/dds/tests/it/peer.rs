//! Other DDS implementations in processes of their own.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use timeloom_testkit::JsonPeer;
pub(crate) use timeloom_testkit::python;

use crate::local::LOOPBACK;

pub(crate) struct Peer(JsonPeer);

/// Builds the peer once; `None` with a printed reason where it may be missing.
fn fast_peer() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        if !Path::new("/usr/include/fastdds").exists() {
            let required = std::env::var_os("TIMELOOM_REQUIRE_FASTDDS").is_some();
            assert!(!required, "libfastrtps-dev must be installed");
            eprintln!("skipped: libfastrtps-dev is not installed");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/fast_peer.cpp");
        // Every test is a process of its own: what one of them has built is used by all, until the source changes.
        let mut hasher = DefaultHasher::new();
        std::fs::read(&source)
            .expect("the source is there")
            .hash(&mut hasher);
        let name = format!("fast_peer_{:016x}", hasher.finish());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if program.exists() {
            return Some(program);
        }
        let own = program.with_extension(std::process::id().to_string());
        let built = Command::new("c++")
            .args(["-std=c++17", "-O1", "-o"])
            .arg(&own)
            .arg(source)
            .args(["-lfastrtps", "-lfastcdr"])
            .status()
            .expect("there is a C++ compiler");
        assert!(built.success(), "the peer is built");
        std::fs::rename(&own, &program).expect("it can be renamed");
        Some(program)
    };
    BUILT.get_or_init(build).as_deref()
}

impl Peer {
    /// Cyclone DDS from `PyPI`.
    pub(crate) fn cyclone(domain: u32) -> Option<Self> {
        Self::cyclone_with(domain, "")
    }

    /// The same with additional configuration.
    pub(crate) fn cyclone_with(domain: u32, configuration: &str) -> Option<Self> {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/cyclone_peer.py");
        let mut command = Command::new(python()?);
        let separator = if configuration.is_empty() { "" } else { "," };
        command.arg(script).arg(domain.to_string()).env(
            "CYCLONEDDS_URI",
            format!("{LOOPBACK}{separator}{configuration}"),
        );
        Some(Self::start(command))
    }

    pub(crate) fn start(command: Command) -> Self {
        Self(JsonPeer::start(command))
    }

    /// eProsima Fast DDS, built from source; `None` if its headers are not installed.
    pub(crate) fn fast(domain: u32) -> Option<Self> {
        let mut command = Command::new(fast_peer()?);
        command.arg(domain.to_string());
        Some(Self::start(command))
    }
}

impl Deref for Peer {
    type Target = JsonPeer;

    fn deref(&self) -> &JsonPeer {
        &self.0
    }
}

impl DerefMut for Peer {
    fn deref_mut(&mut self) -> &mut JsonPeer {
        &mut self.0
    }
}
