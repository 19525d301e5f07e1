//! Parameter files and YAML values, as `rcl_yaml_param_parser` reads them.

use timeloom_bag::yaml::{self, Node};

use timeloom_msg::ParameterValue;

/// The key below which the parameters of a node stand.
const KEY: &str = "ros__parameters";

/// Parameters for the nodes that a pattern names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    /// A full node name with `*` for one part and `**` for any number of them.
    pub(super) node: String,
    pub(super) parameters: Vec<(String, ParameterValue)>,
}

impl Section {
    /// Whether the node of that full name is meant.
    pub(super) fn is_for(&self, node: &str) -> bool {
        let parts = |name: &'_ str| -> Vec<String> {
            name.split('/')
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        matches(&parts(&self.node), &parts(node))
    }
}

/// Whether a name fits a pattern, in quadratic time at most: files are not trusted.
fn matches(pattern: &[String], name: &[String]) -> bool {
    // Whether the pattern so far fits that many parts of the name.
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for part in pattern {
        fits = if part == "**" {
            let mut any = false;
            let reached = fits.iter().map(|fit| {
                any |= fit;
                any
            });
            reached.collect()
        } else {
            let fits_part = |own: &String| part == "*" || part == own;
            let longer = fits.iter().zip(name);
            let longer = longer.map(|(fit, own)| *fit && fits_part(own));
            std::iter::once(false).chain(longer).collect()
        };
    }
    fits.last() == Some(&true)
}

/// A node's name in a file or on a line; without a slash it is one in `/`.
pub(super) fn full_pattern(name: &str) -> String {
    if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("/{name}")
    }
}

/// Reads a parameter file; the error has the place and the reason.
pub(super) fn parse(text: &str) -> Result<Vec<Section>, String> {
    let document = yaml::parse(text).map_err(|error| error.to_string())?;
    let mut sections = Vec::new();
    nodes(&document, "", &mut sections)?;
    Ok(sections)
}

/// Walks down names of namespaces and nodes.
fn nodes(node: &Node, path: &str, sections: &mut Vec<Section>) -> Result<(), String> {
    let at = if path.is_empty() { "the top" } else { path };
    let entries = node
        .as_map()
        .ok_or_else(|| format!("expected names of nodes at {at}"))?;
    for (key, value) in entries {
        if key == KEY {
            if path.is_empty() {
                return Err(format!("{KEY} stands below the name of a node"));
            }
            let mut parameters = Vec::new();
            collect(value, "", &mut parameters)?;
            sections.push(Section {
                node: full_pattern(path),
                parameters,
            });
            continue;
        }
        let key = key.trim_matches('/');
        let below = if path.is_empty() {
            format!("/{key}")
        } else {
            format!("{path}/{key}")
        };
        nodes(value, &below, sections)?;
    }
    Ok(())
}

/// Walks down groups of parameters.
fn collect(
    node: &Node,
    prefix: &str,
    parameters: &mut Vec<(String, ParameterValue)>,
) -> Result<(), String> {
    // An empty group is nothing; a name without a value is a mistake.
    let group = node
        .as_map()
        .filter(|_| prefix.is_empty() || !node.is_null());
    let Some(entries) = group else {
        let value = value(node).map_err(|reason| format!("parameter `{prefix}`: {reason}"))?;
        parameters.push((prefix.to_owned(), value));
        return Ok(());
    };
    for (key, value) in entries {
        let name = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        collect(value, &name, parameters)?;
    }
    Ok(())
}

/// Reads one value of a command line.
pub(super) fn parse_value(text: &str) -> Result<ParameterValue, String> {
    let node = yaml::parse(text).map_err(|error| error.to_string())?;
    value(&node)
}

fn value(node: &Node) -> Result<ParameterValue, String> {
    if node.is_null() {
        return Err("the value is missing".to_owned());
    }
    match node {
        Node::Text(text) => Ok(ParameterValue::String(text.clone())),
        Node::Plain(text) => Ok(scalar(text)),
        Node::Sequence(items) => sequence(items),
        Node::Map(_) => Err("expected a value, not a group".to_owned()),
    }
}

/// A scalar without quotes: what it looks like is what it is.
fn scalar(text: &str) -> ParameterValue {
    const TRUE: [&str; 11] = [
        "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
    ];
    const FALSE: [&str; 11] = [
        "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
    ];
    if TRUE.contains(&text) {
        return true.into();
    }
    if FALSE.contains(&text) {
        return false.into();
    }
    if let Some(number) = integer(text) {
        return number.into();
    }
    match double(text) {
        Some(number) => number.into(),
        None => text.into(),
    }
}

