use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

use timeloom_capi::{TimeloomOptions, TimeloomReport, TimeloomTime};

use crate::declarations::{Declarations, squeezed};
use crate::example::run_c;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn header() -> String {
    std::fs::read_to_string(folder().join("include/timeloom.h")).expect("the header")
}

/// The header without comments and white space.
fn code() -> String {
    let header = header();
    let lines = header
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    squeezed(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_function_is_in_the_header_with_its_signature_and_no_other() {
    let functions = Declarations::of_sources().functions;
    assert!((8..=12).contains(&functions.len()), "{functions:?}");
    let code = code();
    for function in &functions {
        assert_eq!(code.matches(function.as_str()).count(), 1, "{function}");
    }
    assert_eq!(
        code.matches(");").count(),
        functions.len(),
        "others in the header"
    );
}

#[test]
fn every_type_is_in_the_header_with_its_fields_and_no_other() {
    let types = Declarations::of_sources().types;
    assert!(types.len() >= 6, "{types:?}");
    let code = code();
    for one in &types {
        assert_eq!(code.matches(one.as_str()).count(), 1, "{one}");
    }
    // The clock is known by its name only.
    let declared = code.matches("typedef").count();
    assert_eq!(declared, types.len() + 1, "others in the header");
    assert!(code.contains("typedefstructTimeloomClockTimeloomClock;"));
}

#[test]
fn the_header_is_documented_as_the_sources_are() {
    let header = header();
    let comments: Vec<&str> = header
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//"))
        .map(str::trim)
        .collect();
    let docs = Declarations::of_sources().docs;
    assert!(docs.len() > 60, "{}", docs.len());
    for line in docs {
        assert!(
            comments.contains(&line.as_str()),
            "run `make header`: {line}"
        );
    }
}

#[test]
fn the_header_matches_cbindgen() {
    let program = std::env::var_os("TIMELOOM_CBINDGEN").unwrap_or("cbindgen".into());
    let output = Command::new(&program)
        .arg("--config")
        .arg(folder().join("cbindgen.toml"))
        .arg(folder())
        .output();
    let Ok(output) = output else {
        eprintln!(
            "skipped: {} is not installed (cargo install cbindgen)",
            program.display()
        );
        return;
    };
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let written = String::from_utf8(output.stdout).expect("text");
    assert_eq!(header(), written, "run `make header`");
}

/// A line for each size and place, as Rust has them.
macro_rules! layout {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        vec![$(
            (format!("sizeof({})", stringify!($type)), size_of::<$type>()),
            $((
                format!("offsetof({}, {})", stringify!($type), stringify!($field)),
                offset_of!($type, $field),
            ),)*
        )*]
    };
}

#[test]
fn c_sees_the_structures_as_rust_does() {
    let layout = layout! {
        TimeloomOptions {
            ticks_per_second, counter_bits, estimator, max_skew_ppm, max_drift_ppm_per_minute, stamp_grain_ns,
            least_delay_ns,
        }
        TimeloomTime { steady_ns, sigma_ns, lower_ns, upper_ns, health, epoch }
        TimeloomReport { newest, offset_ns, drift_ppm, samples, outliers, duplicates, late }
    };
    let lines = layout
        .iter()
        .map(|(text, _)| format!("printf(\"%zu\\n\", {text});"));
    let program = format!(
        "#include <stdio.h>\n#include <stddef.h>\n#include \"timeloom.h\"\nint main(void) {{\n{}\nreturn \
         TIMELOOM_STATUS_OK + TIMELOOM_HEALTH_UNSYNCED + TIMELOOM_ESTIMATOR_ENVELOPE;\n}}\n",
        lines.collect::<Vec<_>>().join("\n")
    );
    let said = run_c("layout", &program);
    let numbers: Vec<usize> = said
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    let wanted: Vec<usize> = layout.iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, wanted);
}
