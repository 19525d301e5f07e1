//! The graph as text for drawing tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::analysis::Report;
use crate::plan::span_text;

/// The graph in the language of Mermaid: GitHub and many editors draw it.
pub fn mermaid(report: &Report) -> String {
    let ids = ids(report);
    let mut text = String::from("graph LR\n");
    for (topic, id) in &ids {
        line(
            &mut text,
            format_args!("  {id}[\"{}\"]", mermaid_text(topic)),
        );
    }
    for hop in &report.hops {
        let (from, to) = (ids.get(hop.from.as_str()), ids.get(hop.to.as_str()));
        if let (Some(from), Some(to)) = (from, to) {
            let label = mermaid_text(&label(hop));
            // An arrow without a label has another form.
            if label.is_empty() {
                line(&mut text, format_args!("  {from} --> {to}"));
            } else {
                line(&mut text, format_args!("  {from} -- \"{label}\" --> {to}"));
            }
        }
    }
    text
}

/// The graph in the language of Graphviz.
pub fn dot(report: &Report) -> String {
    let mut text = String::from("digraph lineage {\n  rankdir=LR;\n  node [shape=box];\n");
    for topic in ids(report).keys() {
        line(&mut text, format_args!("  \"{}\";", dot_text(topic)));
    }
    for hop in &report.hops {
        let (from, to) = (dot_text(&hop.from), dot_text(&hop.to));
        let label = dot_text(&label(hop));
        line(
            &mut text,
            format_args!("  \"{from}\" -> \"{to}\" [label=\"{label}\"];"),
        );
    }
    text.push_str("}\n");
    text
}

/// The label of an arrow: the node and the median latency.
fn label(hop: &crate::analysis::HopReport) -> String {
    let node = hop.nodes.join(", ");
    if hop.total.count == 0 {
        return node;
    }
    let time = span_text(hop.total.p50_ns);
    if node.is_empty() {
        time
    } else {
        format!("{node} {time}")
    }
}

fn ids(report: &Report) -> BTreeMap<&str, String> {
    let topics = report.hops.iter().flat_map(|hop| [&hop.from, &hop.to]);
    let mut ids: BTreeMap<&str, String> = topics
        .map(|topic| (topic.as_str(), String::new()))
        .collect();
    for (number, id) in ids.values_mut().enumerate() {
        *id = format!("t{number}");
    }
    ids
}

/// A text between quotes of Mermaid, whose only escapes are character numbers.
fn mermaid_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '#' | '<' | '>' | '&' | ';' | '`' | '\\' => {
                // Writing to a string cannot fail.
                let _ok = write!(escaped, "#{};", u32::from(letter));
            }
            _ if letter.is_control() => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A text between quotes of Graphviz, where a backslash begins an escape.
fn dot_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            _ if letter.is_control() => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ok = writeln!(text, "{line}");
}
