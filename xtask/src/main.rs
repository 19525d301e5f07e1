//! The command line of [`xtask`]; run it by `cargo xtask`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use xtask::{audit, bench, tidy};

const USAGE: &str = "\
usage: cargo xtask <command>

  audit                                          check licences and sources of all dependencies
  bench [--only ID_PREFIX] [--date YYYY-MM-DD]   run the benchmarks, fill BENCHMARKS.md
  tidy                                           check the house rules
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", &[][..]),
    };
    let done = match command {
        "audit" if rest.is_empty() => audit::run(root(), &mut io::stdout()),
        "bench" => match bench::Options::parse(rest) {
            Ok(options) => bench::run(root(), &options, &mut io::stdout()),
            Err(message) => return usage(&message),
        },
        "tidy" if rest.is_empty() => check_rules(&mut io::stdout()),
        _ => return usage("unknown command"),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => complain(&format!("error: {error}\n"), 1),
    }
}

/// Whether all rules hold.
fn check_rules(out: &mut impl Write) -> io::Result<bool> {
    let findings: Vec<String> = tidy::CHECKS
        .iter()
        .flat_map(|(name, _)| tidy::run(name, root()))
        .collect();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    Ok(findings.is_empty())
}

fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn usage(message: &str) -> ExitCode {
    complain(&format!("error: {message}\n\n{USAGE}"), 2)
}

fn complain(text: &str, code: u8) -> ExitCode {
    // If standard error is closed, the exit code still reports the failure.
    drop(io::stderr().write_all(text.as_bytes()));
    ExitCode::from(code)
}
