//! Runs the bench targets one after the other and collects what they print.

use super::line::Line;
use super::page::Page;
use super::section::{Row, Section};
use super::target::Target;
use super::{Options, machine};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names the requested ids to the benchmarks; `timeloom_testkit::bench::Bench` reads it.
const ONLY: &str = "TIMELOOM_BENCH_ONLY";

/// Runs the benchmarks that `options` ask for and rewrites `BENCHMARKS.md` under `root`; blocks until all are done.
///
/// Returns whether every benchmark ran and gave results. A result that misses its target is reported
/// and written; it is not a failure. A benchmark that fails does not stop the others.
///
/// # Errors
///
/// When there is no such benchmark, when cargo cannot be started, or when `BENCHMARKS.md` cannot be read or written.
pub fn run(root: &Path, options: &Options, out: &mut impl Write) -> io::Result<bool> {
    let path = root.join("BENCHMARKS.md");
    let mut page = Page::read(&std::fs::read_to_string(&path)?)?;
    let machine = machine::describe();
    if options.only.is_some() && !page.machine.is_empty() && page.machine != machine {
        let other = &page.machine;
        return Err(io::Error::other(format!(
            "BENCHMARKS.md was measured on `{other}`, this is `{machine}`: a partial run would mix them; run them all"
        )));
    }
    let newer = measure(root, options, machine, out)?;
    let (results, short) = newer.count();
    let failures = newer.failures.clone();

    page.update(newer, |id| options.wants(id));
    // Read again: the run took minutes, and the text around the table may have been edited meanwhile.
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(&path, page.write_into(&document)?)?;

    writeln!(
        out,
        "\n{results} results, {short} short of their bar, in {}",
        path.display()
    )?;
    failures
        .iter()
        .try_for_each(|failure| writeln!(out, "failed: {failure}"))?;
    Ok(failures.is_empty())
}

fn measure(
    root: &Path,
    options: &Options,
    machine: String,
    out: &mut impl Write,
) -> io::Result<Page> {
    let date = options.date.clone().unwrap_or_else(|| "undated".to_owned());
    let mut page = Page {
        command: options.command(),
        date,
        machine,
        load: machine::load(),
        ..Page::default()
    };
    let targets = Target::all(&metadata(root)?)?;
    for target in targets
        .iter()
        .filter(|target| options.wants_room(target.room()))
    {
        writeln!(out, "\n== {}/{}", target.room(), target.name)?;
        let mut command = Command::new(cargo());
        command.current_dir(root).args([
            "bench",
            "-q",
            "-p",
            &target.package,
            "--bench",
            &target.name,
        ]);
        match &options.only {
            Some(only) => command.env(ONLY, only),
            None => command.env_remove(ONLY),
        };
        let measured = format!("{}, load {}", page.date, machine::load());
        let ran = collect(target, command, &measured, options, out)?;
        page.failures.extend(
            ran.failures
                .iter()
                .map(|why| format!("`{}/{}`: {why}", target.room(), target.name)),
        );
        match page
            .sections
            .last_mut()
            .filter(|section| section.room == ran.section.room)
        {
            Some(section) => section.append(ran.section),
            None => page.sections.push(ran.section),
        }
    }
    if page.count().0 == 0 && page.failures.is_empty() {
        // Nothing was written yet: a mistyped prefix leaves the page as it was.
        let what = options
            .only
            .as_deref()
            .map(|only| format!(" with an id that starts with `{only}`"));
        return Err(io::Error::other(format!(
            "there is no benchmark{}",
            what.unwrap_or_default()
        )));
    }
    Ok(page)
}

/// The results of one bench target.
#[derive(Debug)]
struct Ran {
    section: Section,
    failures: Vec<String>,
}

