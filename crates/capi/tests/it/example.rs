use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the C library: beside this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

/// Compiles a program in C against header and library, and runs it; what it prints. Fails if it does.
pub(crate) fn run_c(name: &str, source: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = libraries();
    let library = libraries.join("libtimeloom_capi.so");
    assert!(library.exists(), "no {}", library.display());
    let program = libraries.join(format!("timeloom_{name}_{}", std::process::id()));
    let file = program.with_extension("c");
    std::fs::write(&file, source).expect("written");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(folder.join("include"))
        .arg(&file)
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .output();
    std::fs::remove_file(&file).expect("it was there");
    let compiled = compiled.expect("a C compiler");
    let words = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{words}");
    let ran = Command::new(&program).output();
    std::fs::remove_file(&program).expect("it was there");
    let ran = ran.expect("it runs");
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    let words = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{out}{words}");
    out
}

#[test]
fn the_example_in_c_is_compiled_and_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/imu.c");
    let out = run_c("imu", &std::fs::read_to_string(path).expect("the example"));
    assert!(out.starts_with("samples 6000, drift -80."), "{out}");
    assert!(out.contains("health 2, epoch 0"), "{out}");
}
