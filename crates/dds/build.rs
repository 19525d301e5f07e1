//! Builds Cyclone DDS with three hooks, and checks the declared layouts against its headers.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "build/layout.rs"]
mod layout;
#[path = "build/patches.rs"]
mod patches;

fn main() {
    for file in ["build.rs", "build", "src/sys/layout.txt"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let source = out.join("source");
    copy_sources(&cyclonedds_src::source_dir(), &source).expect("the C sources can be copied");
    let built = cmake_build(&source).join("build");
    println!(
        "cargo:rustc-link-search=native={}",
        built.join("lib").display()
    );
    println!("cargo:rustc-link-lib=static=ddsc");
    let headers =
        ["core/ddsc", "core/ddsi", "core/cdr", "ddsrt"].map(|part| source.join("src").join(part));
    let generated = ["core", "ddsrt"].map(|part| built.join("src").join(part));
    let include = headers
        .into_iter()
        .chain(generated)
        .map(|folder| folder.join("include"));
    layout::check(include, &out);
}

/// Only what goes into the library: no documentation, examples, tests or tools.
fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    const LEFT_OUT: [&str; 5] = ["docs", "examples", "fuzz", "ports", "tests"];
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let target = to.join(&name);
        if !entry.file_type()?.is_dir() {
            copy_if_changed(&entry.path(), &target)?;
        } else if !LEFT_OUT.iter().any(|left_out| name == *left_out) {
            copy_sources(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Leaves unchanged files alone, so that a second run of this script does not compile everything again.
fn copy_if_changed(from: &Path, to: &Path) -> io::Result<()> {
    let wanted = patches::patched(from, fs::read(from)?);
    if fs::read(to).ok().as_ref() != Some(&wanted) {
        fs::write(to, wanted)?;
    }
    Ok(())
}

fn cmake_build(source: &Path) -> PathBuf {
    let mut config = cmake::Config::new(source);
    // Always optimised: Cyclone is not what a debug build of Timeloom debugs.
    config.profile("Release").build_target("ddsc");
    for option in [
        "BUILD_SHARED_LIBS",
        "BUILD_IDLC",
        "BUILD_DDSPERF",
        "BUILD_TESTING",
        "ENABLE_ICEORYX",
        "ENABLE_ICEORYX2",
        "ENABLE_LTO",
        "ENABLE_QOS_PROVIDER",
        "ENABLE_SECURITY",
        "ENABLE_SSL",
        "ENABLE_TOPIC_DISCOVERY",
        "ENABLE_TYPE_DISCOVERY",
        "ENABLE_TYPELIB",
    ] {
        config.define(option, "OFF");
    }
    config.build()
}