/// Runs `command`, echoes what it prints and keeps what is meant for the table.
fn collect(
    target: &Target,
    mut command: Command,
    measured: &str,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<Ran> {
    let mut ran = Ran {
        section: Section::new(target.room()),
        failures: Vec::new(),
    };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|stdout| BufReader::new(stdout).split(b'\n'))
    {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(out, "{line}")?;
        match Line::parse(&line) {
            Ok(Some(Line::Ratio(ratio))) if options.wants(&ratio.id) => {
                ran.section.rows.push(Row {
                    ratio,
                    measured: measured.to_owned(),
                });
            }
            Ok(Some(Line::Note { id, text })) if options.wants(&id) => {
                ran.section.notes.push((id, text));
            }
            Ok(_) => {}
            Err(why) => ran.failures.push(why),
        }
    }
    let status = child.wait()?;
    if !status.success() {
        ran.failures.push(format!("crashed ({status})"));
    } else if ran.section.rows.is_empty() && options.only.is_none() {
        ran.failures.push("printed no ratio line".to_owned());
    }
    Ok(ran)
}

fn metadata(root: &Path) -> io::Result<String> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "cargo metadata failed ({})",
            output.status
        )));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// The cargo that runs us, so that benchmarks are built with the same toolchain.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(script: &str, only: Option<&str>) -> (Ran, String) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let target = Target {
            package: "timeloom-time".into(),
            name: "now".into(),
        };
        let options = Options {
            only: only.map(str::to_owned),
            date: None,
        };
        let mut out = Vec::new();
        let ran = collect(&target, command, "today", &options, &mut out).unwrap();
        (ran, String::from_utf8(out).unwrap())
    }

    #[test]
    fn output_is_echoed_and_collected() {
        let (ran, out) = ran(
            "echo warming up; echo 'ratio time.a 1 bar <=2 ok'; echo 'note time.a 31 ns'",
            None,
        );
        assert_eq!(
            out,
            "warming up\nratio time.a 1 bar <=2 ok\nnote time.a 31 ns\n"
        );
        assert!(ran.failures.is_empty(), "{ran:?}");
        assert_eq!(ran.section.rows[0].ratio.id, "time.a");
        assert_eq!(ran.section.rows[0].measured, "today");
        assert_eq!(
            ran.section.notes,
            [("time.a".to_owned(), "31 ns".to_owned())]
        );
    }

    #[test]
    fn short_is_a_result_and_no_failure() {
        let (ran, _) = ran("echo 'ratio time.a 3 bar <=2 short'", None);
        assert!(ran.failures.is_empty() && !ran.section.rows[0].ratio.ok);
    }

    #[test]
    fn a_crash_fails_and_keeps_earlier_results() {
        let (ran, _) = ran("echo 'ratio time.a 1 bar <=2 ok'; exit 101", None);
        assert_eq!(ran.failures, ["crashed (exit status: 101)"]);
        assert_eq!(ran.section.rows.len(), 1);
    }

    #[test]
    fn silence_is_a_failure() {
        assert_eq!(
            ran("echo all good", None).0.failures,
            ["printed no ratio line"]
        );
    }

    #[test]
    fn a_malformed_line_is_a_failure() {
        let (ran, _) = ran(
            "echo 'ratio time.a 3 bar <=2 ok'; echo 'ratio time.b 1 bar <=2 ok'",
            None,
        );
        assert!(
            ran.failures[0].starts_with("the verdict does not follow"),
            "{ran:?}"
        );
        assert_eq!(ran.section.rows.len(), 1);
    }

    #[test]
    fn a_partial_run_replaces_only_the_selected_rows() {
        let script = "echo 'ratio time.a 1 bar <=2 ok'; echo 'ratio time.b 1 bar <=2 ok'; echo 'note time.a x'";
        let (partial, _) = ran(script, Some("time.b"));
        assert_eq!(partial.section.rows.len(), 1);
        assert!(partial.section.notes.is_empty());
        assert!(
            ran("true", Some("time.b")).0.failures.is_empty(),
            "another target may have it"
        );
    }
}
