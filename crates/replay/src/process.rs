//! The process under test, in a group of its own.

mod members;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpgid, kill_process, kill_process_group,
    waitid,
};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};

use crate::{Error, Result};

/// The variable by which the processes of a run are found, also those that left the group.
const MARK: &str = "TIMELOOM_REPLAY_RUN";
/// Interval of checks for an end without an event.
const LOOK: Duration = Duration::from_millis(20);
/// Time limit for the end of a process after SIGKILL.
const KILLED: Duration = Duration::from_secs(10);
/// Lines of a log in a report, and the part of the file that is read for them.
const LAST_LINES: usize = 20;
const LAST_BYTES: usize = 16 << 10;

/// Settings of a process.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Variables, besides those of this process.
    pub environment: BTreeMap<String, String>,
    /// Where `stdout.log` and `stderr.log` are written.
    pub logs: PathBuf,
}

/// A process in a group of its own, whose output goes to files. Dropping it kills the group.
pub struct Process {
    child: Child,
    group: Pid,
    mark: String,
    logs: PathBuf,
    exit: Arc<OnceLock<Exit>>,
    exited: Event,
    clock: Clock<Steady>,
    watcher: Option<JoinHandle<()>>,
    is_stopped: bool,
}

/// End of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// The system does not say.
    Unknown,
}

/// The end of a process that was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The end of the process.
    pub exit: Exit,
    /// The strongest signal that was sent: `SIGINT`, `SIGTERM` or `SIGKILL`; none if all had ended before.
    pub signal: Option<&'static str>,
}

impl Exit {
    /// Whether it ended with exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal} ({})", signal_name(*signal)),
            Self::Unknown => f.write_str("an unknown end"),
        }
    }
}

fn signal_name(number: i32) -> &'static str {
    match number {
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => "see signal(7)",
    }
}

impl Process {
    /// Starts a command.
    ///
    /// # Errors
    /// When the log files cannot be created, or the program cannot be started.
    pub fn start(options: &ProcessOptions) -> Result<Self> {
        let program = options.command.first().map_or("", String::as_str);
        let failed = |source| Error::Start {
            command: program.to_owned(),
            source,
        };
        let log = |name: &str| -> Result<File> {
            let path = options.logs.join(name);
            File::create(&path).map_err(Error::file("create", &path))
        };
        let base = TimeBase::machine();
        let mark = members::new_mark();
        let mut command = Command::new(program);
        command
            .args(options.command.iter().skip(1))
            .envs(&options.environment)
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(log("stdout.log")?)
            .stderr(log("stderr.log")?)
            .process_group(0);
        if !options.directory.as_os_str().is_empty() {
            command.current_dir(&options.directory);
        }
        let child = command.spawn().map_err(failed)?;
        let mut process = Self {
            group: Pid::from_child(&child),
            child,
            mark,
            logs: options.logs.clone(),
            exit: Arc::default(),
            exited: Event::new(&base),
            clock: Clock::on(&base),
            watcher: None,
            is_stopped: false,
        };
        process.watch().map_err(failed)?;
        Ok(process)
    }

    /// Waits for the end in a thread. The process is not reaped there: its number stays reserved for the signals of
    /// [`stop`](Self::stop).
    fn watch(&mut self) -> std::io::Result<()> {
        let (pid, exit, exited) = (self.group, Arc::clone(&self.exit), self.exited.clone());
        let watcher = std::thread::Builder::new().name("replay process".into());
        self.watcher = Some(watcher.spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let status = loop {
                match waitid(WaitId::Pid(pid), options) {
                    Err(rustix::io::Errno::INTR) => {}
                    status => break status.ok().flatten(),
                }
            };
            let code = status.as_ref().and_then(WaitIdStatus::exit_status);
            let signal = status.as_ref().and_then(WaitIdStatus::terminating_signal);
            let _first = exit.set(match (code, signal) {
                (Some(code), _) => Exit::Code(code),
                (None, Some(signal)) => Exit::Signal(signal),
                (None, None) => Exit::Unknown,
            });
            exited.set();
        })?);
        Ok(())
    }

    /// The end of the process; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        self.exit.get().copied()
    }

    /// Blocks until it has ended, or for this long; true if it has.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.exited.wait_for(timeout)
    }

    /// The last lines on stderr, or on stdout if stderr is empty.
    pub fn last_lines(&self) -> Vec<String> {
        let lines = last_lines(&self.logs.join("stderr.log"));
        if lines.is_empty() {
            return last_lines(&self.logs.join("stdout.log"));
        }
        lines
    }

    /// Ends the process, its group, and processes that it started and that left the group: with SIGINT, after `patience`
    /// with SIGTERM, and after the same time with SIGKILL. Blocks until all are gone.
    pub fn stop(mut self, patience: Duration) -> Stopped {
        self.end(patience)
    }

    fn end(&mut self, patience: Duration) -> Stopped {
        self.is_stopped = true;
        let mut sent = None;
        for (signal, name, patience) in [
            (Signal::INT, "SIGINT", patience),
            (Signal::TERM, "SIGTERM", patience),
            (Signal::KILL, "SIGKILL", KILLED),
        ] {
            if self.is_gone() {
                break;
            }
            sent = Some(name);
            self.signal(signal);
            let end = self.clock.now().saturating_add(patience);
            while !self.is_gone() && self.clock.now() < end {
                if self.exit().is_some() {
                    // Others of the group send no event.
                    let _woke = self.clock.sleep_for(LOOK);
                } else {
                    self.exited.wait_for(end - self.clock.now());
                }
            }
        }
        // Only now: as long as it is a zombie, no other process gets its number.
        let _reaped = self.child.try_wait();
        if let Some(watcher) = self.watcher.take_if(|_| self.exit.get().is_some()) {
            // It has nothing more to do.
            let _joined = watcher.join();
        }
        Stopped {
            exit: self.exit().unwrap_or(Exit::Unknown),
            signal: sent,
        }
    }

    fn signal(&self, signal: Signal) {
        // At once, as a terminal does; then those that left the group. One that has ended meanwhile is no error.
        let _sent = kill_process_group(self.group, signal);
        for member in members::find(self.group, MARK, &self.mark) {
            if getpgid(Some(member)) != Ok(self.group) {
                let _sent = kill_process(member, signal);
            }
        }
    }

    /// Whether the process, its group and what left it have ended.
    fn is_gone(&self) -> bool {
        self.exit().is_some() && members::find(self.group, MARK, &self.mark).is_empty()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_stopped {
            self.end(Duration::ZERO);
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Process({:?}, {:?})", self.group, self.exit())
    }
}

fn last_lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let tail = bytes.get(bytes.len().saturating_sub(LAST_BYTES)..);
    let text = String::from_utf8_lossy(tail.unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..);
    let last = last.unwrap_or_default().iter();
    last.map(|line| (*line).to_owned()).collect()
}
