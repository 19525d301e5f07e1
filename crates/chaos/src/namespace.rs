use std::path::Path;
use std::process::{Command, ExitCode};

use crate::Failure;

/// Set in the process that runs inside.
const INSIDE: &str = "TIMELOOM_CHAOS_INSIDE";

/// Whether this process has namespaces of its own already.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

const OWN: [&str; 3] = ["--net", "--mount", "--pid"];

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command
        .args(OWN)
        .args(["--fork", "--kill-child", "--mount-proc"]);
    command
}

/// Whether namespaces with interfaces of their own can be made here.
pub(crate) fn is_allowed() -> bool {
    let tried = unshare()
        .args(["sh", "-c", "ip tuntap add dev chaos mode tap"])
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Runs this program again with its own network, mounts and processes; nothing of it is left when it ends.
pub(crate) fn enter() -> Result<ExitCode, Failure> {
    let status = unshare()
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Names of network namespaces stand in /run; ours must not be seen outside.
pub(crate) fn prepare(root: &Path) -> Result<(), Failure> {
    for (kind, place) in [("tmpfs", Path::new("/run")), ("tmpfs", root)] {
        let mut command = Command::new("mount");
        let status = command
            .args(["-t", kind, "-o", "size=2g", "tmpfs"])
            .arg(place)
            .status()?;
        if !status.success() {
            return Err(format!("mount {}: {status}", place.display()).into());
        }
    }
    Ok(())
}