/// A whole number: decimal, `0x` or (with a leading zero, as in C) octal.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        (16, hex)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn double(text: &str) -> Option<f64> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        // Words such as `inf` and `infinity` are text here.
        _ if text.contains(|c: char| c.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Many values of one type; whole numbers beside floating point numbers become those.
fn sequence(items: &[Node]) -> Result<ParameterValue, String> {
    let items = items.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    macro_rules! all {
        ($($variant:ident => $many:ident),+) => {
            $({
                let same = items.iter().map(|item| match item {
                    ParameterValue::$variant(item) => Some(item.clone()),
                    _ => None,
                });
                if let Some(same) = same.collect::<Option<Vec<_>>>() {
                    return Ok(ParameterValue::$many(same));
                }
            })+
        };
    }
    if items.is_empty() {
        return Err("an empty list has no type".to_owned());
    }
    all!(Bool => Bools, Integer => Integers, String => Strings);
    let numbers = items.iter().map(|item| match item {
        ParameterValue::Integer(number) => Some(*number as f64),
        ParameterValue::Double(number) => Some(*number),
        _ => None,
    });
    let numbers = numbers.collect::<Option<Vec<_>>>();
    numbers
        .map(ParameterValue::Doubles)
        .ok_or_else(|| "the values of a list are of one type".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> ParameterValue {
        parse_value(text).unwrap()
    }

    #[test]
    fn values_are_what_they_look_like() {
        assert_eq!(one("true"), true.into());
        assert_eq!(one("off"), false.into());
        assert_eq!(one("-7"), (-7_i64).into());
        assert_eq!(one("0x10"), 16_i64.into());
        assert_eq!(one("010"), 8_i64.into());
        assert_eq!(one("0"), 0_i64.into());
        assert_eq!(one("1.0"), 1.0.into());
        assert_eq!(one("1e3"), 1000.0.into());
        assert_eq!(one(".inf"), f64::INFINITY.into());
        assert_eq!(one("'true'"), "true".into());
        assert_eq!(one("map"), "map".into());
        assert_eq!(one("inf"), "inf".into());
        assert_eq!(one("a-1"), "a-1".into());
        assert_eq!(one("''"), "".into());
        assert!(parse_value("").is_err());
    }

    #[test]
    fn lists_have_one_type() {
        assert_eq!(one("[1, 2]"), vec![1_i64, 2].into());
        assert_eq!(one("[1, 2.5]"), vec![1.0, 2.5].into());
        assert_eq!(one("[true, no]"), vec![true, false].into());
        assert_eq!(one("[a, b]"), vec!["a".to_owned(), "b".to_owned()].into());
        assert!(parse_value("[1, a]").is_err());
        assert!(parse_value("[]").is_err());
        assert!(parse_value("{a: 1}").is_err());
    }

    #[test]
    fn files_name_nodes_by_patterns_and_nest() {
        let text = "/**:\n  ros__parameters: {all: 1}\nrobot:\n  talker:\n    ros__parameters:\n      group:\n        x: 2\n/*/talker:\n  ros__parameters: {star: 3}\n";
        let sections = parse(text).unwrap();
        let names = |node: &str| -> Vec<_> {
            let fits = sections.iter().filter(|section| section.is_for(node));
            fits.flat_map(|section| section.parameters.iter().map(|(name, _)| name.as_str()))
                .collect()
        };
        assert_eq!(names("/robot/talker"), ["all", "group.x", "star"]);
        assert_eq!(names("/other/talker"), ["all", "star"]);
        assert_eq!(names("/talker"), ["all"]);
    }

    #[test]
    fn a_name_without_slash_is_a_node_in_the_root() {
        let sections = parse("talker:\n  ros__parameters: {x: 1}\n").unwrap();
        assert!(sections[0].is_for("/talker"));
        assert!(!sections[0].is_for("/robot/talker"));
    }

    /// Found by reading: each `**` tried every rest of the name, so that thirty of them never came to an end.
    #[test]
    fn a_pattern_of_many_wildcards_ends() {
        let section = |node: String| Section {
            node,
            parameters: Vec::new(),
        };
        let many = "/**".repeat(20_000);
        let name = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p";
        assert!(section(many.clone()).is_for(name));
        assert!(!section(format!("{many}/q")).is_for(name));
        assert!(section("/**/b/**/*/p/**".to_owned()).is_for(name));
        assert!(!section("/*".to_owned()).is_for("/"));
        assert!(section("/**".to_owned()).is_for("/"));
    }

    #[test]
    fn what_is_no_parameter_file_is_said() {
        for wrong in [
            "x",
            "ros__parameters: {a: 1}",
            "a: 1",
            "a:\n  ros__parameters: {b: [1, x]}",
            "a:\n  ros__parameters: {b: }",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse("").unwrap(), []);
    }
}
