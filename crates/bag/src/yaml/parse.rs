//! From text to tree, with every dimension bounded.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::Node;
use crate::{Error, Result};

/// Deeper nesting is refused; real metadata is 7 deep.
pub(super) const MAX_DEPTH: usize = 64;
/// More values than this are refused; a bag with 10,000 topics has about 300,000.
const MAX_NODES: usize = 4_000_000;
/// A longer text is refused.
const MAX_BYTES: usize = 256 << 20;

/// Parses one YAML document.
///
/// Memory is proportional to the text: aliases, tags and merge keys are errors, depth and count are bounded.
/// An empty text is null.
pub fn parse(text: &str) -> Result<Node> {
    parse_with_form(text).map(|(node, _)| node)
}

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Block maps and sequences with scalars on one line, in plain characters: what a line means depends on its
    /// indentation only in relation to other lines.
    Block,
    /// Any other.
    Other,
}

/// Like [`parse`], also returns the form of the text.
pub(crate) fn parse_with_form(text: &str) -> Result<(Node, Form)> {
    if text.len() > MAX_BYTES {
        return Err(Error::Yaml {
            line: 1,
            reason: format!("{} bytes are above the limit of {MAX_BYTES}", text.len()),
        });
    }
    match super::block::parse(text) {
        Some(node) => Ok((node, Form::Block)),
        None => Ok((parse_complete(text)?, Form::Other)),
    }
}

/// Parses any YAML within the bounds.
pub(super) fn parse_complete(text: &str) -> Result<Node> {
    check_nesting(text)?;
    let mut builder = Builder::default();
    for item in Parser::new_from_str(text) {
        let (event, span) = item.map_err(|e| scan_error(&e))?;
        builder.event(event, span.start.line())?;
    }
    Ok(builder.document.unwrap_or(Node::Plain(String::new())))
}

fn scan_error(error: &ScanError) -> Error {
    Error::Yaml {
        line: error.marker().line(),
        reason: error.info().to_string(),
    }
}

/// Refuses excessive nesting before the parser sees it: its cost per level is unknown.
fn check_nesting(text: &str) -> Result<()> {
    const MAX_RUN: usize = 256;
    for (number, line) in text.lines().enumerate() {
        let mut run = 0usize;
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => run += 1,
                b'-' | b'?' | b' ' => {}
                b']' | b'}' => run = run.saturating_sub(1),
                _ => continue,
            }
            if run > MAX_RUN {
                return Err(too_deep(number + 1));
            }
        }
    }
    Ok(())
}

fn too_deep(line: usize) -> Error {
    Error::Yaml {
        line,
        reason: format!("nested deeper than {MAX_DEPTH} levels"),
    }
}

/// One open sequence or map.
enum Open {
    Sequence(Vec<Node>),
    Map {
        entries: Vec<(String, Node)>,
        key: Option<String>,
    },
}

#[derive(Default)]
struct Builder {
    stack: Vec<Open>,
    document: Option<Node>,
    nodes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<()> {
        match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_some() {
                    return Err(Error::Yaml {
                        line,
                        reason: "tags are not supported".into(),
                    });
                }
                let text = text.into_owned();
                let node = if style == ScalarStyle::Plain {
                    Node::Plain(text)
                } else {
                    Node::Text(text)
                };
                self.value(node, line)
            }
            Event::SequenceStart(..) => self.open(Open::Sequence(Vec::new()), line),
            Event::MappingStart(..) => self.open(
                Open::Map {
                    entries: Vec::new(),
                    key: None,
                },
                line,
            ),
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
            Event::Alias(_) => Err(Error::Yaml {
                line,
                reason: "aliases are not supported".into(),
            }),
            Event::DocumentStart(_) if self.document.is_some() => Err(Error::Yaml {
                line,
                reason: "more than one document".into(),
            }),
            _ => Ok(()),
        }
    }

    fn open(&mut self, open: Open, line: usize) -> Result<()> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep(line));
        }
        if matches!(self.stack.last(), Some(Open::Map { key: None, .. })) {
            return Err(Error::Yaml {
                line,
                reason: "a map key must be a scalar".into(),
            });
        }
        self.stack.push(open);
        Ok(())
    }

    fn close(&mut self, line: usize) -> Result<()> {
        let node = match self.stack.pop() {
            Some(Open::Sequence(items)) => Node::Sequence(items),
            Some(Open::Map { entries, .. }) => Node::Map(entries),
            None => {
                return Err(Error::Yaml {
                    line,
                    reason: "unbalanced end".into(),
                });
            }
        };
        self.value(node, line)
    }

    fn value(&mut self, node: Node, line: usize) -> Result<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Error::Yaml {
                line,
                reason: format!("more than {MAX_NODES} values"),
            });
        }
        match self.stack.last_mut() {
            None => self.document = Some(node),
            Some(Open::Sequence(items)) => items.push(node),
            Some(Open::Map { entries, key }) => match key.take() {
                Some(name) => entries.push((name, node)),
                None => *key = Some(node.as_str().unwrap_or_default().to_owned()),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_keep_order_and_style() {
        let node = parse("b: 1\na: \"1\"\nc:\n  - ~\n  - x\n").unwrap();
        assert_eq!(
            node,
            Node::Map(vec![
                ("b".into(), Node::Plain("1".into())),
                ("a".into(), Node::Text("1".into())),
                (
                    "c".into(),
                    Node::Sequence(vec![Node::null(), Node::Plain("x".into())])
                ),
            ])
        );
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for text in [
            "[".repeat(20_000),
            "[\n".repeat(20_000),
            "[a,\n ".repeat(20_000),
            "{a: ".repeat(20_000),
            "- ".repeat(20_000),
            "? ".repeat(20_000),
            (0..20_000).fold(String::new(), |mut text, depth| {
                text.push_str(&" ".repeat(depth.min(300)));
                text.push_str("a:\n");
                text
            }),
        ] {
            assert!(parse(&text).is_err());
        }
    }

    #[test]
    fn aliases_tags_and_second_documents_are_errors() {
        assert!(parse("a: &x 1\nb: *x\n").is_err());
        assert!(parse("a: !!binary aGk=\n").is_err());
        assert!(parse("a: 1\n---\nb: 2\n").is_err());
        assert!(parse("[a]: 1\n").is_err());
    }

    #[test]
    fn an_empty_text_is_null() {
        assert!(parse("").unwrap().is_null());
        assert!(parse("# only a comment\n").unwrap().is_null());
    }
}
