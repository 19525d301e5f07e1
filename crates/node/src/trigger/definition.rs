use timeloom_time::Duration;

use super::condition::{Condition, TopicOrService};
use super::parser::parse;
use super::syntax_error::SyntaxError;

/// A named condition, and the time around it that is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// Its name: letters, digits and underscores.
    pub name: String,
    /// When it fires: at each moment at which the condition becomes true.
    pub condition: Condition,
    /// The recorded time before it fires.
    pub before: Duration,
    /// The recorded time after it fires.
    pub after: Duration,
    /// The shortest time between two firings.
    pub cooldown: Duration,
}

/// The times of triggers that name none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerDefaults {
    /// The recorded time before it fires.
    pub before: Duration,
    /// The recorded time after it fires.
    pub after: Duration,
    /// The shortest time between two firings.
    pub cooldown: Duration,
}

impl Default for TriggerDefaults {
    /// Thirty seconds before, ten after, no cooldown.
    fn default() -> Self {
        Self {
            before: Duration::from_secs(30),
            after: Duration::from_secs(10),
            cooldown: Duration::ZERO,
        }
    }
}

impl Trigger {
    /// Parses `name: condition`.
    ///
    /// # Errors
    /// The place in the text, the reason and a suggestion.
    pub fn parse(text: &str, defaults: &TriggerDefaults) -> Result<Self, SyntaxError> {
        let Some((name, condition)) = text.split_once(':') else {
            let error = SyntaxError::new(text, 0, "a trigger has a name");
            return Err(error.hint(format!("write `name: {}`", text.trim())));
        };
        if let Some(reason) = wrong_name(name.trim()) {
            return Err(SyntaxError::new(text, 0, reason).hint("for example `low_battery`"));
        }
        let condition = parse(condition).map_err(|error| {
            let before = text.chars().count() - condition.chars().count();
            SyntaxError {
                text: text.to_owned(),
                position: error.position + before,
                ..error
            }
        })?;
        Ok(Self::new(name.trim(), condition, defaults))
    }

    pub(super) fn new(name: &str, condition: Condition, defaults: &TriggerDefaults) -> Self {
        Self {
            name: name.to_owned(),
            condition,
            before: defaults.before,
            after: defaults.after,
            cooldown: defaults.cooldown,
        }
    }

    /// The topics and services that must be recorded for it.
    pub fn inputs(&self) -> impl Iterator<Item = TopicOrService> {
        self.condition.inputs().into_iter()
    }
}

/// Why a name cannot be that of a trigger: a service is called after it.
pub(super) fn wrong_name(name: &str) -> Option<String> {
    let starts = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let valid = starts && name.chars().all(plain) && !name.contains("__") && !name.ends_with('_');
    (!valid).then(|| {
        format!("`{name}` is not a name: use letters, digits and single underscores, with a letter first")
    })
}
