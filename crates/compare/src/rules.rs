//! Tolerances by topic, field and type.

mod pattern;
mod tolerance;

pub use tolerance::{Nan, Tolerance};

use serde::Deserialize;

use crate::{Error, Result};
use pattern::Pattern;

/// The rules of a comparison. Of the rules that match a field, the last one counts.
///
/// ```
/// use timeloom_compare::Rules;
///
/// let mut rules = Rules::default();
/// rules.add("float64=1e-9")?;
/// rules.add("/odom:pose.pose.position.*=0.01")?;
/// rules.add("geometry_msgs/msg/Quaternion=0.5deg")?;
/// rules.ignore("header.stamp")?;
/// # Ok::<(), timeloom_compare::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// A tolerance and the fields that it is for.
#[derive(Debug, Clone)]
pub struct Rule {
    topic: Option<Pattern>,
    target: Target,
    tolerance: Tolerance,
}

#[derive(Debug, Clone)]
enum Target {
    /// Fields by their path: `pose.position.x`.
    Field(Pattern),
    /// Values of a type: `float64`, `geometry_msgs/msg/Quaternion`.
    Type(String),
}

/// The file form of [`Rules`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default)]
    tolerances: Vec<String>,
    #[serde(default)]
    ignore: Vec<String>,
}

impl Rules {
    /// Adds a rule of the form `[TOPIC:]FIELD=TOLERANCE` or `[TOPIC:]TYPE=TOLERANCE`.
    ///
    /// # Errors
    /// When the text is not such a rule.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let wrong = |reason: &str| Error::Rule {
            rule: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (target, tolerance) = text.split_once('=').ok_or_else(|| {
            wrong("expected [TOPIC:]FIELD=TOLERANCE, for example /odom:pose.*=0.01")
        })?;
        let tolerance = Tolerance::parse(tolerance).map_err(|reason| wrong(&reason))?;
        self.push(target, tolerance)
            .map_err(|reason| wrong(&reason))
    }

    /// Ignores the fields `[TOPIC:]FIELD`, the values `[TOPIC:]TYPE`, or a whole topic (`/topic`).
    ///
    /// # Errors
    /// When the text is empty.
    pub fn ignore(&mut self, text: &str) -> Result<()> {
        let whole_topic = text.starts_with('/') && !text.contains(':');
        let target = if whole_topic {
            format!("{text}:*")
        } else {
            text.to_owned()
        };
        self.push(&target, Tolerance::Ignore)
            .map_err(|reason| Error::Rule {
                rule: text.to_owned(),
                reason,
            })
    }

    /// Adds the rules of a YAML file: `tolerances` and `ignore`, two lists of texts.
    ///
    /// # Errors
    /// When the text is not such a file; with the line.
    pub fn add_file(&mut self, yaml: &str) -> Result<()> {
        let file: RulesFile =
            serde_saphyr::from_str(yaml).map_err(|error| Error::RulesFile(error.to_string()))?;
        for rule in &file.tolerances {
            self.add(rule)?;
        }
        for field in &file.ignore {
            self.ignore(field)?;
        }
        Ok(())
    }

    fn push(&mut self, target: &str, tolerance: Tolerance) -> std::result::Result<(), String> {
        let (topic, target) = match target.trim().split_once(':') {
            Some((topic, target)) => (Some(Pattern::new(topic.trim())), target.trim()),
            None => (None, target.trim()),
        };
        if target.is_empty() || topic.as_ref().is_some_and(Pattern::is_empty) {
            return Err("the topic or the field is empty".into());
        }
        let is_type = target.contains('/') || PRIMITIVES.contains(&target);
        let target = if is_type {
            Target::Type(target.to_owned())
        } else {
            Target::Field(Pattern::new(&target.replace("[]", "")))
        };
        self.rules.push(Rule {
            topic,
            target,
            tolerance,
        });
        Ok(())
    }

    /// The rules that may apply to a topic.
    pub(crate) fn of_topic(&self, topic: &str) -> TopicRules<'_> {
        let applies = |rule: &&Rule| {
            rule.topic
                .as_ref()
                .is_none_or(|pattern| pattern.matches(topic))
        };
        TopicRules {
            rules: self.rules.iter().filter(applies).collect(),
        }
    }
}

