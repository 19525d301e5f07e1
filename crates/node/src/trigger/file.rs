use timeloom_bag::yaml::{self, Node};
use timeloom_time::Duration;

use super::definition::{Trigger, TriggerDefaults, wrong_name};
use super::parser::parse;

const KEYS: [&str; 4] = ["before", "after", "cooldown", "triggers"];
const TRIGGER_KEYS: [&str; 5] = ["name", "when", "before", "after", "cooldown"];

impl Trigger {
    /// Parses a YAML file of triggers:
    ///
    /// ```
    /// use timeloom_node::trigger::{Trigger, TriggerDefaults};
    ///
    /// let triggers = Trigger::parse_file("
    /// before: 20s
    /// triggers:
    ///   - name: low_battery
    ///     when: /battery.voltage < 11.5 for 2s
    ///     after: 1min
    ///   - name: scan_lost
    ///     when: silent(/scan, 1s)
    /// ", &TriggerDefaults::default())?;
    /// assert_eq!(triggers[1].before.nanos(), 20_000_000_000);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong, and in which trigger.
    pub fn parse_file(text: &str, defaults: &TriggerDefaults) -> Result<Vec<Self>, String> {
        let document = yaml::parse(text).map_err(|error| error.to_string())?;
        known_keys(&document, &KEYS)?;
        let defaults = times(&document, defaults)?;
        let list = document.get("triggers").and_then(Node::as_sequence);
        let list = list.filter(|list| !list.is_empty());
        let list = list.ok_or("`triggers:` lists no trigger")?;
        let mut triggers = Vec::new();
        for (index, node) in list.iter().enumerate() {
            let name = node.get("name").and_then(Node::as_str).unwrap_or_default();
            let trigger = one(node, name, &defaults).map_err(|reason| {
                if name.is_empty() {
                    format!("trigger {}: {reason}", index + 1)
                } else {
                    format!("trigger {name}: {reason}")
                }
            })?;
            triggers.push(trigger);
        }
        Ok(triggers)
    }
}

fn one(node: &Node, name: &str, defaults: &TriggerDefaults) -> Result<Trigger, String> {
    known_keys(node, &TRIGGER_KEYS)?;
    if name.is_empty() {
        return Err("`name:` is missing".to_owned());
    }
    if let Some(reason) = wrong_name(name) {
        return Err(reason);
    }
    let when = node.get("when").and_then(Node::as_str);
    let when = when.ok_or("`when:` is missing")?;
    let condition = parse(when).map_err(|error| match &error.hint {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    })?;
    Ok(Trigger::new(name, condition, &times(node, defaults)?))
}

fn times(node: &Node, defaults: &TriggerDefaults) -> Result<TriggerDefaults, String> {
    let time = |key: &str, default: Duration| {
        let Some(value) = node.get(key) else {
            return Ok(default);
        };
        let text = value.as_str().unwrap_or_default();
        let span = timeloom_trace::parse_span(text).map_err(|error| format!("{key}: {error}"))?;
        if span < Duration::ZERO {
            return Err(format!("{key}: {text} is negative"));
        }
        Ok(span)
    };
    Ok(TriggerDefaults {
        before: time("before", defaults.before)?,
        after: time("after", defaults.after)?,
        cooldown: time("cooldown", defaults.cooldown)?,
    })
}

fn known_keys(node: &Node, known: &[&str]) -> Result<(), String> {
    let entries = node.as_map().ok_or("not a map")?;
    for (key, _) in entries {
        if !known.contains(&key.as_str()) {
            let near = timeloom_text::nearest(key, known.iter().copied());
            let near = near.map_or_else(
                || format!("expected one of {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(format!("unknown key `{key}`: {near}"));
        }
    }
    Ok(())
}
