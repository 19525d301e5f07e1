use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use timeloom_time::{Clock, Duration, Steady};

use crate::Failure;

/// Timeout for a process to end: ten times the time that it takes on an idle machine.
pub(crate) const BOUND: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);

/// A process whose output goes to files; it is killed on drop.
pub(crate) struct Process {
    child: Child,
    name: String,
    words: PathBuf,
    /// Peak memory in bytes.
    peak: u64,
}

/// The end of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: String,
    pub(crate) peak_bytes: u64,
}

impl Process {
    /// Starts it; its output goes to `<directory>/<name>.out` and `.err`.
    pub(crate) fn start(
        command: &mut Command,
        directory: &Path,
        name: &str,
    ) -> Result<Self, Failure> {
        let words = directory.join(name);
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(words.with_extension("out"))?)
            .stderr(File::create(words.with_extension("err"))?)
            .spawn()?;
        let (name, peak) = (name.to_owned(), 0);
        Ok(Self {
            child,
            name,
            words,
            peak,
        })
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Failure> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.ok_or("no such process")?, signal)?;
        Ok(())
    }

    pub(crate) fn runs(&mut self) -> Result<bool, Failure> {
        self.look();
        Ok(self.child.try_wait()?.is_none())
    }

    /// Its output so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.words.with_extension("err")).unwrap_or_default()
    }

    /// Waits until it prints a text; false on timeout.
    pub(crate) fn says(&mut self, word: &str, patience: Duration) -> Result<bool, Failure> {
        until(patience, || Ok(self.said().contains(word) || !self.runs()?))?;
        Ok(self.said().contains(word))
    }

    /// Waits until a recorder reports that it records, or has ended. Before that, a signal ends it without a bag and
    /// without an account.
    pub(crate) fn begins(&mut self) -> Result<bool, Failure> {
        self.says("recording to", BOUND)
    }

    /// Terminates it and waits; a process that does not end in time has hung.
    pub(crate) fn end(self, signal: Signal) -> Result<Ended, Failure> {
        self.end_within(signal, BOUND)
    }

    pub(crate) fn end_within(mut self, signal: Signal, bound: Duration) -> Result<Ended, Failure> {
        self.look();
        if self.runs()? {
            self.signal(signal)?;
        }
        self.wait(bound)
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(mut self, bound: Duration) -> Result<Ended, Failure> {
        if !until(bound, || Ok(!self.runs()?))? {
            let text = format!("hung: {} did not end within {bound}", self.name);
            return Err(Failure::Hung(text));
        }
        let status = self.child.wait()?;
        Ok(Ended {
            code: status.code(),
            signal: status.signal(),
            stdout: self.words.with_extension("out"),
            stderr: self.said(),
            peak_bytes: self.peak,
        })
    }

    /// Updates the peak memory.
    fn look(&mut self) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let Ok(status) = status else { return };
        let kib = |name: &str| {
            let mut lines = status.lines();
            let line = lines.find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
            number.unwrap_or(0)
        };
        // Code pages depend on the build: a debug binary with all features has more of them.
        let own = kib("VmHWM:").saturating_sub(kib("RssFile:"));
        self.peak = self.peak.max(own * 1024);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command, directory: &Path, name: &str) -> Result<Ended, Failure> {
    Process::start(command, directory, name)?.wait(BOUND)
}

/// Waits for a condition; false on timeout.
pub(crate) fn until(
    patience: Duration,
    mut condition: impl FnMut() -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(patience);
    while !condition()? {
        if clock.now() >= end {
            return Ok(false);
        }
        pause(LOOK);
    }
    Ok(true)
}

/// Waits for a while.
pub(crate) fn pause(span: Duration) {
    let _woke = Clock::<Steady>::new().sleep_for(span);
}