/// Names of types that a rule may have as its target.
const PRIMITIVES: &[&str] = &[
    "bool", "byte", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
    "uint64", "float32", "float64", "string", "wstring",
];

/// The rules of one topic.
pub(crate) struct TopicRules<'a> {
    rules: Vec<&'a Rule>,
}

impl TopicRules<'_> {
    /// The tolerance of a field; `None` where no rule is for it. `field` has `[]` behind arrays.
    pub(crate) fn tolerance(&self, field: &str, type_name: &str) -> Option<Tolerance> {
        if self.rules.is_empty() {
            return None;
        }
        let plain = field.replace("[]", "");
        let matches = |rule: &&&Rule| match &rule.target {
            Target::Type(name) => name == type_name,
            Target::Field(pattern) => pattern.matches(&plain),
        };
        self.rules
            .iter()
            .rev()
            .find(matches)
            .map(|rule| rule.tolerance)
    }

    /// Whether every field of the topic is ignored.
    pub(crate) fn ignores_all(&self) -> bool {
        let last = self.rules.last();
        last.is_some_and(|rule| {
            rule.tolerance == Tolerance::Ignore
                && matches!(&rule.target, Target::Field(pattern) if pattern.is_any())
        })
    }

    /// Whether equal bytes may still be a difference: a rule that compares NaN as different.
    pub(crate) fn equal_bytes_may_differ(&self) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.tolerance.nan() == Nan::Different)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Rules {
        let mut rules = Rules::default();
        for text in texts {
            rules.add(text).unwrap();
        }
        rules
    }

    #[test]
    fn the_last_rule_that_matches_counts() {
        let rules = rules(&["float64=1", "pose.*=2", "/odom:pose.x=3"]);
        let absolute = |topic: &str, field: &str| {
            let found = rules.of_topic(topic).tolerance(field, "float64");
            found.unwrap().absolute().to_string()
        };
        assert_eq!(absolute("/a", "speed"), "1");
        assert_eq!(absolute("/a", "pose.x"), "2");
        assert_eq!(absolute("/odom", "pose.x"), "3");
        assert_eq!(absolute("/odom", "pose.y"), "2");
        assert!(rules.of_topic("/a").tolerance("speed", "int8").is_none());
    }

    #[test]
    fn array_brackets_are_optional_in_a_rule() {
        for rule in ["poses[].x=1", "poses.x=1"] {
            let rules = rules(&[rule]);
            let topic = rules.of_topic("/a");
            assert!(topic.tolerance("poses[].x", "float64").is_some(), "{rule}");
        }
    }

    #[test]
    fn a_topic_name_alone_ignores_the_topic() {
        let mut rules = Rules::default();
        rules.ignore("/rosout").unwrap();
        rules.ignore("header.stamp").unwrap();
        assert!(!rules.of_topic("/odom").ignores_all());
        let ignored = rules.of_topic("/rosout").tolerance("anything", "string");
        assert_eq!(ignored, Some(Tolerance::Ignore));
    }

    #[test]
    fn invalid_rules_name_themselves() {
        let error = |text: &str| Rules::default().add(text).unwrap_err().to_string();
        assert_eq!(
            error("speed"),
            "invalid rule \"speed\": expected [TOPIC:]FIELD=TOLERANCE, for example /odom:pose.*=0.01"
        );
        assert_eq!(
            error("/odom:=1"),
            "invalid rule \"/odom:=1\": the topic or the field is empty"
        );
        assert!(error("speed=fast").contains("\"fast\" is not a tolerance"));
    }

    #[test]
    fn a_file_has_tolerances_and_ignored_fields() {
        let mut rules = Rules::default();
        rules
            .add_file("tolerances: ['float32=1e-6']\nignore: [header.stamp]\n")
            .unwrap();
        let topic = rules.of_topic("/a");
        assert!(topic.tolerance("x", "float32").is_some());
        assert_eq!(
            topic.tolerance("header.stamp", "builtin_interfaces/msg/Time"),
            Some(Tolerance::Ignore)
        );
        let error = rules.add_file("tolerance: []\n").unwrap_err().to_string();
        assert!(error.contains("tolerance"), "{error}");
    }
}
