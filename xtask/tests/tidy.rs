//! The house rules, checked on this workspace.

use std::path::Path;
use xtask::tidy;

#[track_caller]
fn assert_tidy(check: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is inside the workspace");
    let findings = tidy::run(check, root);
    assert!(
        findings.is_empty(),
        "{check}:\n  {}\n",
        findings.join("\n  ")
    );
}

#[test]
fn crates_depend_on_allowed_rooms_only() {
    assert_tidy("layers");
}

#[test]
fn files_and_functions_are_short() {
    assert_tidy("lengths");
}

#[test]
fn no_module_is_called_mod() {
    assert_tidy("module files");
}

#[test]
fn only_time_reads_clocks() {
    assert_tidy("clocks");
}

#[test]
fn libraries_are_named_in_one_crate() {
    assert_tidy("libraries");
}

#[test]
fn nothing_is_left_unfinished() {
    assert_tidy("leftovers");
}

#[test]
fn dependencies_say_why() {
    assert_tidy("reasons");
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    assert_tidy("unsafe code");
}

#[test]
fn the_fuzz_workspace_has_the_dependencies_of_the_binary() {
    assert_tidy("fuzz workspace");
}

#[test]
fn every_check_is_run_above() {
    let here = include_str!("tidy.rs");
    let missing: Vec<_> = tidy::CHECKS
        .iter()
        .filter(|(name, _)| !here.contains(&format!("assert_tidy(\"{name}\")")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_architecture_names_every_rule() {
    let document = include_str!("../../ARCHITECTURE.md");
    let lines: Vec<&str> = include_str!("tidy.rs").lines().collect();
    let rules = lines
        .windows(2)
        .filter(|pair| pair[1].starts_with("    assert_tidy("));
    let names = rules.filter_map(|pair| pair[0].strip_prefix("fn ")?.strip_suffix("() {"));
    let missing: Vec<_> = names
        .filter(|name| !document.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "not in ARCHITECTURE.md: {missing:?}");
}

#[test]
fn an_unknown_check_is_a_finding() {
    assert_eq!(
        tidy::run("nonsense", Path::new(".")),
        ["nonsense: no such check"]
    );
}
