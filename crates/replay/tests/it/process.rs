use std::collections::BTreeMap;
use std::path::Path;

use tempfile::{TempDir, tempdir};
use timeloom_replay::{Error, Exit, Process, ProcessOptions};
use timeloom_testkit::until;
use timeloom_time::Duration;

/// Longer than a shell takes to end on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

struct Shell {
    directory: TempDir,
}

impl Shell {
    fn new() -> Self {
        Self {
            directory: tempdir().unwrap(),
        }
    }

    fn start(&self, script: &str) -> Process {
        self.try_start(&["/bin/sh", "-c", script]).unwrap()
    }

    fn try_start(&self, command: &[&str]) -> Result<Process, Error> {
        Process::start(&ProcessOptions {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            directory: self.directory.path().to_path_buf(),
            environment: BTreeMap::from([("WHEEL".to_owned(), "round".to_owned())]),
            logs: self.directory.path().to_path_buf(),
        })
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("stdout.log")).unwrap()
    }

    /// Waits for a number of lines on stdout, which are process ids.
    fn pids(&self, count: usize) -> Vec<String> {
        until("the lines", || self.log().lines().count() == count);
        self.log().lines().map(str::to_owned).collect()
    }
}

fn lives(pid: &str) -> bool {
    // A zombie that its parent has not reaped has no command line.
    let line = std::fs::read(Path::new("/proc").join(pid).join("cmdline"));
    line.is_ok_and(|line| !line.is_empty())
}

#[test]
fn the_end_of_a_process_has_its_code_and_its_last_lines() {
    let shell = Shell::new();
    let process = shell.start("echo $WHEEL >&2; exit 3");
    until("its end", || process.exit().is_some());
    assert_eq!(process.exit(), Some(Exit::Code(3)));
    assert_eq!(process.last_lines(), ["round"]);
    let stopped = process.stop(PATIENCE);
    assert_eq!((stopped.exit, stopped.signal), (Exit::Code(3), None));
    let process = shell.start("kill -SEGV $$");
    until("its end", || process.exit().is_some());
    let exit = process.exit().unwrap();
    assert_eq!(exit.to_string(), "signal 11 (SIGSEGV)");
    let missing = shell.try_start(&["/nonexistent/program"]);
    assert!(matches!(missing, Err(Error::Start { .. })), "{missing:?}");
}

#[test]
fn a_group_ends_at_sigint_with_its_children() {
    let shell = Shell::new();
    let process = shell.start("echo $$; sh -c 'echo $$; exec sleep 3600'; true");
    let pids = shell.pids(2);
    assert!(pids.iter().all(|pid| lives(pid)));
    let stopped = process.stop(PATIENCE);
    assert_eq!(stopped.signal, Some("SIGINT"));
    assert!(!pids.iter().any(|pid| lives(pid)));
}

#[test]
fn a_process_that_ignores_signals_is_killed_with_those_that_left_its_group() {
    let shell = Shell::new();
    let script = "trap '' INT TERM; setsid sh -c 'trap \"\" INT TERM; echo $$; sleep 3600; sleep 3600' & echo $$; \
        while true; do sleep 1; done";
    let process = shell.start(script);
    let pids = shell.pids(2);
    assert!(pids.iter().all(|pid| lives(pid)));
    let stopped = process.stop(Duration::from_millis(50));
    assert_eq!(stopped.signal, Some("SIGKILL"));
    assert_eq!(stopped.exit, Exit::Signal(9));
    assert!(!pids.iter().any(|pid| lives(pid)));
}

#[test]
fn a_process_that_is_dropped_is_killed() {
    let shell = Shell::new();
    let process = shell.start("echo $$; exec sleep 3600");
    let pids = shell.pids(1);
    drop(process);
    assert!(!lives(&pids[0]));
}
