use std::fmt;
use std::sync::Arc;

use timeloom_msg::TypeResolver;
use timeloom_time::{Clock, Ros};

/// Decides by name and type whether a topic is shown.
pub type TakesTopic = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// Options of a [`GraphView`](super::GraphView).
#[derive(Clone)]
pub struct GraphViewOptions {
    /// The name shown to clients.
    pub name: String,
    /// Which topics to subscribe to.
    pub listening: Listening,
    /// Whether hidden topics are shown.
    pub hidden: Hidden,
    /// Decides by name and type whether a topic is shown.
    pub takes: TakesTopic,
    /// Known definitions; the others are requested from nodes.
    pub types: TypeResolver,
    /// The clock that stamps messages, if it is not the system clock.
    pub clock: Option<Clock<Ros>>,
}

/// Which topics to subscribe to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listening {
    /// All topics, so that rates and losses are known for each.
    #[default]
    Always,
    /// Topics that a client subscribes to, and those that the page itself decodes.
    OnDemand,
}

/// Handling of hidden topics: those with a name part that begins with `_`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// Not shown, as in the `ros2` command.
    #[default]
    LeftOut,
    /// Shown.
    Shown,
}

impl Default for GraphViewOptions {
    fn default() -> Self {
        Self {
            name: "live".into(),
            listening: Listening::default(),
            hidden: Hidden::default(),
            takes: Arc::new(|_, _| true),
            types: TypeResolver::default(),
            clock: None,
        }
    }
}

impl GraphViewOptions {
    /// Whether a topic is shown.
    pub(super) fn shows(&self, topic: &str, type_name: &str) -> bool {
        let hidden = topic.split('/').any(|part| part.starts_with('_'));
        topic.starts_with('/')
            && (!hidden || self.hidden == Hidden::Shown)
            && (self.takes)(topic, type_name)
    }
}

impl fmt::Debug for GraphViewOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphViewOptions")
            .field("name", &self.name)
            .field("listening", &self.listening)
            .field("hidden", &self.hidden)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_topics_are_shown_when_asked_for() {
        let mut options = GraphViewOptions {
            takes: Arc::new(|topic, _| topic != "/not"),
            ..GraphViewOptions::default()
        };
        let shown = |options: &GraphViewOptions| {
            ["/a", "/_a", "/a/_b/c", "a", "/not"]
                .into_iter()
                .filter(|topic| options.shows(topic, "x/msg/Y"))
                .count()
        };
        assert_eq!(shown(&options), 1);
        options.hidden = Hidden::Shown;
        assert_eq!(shown(&options), 3);
    }
}
