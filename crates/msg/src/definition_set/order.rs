//! The order in which rosbag2 writes dependencies, and the stored text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Definitions;
use crate::definition::{ActionDefinition, MessageDefinition, ServiceDefinition};
use crate::{Error, InterfaceKind, Result, TypeName};

/// Deepest accepted nesting of messages.
pub(crate) const MAX_DEPTH: usize = 32;
/// The line between the parts of a concatenated definition.
pub(crate) const SEPARATOR: &str =
    "================================================================================";

impl Definitions {
    /// The messages that `name` uses, in rosbag2's order: depth first, siblings sorted, each one once.
    ///
    /// # Errors
    /// When one is not defined, contains itself, or is nested too deeply.
    pub fn dependencies(&self, name: &TypeName) -> Result<Vec<TypeName>> {
        let root = self.require(name, name)?;
        let mut walk = Walk {
            definitions: self,
            path: vec![name.clone()],
            heights: BTreeMap::new(),
            found: Vec::new(),
        };
        walk.visit(root)?;
        Ok(walk.found)
    }

    /// The text that rosbag2 stores with encoding `ros2msg`: the definition, then its dependencies after `MSG:` lines.
    ///
    /// Service events get the text of their service, as in rosbag2. Parts of an action are written as messages: one
    /// part does not define the others, and other readers decode messages only. Comments are kept if the definitions
    /// were read from a text.
    pub fn ros2msg(&self, name: &TypeName) -> Result<String> {
        let (mut text, own) = self.root_text(name)?;
        let mut dependencies = Vec::new();
        for part in &own {
            for dependency in self.dependencies(part)? {
                if !own.contains(&dependency) && !dependencies.contains(&dependency) {
                    dependencies.push(dependency);
                }
            }
        }
        for dependency in dependencies {
            let body = self.require(&dependency, name)?.text();
            let header = dependency.header_spelling();
            // Writing to a string cannot fail.
            let _ok = write!(text, "\n{SEPARATOR}\nMSG: {header}\n{body}");
        }
        Ok(text)
    }

    /// The text of the file that defines `name`, without the types that it uses.
    ///
    /// # Errors
    /// When it is not defined.
    pub(crate) fn own_text(&self, name: &TypeName) -> Result<String> {
        self.root_text(name).map(|(text, _)| text)
    }

    /// The text of the root and the parts that it holds.
    fn root_text(&self, name: &TypeName) -> Result<(String, Vec<TypeName>)> {
        let part = |base: &TypeName, suffix| {
            let part = base.with_suffix(suffix);
            self.require(&part, name)
                .map(|message| MessageDefinition::clone(message))
        };
        if let Some(base) = self.service_base(name) {
            let (request, response) = (part(&base, "_Request")?, part(&base, "_Response")?);
            let own = vec![request.name.clone(), response.name.clone()];
            let service = ServiceDefinition {
                name: base,
                request,
                response,
            };
            return Ok((service.text(), own));
        }
        let is_action = self.get(&name.with_suffix("_Goal")).is_some();
        if name.kind() == InterfaceKind::Action && is_action {
            let (goal, result) = (part(name, "_Goal")?, part(name, "_Result")?);
            let feedback = part(name, "_Feedback")?;
            let own = [&goal, &result, &feedback].map(|m| m.name.clone()).to_vec();
            let action = ActionDefinition {
                name: name.clone(),
                goal,
                result,
                feedback,
            };
            return Ok((action.text(), own));
        }
        Ok((self.require(name, name)?.text(), vec![name.clone()]))
    }

    /// The service that `name` is a part of, if it is one.
    fn service_base(&self, name: &TypeName) -> Option<TypeName> {
        let base = (name.kind() == InterfaceKind::Srv).then(|| name.interface())?;
        let whole = ["_Request", "_Response"]
            .iter()
            .all(|suffix| self.get(&base.with_suffix(suffix)).is_some());
        whole.then_some(base)
    }
}

struct Walk<'a> {
    definitions: &'a Definitions,
    path: Vec<TypeName>,
    /// The height of each visited message in the tree of nested messages, itself included.
    heights: BTreeMap<TypeName, usize>,
    found: Vec<TypeName>,
}

