//! Remap rules, as `rcl` reads and applies them.

use std::fmt;
use std::str::FromStr;

use timeloom_msg::name::{
    expand_name, validate_namespace, validate_node_name, validate_topic_name,
};
use timeloom_wire::NodeName;

use crate::{Error, Result};

/// The target of a remap rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The name of the node (`__node`, `__name`).
    Node,
    /// The namespace of the node (`__ns`).
    Namespace,
    /// Topics only (`rostopic://`).
    Topic,
    /// Services only (`rosservice://`).
    Service,
    /// Topics and services.
    Both,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A topic.
    Topic,
    /// A service.
    Service,
}

/// One remap rule, such as `chatter:=/robot/chatter`, `talker:__ns:=/robot` or `__node:=recorder2`.
///
/// ```
/// use timeloom_node::Remap;
/// let rule: Remap = "talker:~/pause:=/pause".parse()?;
/// assert_eq!(rule.to_string(), "talker:~/pause:=/pause");
/// assert!("no_arrow".parse::<Remap>().is_err());
/// # Ok::<_, timeloom_node::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remap {
    /// The rule as it was written.
    text: String,
    /// The node that it applies to; all if `None`.
    node: Option<String>,
    target: Target,
    from: String,
    to: String,
}

impl FromStr for Remap {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Remap {
            rule: text.to_owned(),
            reason,
        };
        let (from, to) = text
            .split_once(":=")
            .ok_or_else(|| refuse("expected `from:=to`".into()))?;
        let (node, from) = node_prefix(from);
        let (target, from) = target(from);
        let checked = match target {
            Target::Node => validate_node_name(to),
            Target::Namespace => validate_namespace(to),
            _ => validate_topic_name(from).and_then(|()| validate_topic_name(to)),
        };
        let checked = checked.and_then(|()| node.map_or(Ok(()), validate_node_name));
        checked.map_err(|error| refuse(error.to_string()))?;
        Ok(Self {
            text: text.to_owned(),
            node: node.map(str::to_owned),
            target,
            from: from.to_owned(),
            to: to.to_owned(),
        })
    }
}

impl fmt::Display for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `talker` of `talker:chatter`; the colon of `rostopic://` does not count.
pub(super) fn node_prefix(from: &str) -> (Option<&str>, &str) {
    match from.split_once(':') {
        Some((node, rest)) if !rest.starts_with("//") => (Some(node), rest),
        _ => (None, from),
    }
}

fn target(from: &str) -> (Target, &str) {
    if let Some(topic) = from.strip_prefix("rostopic://") {
        return (Target::Topic, topic);
    }
    if let Some(service) = from.strip_prefix("rosservice://") {
        return (Target::Service, service);
    }
    match from {
        "__node" | "__name" => (Target::Node, from),
        "__ns" => (Target::Namespace, from),
        _ => (Target::Both, from),
    }
}

impl Remap {
    /// Whether it changes the name or the namespace of a node.
    pub(super) fn names_a_node(&self) -> bool {
        matches!(self.target, Target::Node | Target::Namespace)
    }

    fn is_for(&self, node: &str) -> bool {
        self.node.as_deref().is_none_or(|name| name == node)
    }

    fn covers(&self, named: Named) -> bool {
        match self.target {
            Target::Both => true,
            Target::Topic => named == Named::Topic,
            Target::Service => named == Named::Service,
            Target::Node | Target::Namespace => false,
        }
    }
}

/// The name of a node after the rules: first its name, then (by the new name) its namespace.
pub(super) fn node_name(name: &str, namespace: &str, rules: &[Remap]) -> Result<NodeName> {
    let first = |target, node: &str| {
        let rule = rules
            .iter()
            .find(|rule| rule.target == target && rule.is_for(node));
        rule.map(|rule| rule.to.clone())
    };
    let name = first(Target::Node, name).unwrap_or_else(|| name.to_owned());
    let namespace = first(Target::Namespace, &name).unwrap_or_else(|| {
        if namespace.starts_with('/') {
            namespace.to_owned()
        } else {
            format!("/{namespace}")
        }
    });
    Ok(NodeName::new(&namespace, &name)?)
}

/// The full name of a topic or service of a node: expanded, then remapped by the first rule that matches.
pub(super) fn resolve(
    name: &str,
    named: Named,
    node: &NodeName,
    rules: &[Remap],
) -> Result<String> {
    let expand = |name: &str| expand_name(name, node.namespace(), node.name());
    let full = expand(name)?;
    for rule in rules {
        if rule.covers(named) && rule.is_for(node.name()) && expand(&rule.from)? == full {
            return Ok(expand(&rule.to)?);
        }
    }
    Ok(full)
}

/// The full source names of the rules of a node, in their order.
pub(super) fn sources(named: Named, node: &NodeName, rules: &[Remap]) -> Vec<String> {
    rules
        .iter()
        .filter(|rule| rule.covers(named) && rule.is_for(node.name()))
        .filter_map(|rule| expand_name(&rule.from, node.namespace(), node.name()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Vec<Remap> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn topic(name: &str, node: &NodeName, texts: &[&str]) -> String {
        resolve(name, Named::Topic, node, &rules(texts)).unwrap()
    }

    #[test]
    fn names_match_when_their_full_names_do() {
        let node = NodeName::new("/robot", "talker").unwrap();
        for from in ["chatter", "/robot/chatter"] {
            let rule = format!("{from}:=said");
            assert_eq!(topic("chatter", &node, &[&rule]), "/robot/said");
            assert_eq!(topic("/robot/chatter", &node, &[&rule]), "/robot/said");
            assert_eq!(topic("/chatter", &node, &[&rule]), "/chatter");
        }
        assert_eq!(topic("~/x", &node, &["~/x:=/y"]), "/y");
        assert_eq!(topic("x", &node, &["x:=~/y"]), "/robot/talker/y");
    }

    #[test]
    fn the_first_rule_wins_and_is_not_applied_again() {
        let node = NodeName::new("/", "n").unwrap();
        assert_eq!(topic("a", &node, &["a:=b", "a:=c", "b:=d"]), "/b");
    }

    #[test]
    fn rules_may_be_for_one_node_or_one_kind() {
        let node = NodeName::new("/", "n").unwrap();
        assert_eq!(topic("a", &node, &["m:a:=b"]), "/a");
        assert_eq!(topic("a", &node, &["n:a:=b"]), "/b");
        assert_eq!(topic("a", &node, &["rosservice://a:=b"]), "/a");
        assert_eq!(topic("a", &node, &["n:rostopic://a:=b"]), "/b");
        let service = resolve("a", Named::Service, &node, &rules(&["rosservice://a:=b"]));
        assert_eq!(service.unwrap(), "/b");
    }

    #[test]
    fn the_name_comes_first_and_the_namespace_by_the_new_name() {
        let rules = rules(&["old:__node:=new", "old:__ns:=/wrong", "new:__ns:=/right"]);
        assert_eq!(node_name("old", "", &rules).unwrap().full(), "/right/new");
        assert_eq!(node_name("n", "ns", &[]).unwrap().full(), "/ns/n");
        assert_eq!(node_name("n", "", &[]).unwrap().full(), "/n");
        let name = super::tests::rules(&["__name:=x"]);
        assert_eq!(node_name("n", "/", &name).unwrap().full(), "/x");
    }

    #[test]
    fn wrong_rules_are_refused_with_the_reason() {
        for wrong in [
            "a",
            "a:=",
            ":=b",
            "a:=b c",
            "__ns:=robot",
            "__node:=a/b",
            "1x:a:=b",
        ] {
            let error = wrong.parse::<Remap>().unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
