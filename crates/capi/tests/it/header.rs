use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

use timeloom_capi::{TimeloomOptions, TimeloomReport, TimeloomTime};

use crate::example::run_c;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn header() -> String {
    std::fs::read_to_string(folder().join("include/timeloom.h")).expect("the header")
}

/// What cbindgen makes; none where it is not installed (`cargo install cbindgen`).
fn generated() -> Option<String> {
    let program = std::env::var_os("TIMELOOM_CBINDGEN").unwrap_or("cbindgen".into());
    let output = Command::new(program)
        .arg("--config")
        .arg(folder().join("cbindgen.toml"))
        .arg(folder())
        .output()
        .ok()?;
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_header_is_what_cbindgen_makes() {
    let Some(generated) = generated() else {
        return;
    };
    assert_eq!(header(), generated, "run `make header`");
}

/// The functions that the sources give to C.
fn exported() -> Vec<String> {
    let mut names = Vec::new();
    for file in ["clock", "options", "status", "time"] {
        let path = folder().join(format!("src/{file}.rs"));
        let source = std::fs::read_to_string(path).expect("a source");
        for part in source.split("extern \"C\" fn ").skip(1) {
            let name = part.split('(').next().expect("a name");
            names.push(name.to_owned());
        }
    }
    names
}

#[test]
fn every_function_is_in_the_header_and_no_other() {
    let header = header();
    let exported = exported();
    assert!((8..=12).contains(&exported.len()), "{exported:?}");
    for name in &exported {
        assert_eq!(header.matches(&format!("{name}(")).count(), 1, "{name}");
    }
    let declared = header.lines().filter(|line| {
        let code = !line.trim_start().starts_with("//");
        code && line.contains("timeloom_") && line.contains('(')
    });
    assert_eq!(declared.count(), exported.len());
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