impl Walk<'_> {
    fn visit(&mut self, message: &MessageDefinition) -> Result<usize> {
        self.check_depth(&message.name, 0)?;
        let children: BTreeSet<(String, &TypeName)> = message
            .references()
            .map(|name| (name.short(), name))
            .collect();
        let mut below = 0;
        for (_, child) in children {
            if self.path.contains(child) {
                return Err(Error::Cycle {
                    name: child.to_string(),
                });
            }
            let definition = self.definitions.require(child, &message.name)?;
            let known = self.heights.get(child).copied();
            let height = match known {
                Some(height) => height,
                None => self.descend(child, definition)?,
            };
            self.check_depth(child, height)?;
            below = below.max(height);
        }
        Ok(below + 1)
    }

    fn descend(&mut self, child: &TypeName, definition: &MessageDefinition) -> Result<usize> {
        self.found.push(child.clone());
        self.path.push(child.clone());
        let height = self.visit(definition)?;
        self.path.pop();
        self.heights.insert(child.clone(), height);
        Ok(height)
    }

    fn check_depth(&self, name: &TypeName, height: usize) -> Result<()> {
        let depth = self.path.len() + height;
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let (actual, limit) = (depth as u64, MAX_DEPTH as u64);
        Err(Error::Limit {
            name: name.to_string(),
            what: "nesting depth",
            actual,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(messages: &[(&str, &str)]) -> Definitions {
        let mut all = Definitions::default();
        for (name, text) in messages {
            all.insert(MessageDefinition::parse(&TypeName::parse(name).unwrap(), text).unwrap());
        }
        all
    }

    #[test]
    fn depth_first_siblings_sorted_each_once() {
        let all = definitions(&[
            ("p/msg/A", "z/Z z\nB b\nC c\n"),
            ("p/msg/B", "C c\n"),
            ("p/msg/C", "int8 x\n"),
            ("z/msg/Z", "p/C c\n"),
        ]);
        let name = TypeName::parse("p/msg/A").unwrap();
        let order: Vec<_> = all
            .dependencies(&name)
            .unwrap()
            .iter()
            .map(TypeName::short)
            .collect();
        assert_eq!(order, ["p/B", "p/C", "z/Z"]);
        let text = all.ros2msg(&name).unwrap();
        assert!(
            text.starts_with(&format!(
                "z/Z z\nB b\nC c\n\n{SEPARATOR}\nMSG: p/B\nC c\n\n{SEPARATOR}\n"
            )),
            "{text}"
        );
    }

    #[test]
    fn cycles_gaps_and_depth_are_errors() {
        let name = TypeName::parse("p/msg/A").unwrap();
        let all = definitions(&[("p/msg/A", "B b\n"), ("p/msg/B", "A a\n")]);
        assert_eq!(
            all.dependencies(&name).unwrap_err().to_string(),
            "p/msg/A contains itself"
        );
        let all = definitions(&[("p/msg/A", "B b\n")]);
        assert_eq!(
            all.dependencies(&name).unwrap_err().to_string(),
            "p/msg/B is used by p/msg/A but is not defined"
        );
        let mut all = Definitions::default();
        for i in 0..100 {
            let own = TypeName::parse(&format!("p/msg/D{i}")).unwrap();
            all.insert(MessageDefinition::parse(&own, &format!("D{} d\n", i + 1)).unwrap());
        }
        let error = all
            .dependencies(&TypeName::parse("p/msg/D0").unwrap())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("nesting depth is 33, the limit is 32"),
            "{error}"
        );
        // Visited from the deep end, each level is known before the next one uses it.
        all.insert(
            MessageDefinition::parse(&TypeName::parse("p/msg/D100").unwrap(), "int8 x\n").unwrap(),
        );
        let mut text = String::new();
        for i in 0..100 {
            writeln!(text, "E{i:03} e{i}").unwrap();
        }
        for i in 0..100 {
            let own = TypeName::parse(&format!("p/msg/E{i:03}")).unwrap();
            let body = if i == 0 {
                "int8 x\n".to_owned()
            } else {
                format!("E{:03} e\n", i - 1)
            };
            all.insert(MessageDefinition::parse(&own, &body).unwrap());
        }
        all.insert(MessageDefinition::parse(&name, &text).unwrap());
        let error = all.dependencies(&name).unwrap_err().to_string();
        assert!(error.contains("nesting depth is 33"), "{error}");
    }
}
