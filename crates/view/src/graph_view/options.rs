use std::fmt;
use std::sync::Arc;

use timeloom_msg::TypeResolver;
use timeloom_time::{Clock, Ros};

/// Whether a topic, by its name and type, is shown.
pub type TakesTopic = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// What of a graph is shown, and how.
#[derive(Clone)]
pub struct GraphViewOptions {
    /// What it is called.
    pub name: String,
    /// Which topics are listened to.
    pub listening: Listening,
    /// Whether hidden topics are shown.
    pub hidden: Hidden,
    /// Whether a topic, by its name and type, is shown.
    pub takes: TakesTopic,
    /// Definitions at hand; others are asked for.
    pub types: TypeResolver,
    /// The time that messages carry, if it is not the machine's.
    pub clock: Option<Clock<Ros>>,
}

/// Which topics are listened to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listening {
    /// All: rates and losses are known of each.
    #[default]
    Always,
    /// Those that a client wants, and those that the page itself looks into.
    OnDemand,
}

/// Whether topics with a part that begins with `_` are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// They are not, as in the `ros2` command.
    #[default]
    LeftOut,
    /// They are.
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
