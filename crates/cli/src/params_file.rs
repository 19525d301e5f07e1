//! Parameters of a node on their way to the flags that mean the same: from `--params-file`, and from `--ros-args`.

mod given;

use std::collections::BTreeMap;
use std::path::PathBuf;

use timeloom_node::{NodeOptions, ParameterValue};

use crate::context::Context;
use crate::failure::Failure;
use crate::log_level::LogLevel;

pub(crate) use self::given::Given;

/// The node of a verb, as its flags name it.
pub(crate) struct NodeFlags<'a> {
    pub(crate) node: NodeOptions,
    pub(crate) params_files: &'a [PathBuf],
    pub(crate) log_level: Option<LogLevel>,
}

impl NodeFlags<'_> {
    /// The node with its parameters: `-p` and `--params-file` behind `--ros-args`, the last counts; then the verb's own
    /// `--params-file`; the last value wins. A file without parameters for the node is an error.
    pub(crate) fn read(self, context: &mut Context) -> anyhow::Result<NodeOptions> {
        let files = self.params_files.iter();
        let files = files.map(|path| path.display().to_string());
        let mut node = context.node_with_files(self.node, files)?;
        if let Some(level) = self.log_level {
            context.printer.set_level(level);
            node.log_level = level.into();
        }
        if node.parameters.is_empty() && !self.params_files.is_empty() {
            let name = timeloom_node::Names::new(&node)?.node().full();
            let text = format!("--params-file has no parameters for the node {name}");
            context.printer.warning(&text);
        }
        Ok(node)
    }
}

/// The error for an unknown parameter: ignoring it would silently drop a setting.
pub(crate) fn unknown<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    Failure::usage(format!("unknown parameter {name}")).suggest(name, known)
}

/// A time in two parameters, `name.sec` and `name.nsec`, in nanoseconds; none if neither is there.
pub(crate) fn seconds_and_nanos(
    parameters: &BTreeMap<String, ParameterValue>,
    name: &str,
) -> Result<Option<i64>, Failure> {
    let mut total = None;
    for (part, unit) in [("sec", 1_000_000_000_i64), ("nsec", 1)] {
        let key = format!("{name}.{part}");
        let Some(value) = parameters.get(&key) else {
            continue;
        };
        let number: i64 = Given { key: &key, value }.whole()?;
        let sum = number.saturating_mul(unit);
        total = Some(sum.saturating_add(total.unwrap_or(0)));
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_two_parts_and_either_may_be_missing() {
        let parameters = |pairs: &[(&str, i64)]| -> BTreeMap<String, ParameterValue> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                .collect()
        };
        let time = |pairs| seconds_and_nanos(&parameters(pairs), "t").unwrap();
        assert_eq!(time(&[]), None);
        assert_eq!(time(&[("t.sec", 2), ("t.nsec", 5)]), Some(2_000_000_005));
        assert_eq!(time(&[("t.nsec", 5)]), Some(5));
        assert_eq!(time(&[("t.sec", -1)]), Some(-1_000_000_000));
        let wrong = BTreeMap::from([("t.sec".to_owned(), "soon".into())]);
        assert!(seconds_and_nanos(&wrong, "t").is_err());
    }
}
