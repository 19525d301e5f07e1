//! From a name as written by a user to the full name on the graph.

use super::resource::{
    invalid, validate_full_topic_name, validate_namespace, validate_node_name, validate_topic_name,
};
use crate::Result;

/// Expands a topic or service name for a node: `chatter`, `~/pause`, `/tf` and `{node}`, `{ns}`, `{namespace}` substitutions.
///
/// # Errors
/// When the name, the namespace or the node name breaks the naming rules, or a substitution is unknown.
pub fn expand_name(name: &str, namespace: &str, node: &str) -> Result<String> {
    validate_topic_name(name)?;
    validate_namespace(namespace)?;
    validate_node_name(node)?;
    let base = namespace.trim_end_matches('/');
    let private = match name.strip_prefix('~') {
        Some(rest) => format!("{base}/{node}{rest}"),
        None => name.to_owned(),
    };
    let mut full = substitute(&private, namespace, node)?;
    if !full.starts_with('/') {
        full = format!("{base}/{full}");
    }
    validate_full_topic_name(&full)?;
    Ok(full)
}

fn substitute(name: &str, namespace: &str, node: &str) -> Result<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, tail)) = rest.split_once('{') {
        let Some((word, after)) = tail.split_once('}') else {
            return Err(invalid("topic name", name, "unbalanced substitution"));
        };
        out.push_str(before);
        out.push_str(match word {
            "node" => node,
            "ns" | "namespace" => namespace,
            _ => {
                return Err(invalid(
                    "topic name",
                    name,
                    "unknown substitution, expected {node}, {ns} or {namespace}",
                ));
            }
        });
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_relative_and_private() {
        assert_eq!(expand_name("/tf", "/robot", "n").unwrap(), "/tf");
        assert_eq!(expand_name("scan", "/robot", "n").unwrap(), "/robot/scan");
        assert_eq!(expand_name("scan", "/", "n").unwrap(), "/scan");
        assert_eq!(
            expand_name("~/pause", "/", "rosbag2_player").unwrap(),
            "/rosbag2_player/pause"
        );
        assert_eq!(expand_name("~", "/robot", "n").unwrap(), "/robot/n");
    }

    #[test]
    fn substitutions() {
        assert_eq!(expand_name("/{node}/x", "/r", "n").unwrap(), "/n/x");
        assert_eq!(expand_name("{ns}/x", "/r", "n").unwrap(), "/r/x");
        assert!(expand_name("{what}/x", "/r", "n").is_err());
    }

    #[test]
    fn a_result_that_breaks_the_rules_is_an_error() {
        assert!(expand_name("x{ns}", "/", "n").is_err());
        assert!(expand_name("x", "robot", "n").is_err());
    }
}
