//! `make package` takes half an hour and more; its plan and its check of a binary are tested here.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("xtask is inside the workspace").to_owned()
}

fn package(arguments: &[&str], targets: Option<&str>) -> Output {
    let mut command = Command::new(root().join("scripts/package.sh"));
    command.args(arguments).env_remove("TARGETS");
    if let Some(targets) = targets {
        command.env("TARGETS", targets);
    }
    command.output().expect("scripts/package.sh can be run")
}

fn plan(targets: Option<&str>) -> Vec<String> {
    let output = package(&["--plan"], targets);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let plan = String::from_utf8(output.stdout).expect("the plan is text");
    plan.lines().map(str::to_owned).collect()
}

/// The rest of each line that begins with a word.
fn lines<'a>(plan: &'a [String], word: &str) -> Vec<&'a str> {
    plan.iter()
        .filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
        .collect()
}

#[test]
fn both_targets_get_a_deb_and_a_wheel_and_are_tried() {
    let plan = plan(None);
    assert_eq!(lines(&plan, "target").len(), 2, "{plan:#?}");
    for (arch, debian) in [("x86_64", "_amd64.deb"), ("aarch64", "_arm64.deb")] {
        let wheel = format!("manylinux_2_28_{arch}.whl");
        assert!(
            lines(&plan, "deb")
                .iter()
                .any(|name| name.ends_with(debian))
        );
        assert!(
            lines(&plan, "wheel")
                .iter()
                .any(|name| name.ends_with(&wheel))
        );
        let systems = lines(&plan, "try");
        assert!(systems.iter().filter(|line| line.starts_with(arch)).count() >= 2);
    }
}

#[test]
fn the_packages_have_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    let plan = plan(None);
    for name in lines(&plan, "deb").into_iter().chain(lines(&plan, "wheel")) {
        assert!(name.contains(version), "{name} is not of version {version}");
    }
}

#[test]
fn every_file_of_the_packages_exists() {
    let plan = plan(None);
    let files = lines(&plan, "file");
    assert!(files.len() >= 3, "{plan:#?}");
    for file in files {
        assert!(root().join(file).is_file(), "{file} is not there");
    }
}

#[test]
fn targets_can_be_selected_and_misspelt_ones_are_refused() {
    assert_eq!(lines(&plan(Some("aarch64")), "target").len(), 1);
    let output = package(&["--plan"], Some("arm64"));
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("unknown target arm64 (known: x86_64 aarch64)"),
        "{errors}"
    );
}

/// This test itself is linked as cargo does it: with a library that the Debian package does not depend on.
#[test]
fn a_binary_that_needs_more_than_libc_is_refused() {
    let this = std::env::current_exe().expect("a test has a path");
    let this = this
        .to_str()
        .expect("the target directory has a name in UTF-8");
    let output = package(&["--check", std::env::consts::ARCH, this], None);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("libgcc_s.so.1"), "{errors}");

    let other = if std::env::consts::ARCH == "x86_64" {
        "aarch64"
    } else {
        "x86_64"
    };
    let output = package(&["--check", other, this], None);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(&format!("is not for {other}")), "{errors}");
}

/// Beside `python3.11` there may be `python3.11-config`, and Pythons that are too old.
#[test]
fn the_wheel_is_tried_with_interpreters_from_3_9_on_one_of_each_version() {
    let script = root().join("scripts/package_wheel_try.sh");
    let output = Command::new(script)
        .arg("--list")
        .env_remove("PYTHONS")
        .output()
        .expect("scripts/package_wheel_try.sh can be run");
    assert!(output.status.success());
    let list = String::from_utf8(output.stdout).expect("paths are text");
    let minors: Vec<u32> = list
        .lines()
        .map(|path| {
            let output = Command::new(path).arg("--version").output();
            let text = output.unwrap_or_else(|error| panic!("{path}: {error}"));
            let text = String::from_utf8_lossy(&text.stdout).into_owned();
            let version = text.strip_prefix("Python 3.");
            let version = version.unwrap_or_else(|| panic!("{path}: {text}"));
            let minor = version.split('.').next().map(str::parse);
            minor
                .and_then(Result::ok)
                .unwrap_or_else(|| panic!("{path}: {text}"))
        })
        .collect();
    assert!(minors.iter().all(|minor| *minor >= 9), "{list}");
    assert!(minors.is_sorted_by(|one, next| one < next), "{list}");
}

/// `make package` packs the wheel itself (`make_wheel`), since maturin would build the module apart from the binary.
#[test]
fn the_wheel_has_what_maturin_would_put_into_it() {
    let project = std::fs::read_to_string(root().join("pyproject.toml")).expect("pyproject.toml");
    let project: toml::Table = project.parse().expect("pyproject.toml is TOML");
    let maturin = &project["tool"]["maturin"];
    for (key, value) in [
        ("python-source", "python"),
        ("module-name", "timeloom._native"),
        ("data", "ros/prefix"),
    ] {
        assert_eq!(maturin[key].as_str(), Some(value), "{key}");
    }
    let keys = maturin.as_table().expect("a table").len();
    assert_eq!(
        keys, 6,
        "a new setting of maturin: does make_wheel honour it?"
    );
    let script = std::fs::read_to_string(root().join("scripts/package.sh")).expect("package.sh");
    for part in [
        "cp -r python/timeloom ",
        "/timeloom/_native.abi3.so",
        "cp -r ros/prefix/data ",
    ] {
        assert!(script.contains(part), "make_wheel has no {part}");
    }
}
