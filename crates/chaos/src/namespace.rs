use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::Failure;

/// Names the directory of the test bed for the process inside the namespaces.
const INSIDE: &str = "TIMELOOM_CHAOS_TEST_BED";

/// The directory of the test bed, if this process already has its own namespaces.
pub(crate) fn bed() -> Option<PathBuf> {
    std::env::var_os(INSIDE).map(PathBuf::from)
}

/// Creates the directory of the test bed and starts the freezer outside of the campaign: a process that is killed with
/// the campaign cannot thaw a disk, and a frozen disk blocks every process that touches it.
const OUTSIDE: &str = r#"
bed=$TIMELOOM_CHAOS_TEST_BED
mkdir -p "$bed" && mount -t tmpfs -o size=2g tmpfs "$bed" && mkfifo "$bed/freezer" || exit 1
setsid sh -c 'trap "" INT TERM HUP
while read -r disk seconds thawed; do
    { fsfreeze -f "$disk" && sleep "$seconds"; fsfreeze -u "$disk"; : >"$thawed"; } &
done <"$1/freezer"
wait' freezer "$bed" >/dev/null 2>&1 &
unshare --pid --fork --kill-child "$@" &
campaign=$!
# The first process of a namespace takes no such signal by itself.
trap 'kill -9 $campaign' INT TERM HUP
wait $campaign
code=$?
# In case no process has opened it yet.
exec 3<>"$bed/freezer"
exit $code
"#;

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount"]);
    command
}

/// Whether network namespaces can be created here.
pub(crate) fn is_allowed() -> bool {
    let tried = unshare()
        .args(["--pid", "--fork", "ip", "tuntap"])
        .args(["add", "dev", "chaos", "mode", "tap"])
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Runs this program again in its own network, mount and process namespaces; they disappear with it.
pub(crate) fn enter() -> Result<ExitCode, Failure> {
    let bed = std::env::temp_dir().join("timeloom-chaos-test-bed");
    let status = unshare()
        .args(["sh", "-c", OUTSIDE, "sh"])
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, bed)
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Setup inside: a /proc of its own, and a private /run for the names of network namespaces. Returns the handle that
/// keeps the freezer alive.
pub(crate) fn prepare(bed: &Path) -> Result<File, Failure> {
    for (kind, place) in [("proc", "/proc"), ("tmpfs", "/run")] {
        let mut command = Command::new("mount");
        let status = command.args(["-t", kind, kind, place]).status()?;
        if !status.success() {
            return Err(format!("mount {place}: {status}").into());
        }
    }
    Ok(File::options().write(true).open(bed.join("freezer"))?)
}
