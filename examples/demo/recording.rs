//! The recording, made by the binary as a user would make it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use timeloom_time::{Clock, Duration, Steady};

use crate::Failure;
use crate::domain::Domain;

/// The name of the recorder's node.
pub(crate) const NODE: &str = "rosbag2_recorder";
/// "Finished, but data was lost": what the recorder must say of a network that loses packets.
const DATA_LOST: i32 = 3;
const PATIENCE: Duration = Duration::from_secs(20);

/// A process that does not outlive the demo.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The binary beside this example.
pub(crate) fn timeloom() -> Result<PathBuf, Failure> {
    let here = std::env::current_exe()?;
    let binary = here
        .parent()
        .and_then(Path::parent)
        .ok_or("no target directory")?
        .join("timeloom");
    if !binary.exists() {
        let text = format!("{} is not there: `make demo` builds it", binary.display());
        return Err(text.into());
    }
    Ok(binary)
}

/// Runs the robot and `timeloom record` beside it, until the robot has done its work.
pub(crate) fn make(domain: Domain, directory: &Path) -> Result<(), Failure> {
    let binary = timeloom()?;
    let mut robot = Process(
        Command::new(std::env::current_exe()?)
            .args(["--robot", &domain.number.to_string()])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?,
    );
    let mut words = BufReader::new(robot.0.stdout.take().ok_or("no pipe")?).lines();
    let mut hear = |word: &str| match words.next() {
        Some(Ok(said)) if said == word => Ok(()),
        Some(Ok(said)) => Err(Failure::from(said)),
        _ => Err(Failure::from("the robot went away")),
    };
    hear("ready")?;
    println!(
        "$ timeloom record -a -o {}",
        directory.join("bag").display()
    );
    let mut recorder = Process(
        Command::new(binary)
            .args(["record", "-a", "--disable-keyboard-controls", "-o"])
            .arg(directory.join("bag"))
            .env("ROS_DOMAIN_ID", domain.number.to_string())
            .env("CYCLONEDDS_URI", Domain::configuration(0))
            .env_remove("RMW_IMPLEMENTATION")
            .stdin(Stdio::null())
            .spawn()?,
    );
    hear("done")?;
    terminate(&recorder.0)?;
    let status = wait(&mut recorder.0)?;
    drop(robot.0.stdin.take());
    if status.code() != Some(DATA_LOST) {
        return Err(format!(
            "the recorder should have ended with code {DATA_LOST}, data lost: {status}"
        )
        .into());
    }
    Ok(())
}

/// As `docker stop` and Ctrl-C do.
fn terminate(process: &Child) -> Result<(), Failure> {
    let killed = Command::new("kill")
        .args(["-TERM", &process.id().to_string()])
        .status()?;
    if killed.success() {
        Ok(())
    } else {
        Err("the recorder is gone".into())
    }
}

fn wait(process: &mut Child) -> Result<ExitStatus, Failure> {
    let clock = Clock::<Steady>::new();
    let end = clock.now() + PATIENCE;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if clock.now() > end {
            return Err("the recorder does not end".into());
        }
        let _woke = clock.sleep_for(Duration::from_millis(20));
    }
}
