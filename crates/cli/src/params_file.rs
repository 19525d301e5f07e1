//! `--params-file`: the parameters that YAML files hold for a node, as `ros2` reads them.

use timeloom_node::{NodeOptions, RosArguments};

use crate::failure::Failure;
use crate::suggestion::nearest;

/// The flag, with which ROS names such a file too.
pub(crate) const FLAG: &str = "--params-file";

/// A node of this name with what the files hold for it; of two files that name a parameter, the last counts.
pub(crate) fn read(
    node: &str,
    files: impl IntoIterator<Item = String>,
) -> anyhow::Result<NodeOptions> {
    let flags = files.into_iter().flat_map(|file| [FLAG.to_owned(), file]);
    let words = std::iter::once("--ros-args".to_owned()).chain(flags);
    let (arguments, _) = RosArguments::split(words)?;
    let options =
        arguments.options(NodeOptions::new(node), |path| std::fs::read_to_string(path))?;
    Ok(options)
}

/// A name that is none must not pass in silence: what it was to do would not be done.
pub(crate) fn unknown<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    let near = nearest(name, known).map(|near| format!("did you mean {near}?"));
    Failure::usage(format!("unknown parameter {name}")).hint_if(near)
}
