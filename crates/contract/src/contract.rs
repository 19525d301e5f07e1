use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::{Bounds, Error, Result, Span};

/// The rules for a good recording.
///
/// ```
/// use timeloom_contract::Contract;
///
/// let contract = Contract::parse("
/// topics:
///   /imu:
///     type: sensor_msgs/msg/Imu
///     rate: {min: 95, max: 105}
///     max_gap: 50ms
///     values:
///       linear_acceleration.z: {min: 5, max: 15}
/// ")?;
/// assert_eq!(contract.topics["/imu"].rate.unwrap().min, Some(95.0));
/// assert_eq!(Contract::parse(&contract.to_yaml())?, contract);
/// # Ok::<(), timeloom_contract::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The topics that a recording must have, by name.
    #[serde(default)]
    pub topics: BTreeMap<String, TopicContract>,
    /// Topics that the contract does not name.
    #[serde(default)]
    pub other_topics: OtherTopics,
    /// The clock of the recording host.
    pub clock: Option<ClockContract>,
}

/// Rules for the clock of the recording host. Missing parts are not checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockContract {
    /// Whether a program must synchronise it with a reference at all times.
    #[serde(default)]
    pub synchronised: bool,
    /// The programs that may do so, as `timeloom doctor` names them: `chrony`, `ptp4l`. Empty is any.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The largest estimated offset from the reference.
    pub max_offset: Option<Span>,
    /// The largest error bound.
    pub max_error: Option<Span>,
    /// The largest step by which it may be set.
    pub max_step: Option<Span>,
}

/// The treatment of topics that a contract does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherTopics {
    /// They may be there.
    #[default]
    Allowed,
    /// They are violations.
    Forbidden,
}

/// Rules for a topic. Missing parts are not checked.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicContract {
    /// The full type.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The QoS that every publisher offers.
    pub qos: Option<QosContract>,
    /// Whether the topic may be missing.
    #[serde(default)]
    pub optional: bool,
    /// Number of messages.
    pub count: Option<Bounds>,
    /// The mean rate in Hz.
    pub rate: Option<Bounds>,
    /// The longest time without a message, the start and the end of the recording included.
    pub max_gap: Option<Span>,
    /// The header stamps.
    pub stamps: Option<StampContract>,
    /// The frame in every header.
    pub frame_id: Option<String>,
    /// Numbers by field; every element of an array counts.
    #[serde(default)]
    pub values: BTreeMap<String, Bounds>,
    /// Limit of lost messages.
    pub max_lost: Option<u64>,
    /// Limit of unknown messages.
    pub max_unknown: Option<u64>,
}

/// QoS policies, as `ros2 topic info -v` names them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QosContract {
    /// `reliable` or `best_effort`.
    pub reliability: Option<String>,
    /// `volatile` or `transient_local`.
    pub durability: Option<String>,
}

/// Rules for header stamps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StampContract {
    /// Whether stamps never go back.
    #[serde(default)]
    pub monotonic: bool,
    /// The largest age of a stamp when the message was received.
    pub max_age: Option<Span>,
    /// The furthest that a stamp may lie after the time of reception.
    pub max_future: Option<Span>,
}

impl Contract {
    /// Parses the YAML of a contract.
    ///
    /// # Errors
    /// When it is not a contract; with the line.
    pub fn parse(yaml: &str) -> Result<Self> {
        let contract: Self =
            serde_saphyr::from_str(yaml).map_err(|error| Error::Contract(error.to_string()))?;
        contract.check()?;
        Ok(contract)
    }

    fn check(&self) -> Result<()> {
        let names_nothing = self.topics.is_empty() && self.clock.is_none();
        if names_nothing && self.other_topics == OtherTopics::Allowed {
            return Err(Error::Contract("`topics:` lists no topic".into()));
        }
        for (name, topic) in &self.topics {
            let wrong =
                |what: &str, problem: &str| Error::Contract(format!("{name}: {what}: {problem}"));
            if !name.starts_with('/') {
                return Err(wrong("name", "a topic begins with /"));
            }
            let bounds = [("count", topic.count), ("rate", topic.rate)];
            let bounds = bounds
                .into_iter()
                .filter_map(|(what, bounds)| Some((what, bounds?)));
            let values = topic.values.iter();
            for (what, bounds) in
                bounds.chain(values.map(|(field, bounds)| (field.as_str(), *bounds)))
            {
                if let Some(problem) = bounds.problem() {
                    return Err(wrong(what, problem));
                }
            }
            if let Some(qos) = &topic.qos {
                check_name(qos.reliability.as_ref(), &["reliable", "best_effort"])
                    .map_err(|problem| wrong("qos.reliability", &problem))?;
                check_name(qos.durability.as_ref(), &["volatile", "transient_local"])
                    .map_err(|problem| wrong("qos.durability", &problem))?;
            }
        }
        Ok(())
    }

    /// The contract as YAML.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        if self.other_topics == OtherTopics::Forbidden {
            out.push_str("other_topics: forbidden\n");
        }
        if let Some(clock) = &self.clock {
            clock.write_yaml(&mut out);
        }
        if self.topics.is_empty() {
            return out;
        }
        out.push_str("topics:\n");
        for (name, topic) in &self.topics {
            topic.write_yaml(name, &mut out);
        }
        out
    }
}

