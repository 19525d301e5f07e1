//! `--ros-args` on the command line of any verb: launch appends them to every node.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, error::ErrorKind};
use timeloom_node::RosArguments;

use crate::cli::Cli;
use crate::failure::Failure;

/// The flag, as clap sees it.
const FLAG: &str = "--ros-args";

/// Takes the ROS arguments out of a command line. The flag alone stays, so that verbs without a node refuse it.
pub(crate) fn split(
    line: impl IntoIterator<Item = OsString>,
) -> anyhow::Result<(RosArguments, Vec<OsString>)> {
    let (ros, mut words) =
        RosArguments::split(line).map_err(|error| Failure::usage(error.to_string()))?;
    if ros.is_given() {
        // Arguments after `--` are not flags.
        let end = words.iter().position(|word| word == "--");
        words.insert(end.unwrap_or(words.len()), FLAG.into());
    }
    Ok((ros, words))
}

/// Says why a verb refuses the flag.
pub(crate) fn explain(error: clap::Error) -> clap::Error {
    let refused = error.kind() == ErrorKind::UnknownArgument
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(flag)) if flag == FLAG);
    if !refused {
        return error;
    }
    let text = "--ros-args: this verb is not a ROS node\n\n  hint: the verbs with --ros-args in their --help are nodes, \
        such as `timeloom record` and `timeloom play`";
    Cli::command().error(ErrorKind::UnknownArgument, text)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn parsed(line: &str) -> Result<(RosArguments, Cli), String> {
        let words = line.split(' ').map(OsString::from);
        let (ros, words) = split(words).map_err(|error| error.to_string())?;
        let cli = Cli::try_parse_from(words).map_err(|error| explain(error).to_string())?;
        Ok((ros, cli))
    }

    /// The arguments that launch's `Node` appends.
    const LAUNCH: &str =
        "--ros-args --log-level info -r __node:=n -r __ns:=/ns -p use_sim_time:=true -r a:=b";

    #[test]
    fn every_verb_with_a_node_accepts_the_arguments_of_launch() {
        for verb in [
            "record -a",
            "record --topics /a /b",
            "play bag",
            "play",
            "burst bag",
            "view",
            "view bag",
            "clock publish",
            "clock echo",
            "clock lag",
            "clock drive pause",
            "topic list",
            "topic info /a",
            "topic echo /a",
            "topic hz /a",
            "topic bw /a",
            "topic pub /a std_msgs/msg/String",
            "node list",
            "node info /a",
            "service list",
            "service call /a std_srvs/srv/Trigger",
            "sync pf --simulate",
            "sync watch /a",
            "sync relay /a --output /b",
            "trace live",
            "doctor net",
        ] {
            let (ros, _) = parsed(&format!("timeloom {verb} {LAUNCH}")).unwrap();
            assert!(ros.is_given(), "{verb}");
            let first = format!("timeloom {verb} --ros-args -r a:=b -- --spin-time 1");
            assert!(parsed(&first).is_ok(), "{first}");
        }
    }

    #[test]
    fn verbs_without_a_node_refuse_ros_args() {
        for verb in [
            "info bag",
            "cat bag",
            "convert bag -o x",
            "reindex bag",
            "recover bag",
            "list storage",
            "trace report bag",
            "completions bash",
            "doctor bag x",
        ] {
            let refused = parsed(&format!("timeloom {verb} {LAUNCH}")).unwrap_err();
            assert!(
                refused.contains("this verb is not a ROS node"),
                "{verb}: {refused}"
            );
        }
    }

    #[test]
    fn arguments_after_two_dashes_stay_values() {
        let line = "timeloom topic pub /a std_msgs/msg/Int8 --ros-args -r a:=b -- -- -1";
        let (ros, _) = parsed(line).unwrap();
        assert!(ros.is_given());
    }

    #[test]
    fn a_wrong_rule_is_named() {
        let refused = parsed("timeloom record -a --ros-args -r ab").unwrap_err();
        assert!(refused.contains("expected `from:=to`"), "{refused}");
    }
}
