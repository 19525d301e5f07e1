//! The layouts that `src/sys` declares, checked by both compilers against one table.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const TABLE: &str = "src/sys/layout.txt";

/// Compiles one static assertion per line of the table in C, and writes the same ones in Rust.
pub(crate) fn check(include: impl Iterator<Item = PathBuf>, out: &Path) {
    let table = fs::read_to_string(TABLE).expect("the table of layouts is there");
    let mut c = String::from("#include <stddef.h>\n");
    let mut rust = String::new();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["include", header] => writeln!(c, "#include \"{header}\""),
            ["size", prefix, name, size] => writeln!(
                c,
                "_Static_assert (sizeof ({} {name}) == {size}, \"{name}\");",
                keyword(prefix)
            )
            .and_then(|()| {
                writeln!(
                    rust,
                    "const _: () = assert!(size_of::<super::ffi::{name}>() == {size});"
                )
            }),
            ["field", prefix, name, field, offset] => writeln!(
                c,
                "_Static_assert (offsetof ({} {name}, {field}) == {offset}, \"{name}.{field}\");",
                keyword(prefix)
            )
            .and_then(|()| {
                writeln!(
                    rust,
                    "const _: () = assert!(std::mem::offset_of!(super::ffi::{name}, r#{field}) == {offset});"
                )
            }),
            ["value", name, value] => writeln!(
                c,
                "_Static_assert ((long long) {name} == {value}LL, \"{name}\");"
            )
            .and_then(|()| writeln!(rust, "const _: () = assert!(super::ffi::{name} as i64 == {value});")),
            _ => panic!("{TABLE}: no such line: {line}"),
        }
        .expect("writing to a string does not fail");
    }
    let file = out.join("layout.c");
    fs::write(&file, c).expect("the build folder can be written");
    fs::write(out.join("layout.rs"), rust).expect("the build folder can be written");
    let width = env::var("CARGO_CFG_TARGET_POINTER_WIDTH");
    assert!(
        width.as_deref() == Ok("64"),
        "timeloom-dds knows the layouts of 64 bit machines only"
    );
    cc::Build::new()
        .define("NDEBUG", None)
        .includes(include)
        .file(file)
        .compile("timeloom_dds_layout");
}

fn keyword(prefix: &str) -> &str {
    if prefix == "typedef" { "" } else { prefix }
}
