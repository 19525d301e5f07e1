//! Recording a live load, compared with receiving and dropping it.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use super::jobs::remove;
use super::peers::{Measured, Peers, Side};

const HERTZ: u64 = 100;
const SECONDS: u64 = 4;

/// One receiver and one load on 127.0.0.1 in a domain of their own. Returns the CPU time of the receiver per message,
/// including process start and end.
pub(super) fn run(
    peers: &Peers,
    side: Side,
    topics: u64,
    size: usize,
    work: &Path,
) -> anyhow::Result<Measured> {
    let bag = work.join("recorded");
    remove(&bag)?;
    let profile = work.join("live.yaml");
    std::fs::write(&profile, producers(topics, size))?;
    let domain = (std::process::id() % 100 + 101).to_string();
    let mut command;
    if side == Side::Ours {
        command = Command::new(peers.timeloom()?);
        command.args(["record", "--all-topics", "--localhost", "-o"]);
        command.arg(&bag);
    } else {
        command = Command::new(&peers.ours);
        command.args(["job", "subscribe", "-", "-", &topics.to_string(), "0"]);
    }
    let receiver = quiet(command.env("ROS_DOMAIN_ID", &domain)).spawn()?;
    let mut load = Command::new(&peers.ours);
    load.args(["load", "--localhost", "--format", "json"])
        .arg(&profile);
    load.env("ROS_DOMAIN_ID", &domain).stderr(Stdio::null());
    let published = load.output()?;
    let spent = end(receiver)?;
    remove(&bag)?;
    let ledger: Json = serde_json::from_slice(&published.stdout).unwrap_or_default();
    let count = ledger.pointer("/total/published").and_then(Json::as_u64);
    match count {
        Some(count) if count > 0 => Ok(Measured::Done {
            value: spent / count as f64,
            answer: count,
        }),
        _ => anyhow::bail!("cannot publish the load of the live comparison"),
    }
}

fn producers(topics: u64, size: usize) -> String {
    format!(
        "publishers:\n  publisher_groups: [live]\n  live: {{publishers_count: {topics}, topic_root: live, \
         msg_size_bytes: {size}, msg_count_each: {}, rate_hz: {HERTZ}}}\n",
        HERTZ * SECONDS
    )
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdout(Stdio::null()).stderr(Stdio::null())
}

/// Sends Ctrl-C; returns the CPU seconds of the process.
fn end(mut process: Child) -> anyhow::Result<f64> {
    let before = children()?;
    let id = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        kill_process(id, Signal::INT)?;
    }
    process.wait()?;
    Ok(children()? - before)
}

/// CPU seconds of all child processes that have ended.
fn children() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
