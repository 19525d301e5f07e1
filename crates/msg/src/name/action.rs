//! The hidden topics and services of an action: `/fibonacci/_action/feedback` and four more.

use super::dds::{service_event_topic, service_of_event_topic};

/// Separates the name of an action from its parts.
const MARK: &str = "/_action/";

/// One of the five parts of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionPart {
    /// The service that sends a goal.
    SendGoal,
    /// The service that cancels goals.
    CancelGoal,
    /// The service that returns the result.
    GetResult,
    /// The topic of the feedback.
    Feedback,
    /// The topic of the goals' states.
    Status,
}

impl ActionPart {
    /// All parts, the services first.
    pub const ALL: [Self; 5] = [
        Self::SendGoal,
        Self::CancelGoal,
        Self::GetResult,
        Self::Feedback,
        Self::Status,
    ];

    /// The last part of the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SendGoal => "send_goal",
            Self::CancelGoal => "cancel_goal",
            Self::GetResult => "get_result",
            Self::Feedback => "feedback",
            Self::Status => "status",
        }
    }

    /// Whether the part is a service, which shows in a bag only by its events.
    pub fn is_service(self) -> bool {
        matches!(self, Self::SendGoal | Self::CancelGoal | Self::GetResult)
    }

    /// The name of the part: `/fibonacci/_action/send_goal`.
    pub fn name_of(self, action: &str) -> String {
        format!("{action}{MARK}{}", self.as_str())
    }

    /// The topic that carries the part in a bag: the topic itself, or the events of the service.
    pub fn recorded_topic(self, action: &str) -> String {
        let name = self.name_of(action);
        if self.is_service() {
            service_event_topic(&name)
        } else {
            name
        }
    }
}

/// The action and the part that a topic or a service belongs to, or `None` for any other name.
///
/// Event topics of the services count as their service.
pub fn action_of(name: &str) -> Option<(&str, ActionPart)> {
    let event = service_of_event_topic(name);
    let (action, last) = event.unwrap_or(name).rsplit_once(MARK)?;
    let part = ActionPart::ALL
        .into_iter()
        .find(|part| part.as_str() == last)?;
    (!action.is_empty() && (event.is_none() || part.is_service())).then_some((action, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_both_ways() {
        for part in ActionPart::ALL {
            assert_eq!(
                action_of(&part.name_of("/fibonacci")),
                Some(("/fibonacci", part))
            );
            assert_eq!(
                action_of(&part.recorded_topic("/a/b")),
                Some(("/a/b", part))
            );
        }
        let topic = ActionPart::SendGoal.recorded_topic("/fibonacci");
        assert_eq!(topic, "/fibonacci/_action/send_goal/_service_event");
    }

    #[test]
    fn other_names() {
        for name in [
            "/chatter",
            "/_action/feedback",
            "/a/_action/other",
            "/a/_action/feedback/_service_event",
            "",
        ] {
            assert_eq!(action_of(name), None, "{name}");
        }
    }
}