fn check_name(name: Option<&String>, known: &[&str]) -> std::result::Result<(), String> {
    match name {
        Some(name) if !known.contains(&name.as_str()) => {
            Err(format!("{name:?} is not one of {}", known.join(", ")))
        }
        _ => Ok(()),
    }
}

impl ClockContract {
    fn write_yaml(&self, out: &mut String) {
        let span =
            |name: &str, span: Option<Span>| span.map(|span| format!("{name}: {}", span.yaml()));
        let sources = self.sources.iter().map(|source| quoted(source));
        let sources: Vec<String> = sources.collect();
        let parts = [
            self.synchronised.then(|| "synchronised: true".to_owned()),
            (!sources.is_empty()).then(|| format!("sources: [{}]", sources.join(", "))),
            span("max_offset", self.max_offset),
            span("max_error", self.max_error),
            span("max_step", self.max_step),
        ];
        // Writing to a string cannot fail.
        let _ok = writeln!(out, "clock: {{{}}}", join(parts));
    }
}

impl TopicContract {
    fn write_yaml(&self, name: &str, out: &mut String) {
        let mut line = |text: String| {
            // Writing to a string cannot fail.
            let _ok = writeln!(out, "{text}");
        };
        line(format!("  {}:", quoted(name)));
        if let Some(type_name) = &self.type_name {
            line(format!("    type: {type_name}"));
        }
        if self.optional {
            line("    optional: true".into());
        }
        if let Some(qos) = &self.qos {
            let parts = [
                qos.reliability
                    .as_ref()
                    .map(|name| format!("reliability: {name}")),
                qos.durability
                    .as_ref()
                    .map(|name| format!("durability: {name}")),
            ];
            line(format!("    qos: {{{}}}", join(parts)));
        }
        for (key, bounds) in [("count", self.count), ("rate", self.rate)] {
            if let Some(bounds) = bounds {
                line(format!("    {key}: {}", inline(bounds)));
            }
        }
        if let Some(gap) = self.max_gap {
            line(format!("    max_gap: {}", gap.yaml()));
        }
        if let Some(stamps) = &self.stamps {
            let parts = [
                stamps.monotonic.then(|| "monotonic: true".to_owned()),
                stamps.max_age.map(|age| format!("max_age: {}", age.yaml())),
                stamps
                    .max_future
                    .map(|future| format!("max_future: {}", future.yaml())),
            ];
            line(format!("    stamps: {{{}}}", join(parts)));
        }
        if let Some(frame) = &self.frame_id {
            line(format!("    frame_id: {}", quoted(frame)));
        }
        for (key, number) in [
            ("max_lost", self.max_lost),
            ("max_unknown", self.max_unknown),
        ] {
            if let Some(number) = number {
                line(format!("    {key}: {number}"));
            }
        }
        if !self.values.is_empty() {
            line("    values:".into());
            for (field, bounds) in &self.values {
                line(format!("      {}: {}", quoted(field), inline(*bounds)));
            }
        }
    }
}

fn join<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

fn inline(bounds: Bounds) -> String {
    let end = |name: &str, end: Option<f64>| end.map(|end| format!("{name}: {end:?}"));
    format!(
        "{{{}}}",
        join([end("min", bounds.min), end("max", bounds.max)])
    )
}

/// A text in double quotes, unless it is plain.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '/' | '.');
    let starts_plain =
        text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    if starts_plain
        && text.chars().all(plain)
        && !matches!(
            text,
            "true" | "false" | "null" | "yes" | "no" | "on" | "off"
        )
    {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ok = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(yaml: &str) -> String {
        Contract::parse(yaml).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("topics: {/a: {rates: {min: 1}}}").contains("rates"));
        assert!(error("topics: {/a: {max_gap: 5}}").contains("duration"));
        assert_eq!(
            error("topics: {/a: {rate: {min: 2, max: 1}}}"),
            "invalid contract: /a: rate: max is less than min"
        );
        assert_eq!(
            error("topics: {}"),
            "invalid contract: `topics:` lists no topic"
        );
        assert_eq!(
            error("topics: {a: {}}"),
            "invalid contract: a: name: a topic begins with /"
        );
        assert!(
            error("topics: {/a: {qos: {reliability: best}}}")
                .contains("is not one of reliable, best_effort")
        );
    }

    #[test]
    fn every_part_survives_its_text() {
        let yaml = "
topics:
  /a:
    type: sensor_msgs/msg/Imu
    optional: true
    qos: {reliability: reliable, durability: volatile}
    count: {min: 1}
    rate: {min: 0.5, max: 1e9}
    max_gap: 50ms
    stamps: {monotonic: true, max_age: 1s, max_future: 5us}
    frame_id: \"yes: \\\"#\"
    max_lost: 0
    max_unknown: 3
    values: {\"x[0]\": {max: -1}}
other_topics: forbidden
clock: {synchronised: true, sources: [chrony, ptp4l], max_offset: 1ms, max_error: 5us, max_step: 0s}
";
        let contract = Contract::parse(yaml).unwrap();
        assert_eq!(Contract::parse(&contract.to_yaml()).unwrap(), contract);
    }
}
