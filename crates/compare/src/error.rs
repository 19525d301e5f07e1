/// An error of a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A bag cannot be read.
    #[error("cannot read {bag}: {source}")]
    Bag {
        /// The bag, as the user named it.
        bag: String,
        /// The error of the reader.
        source: timeloom_bag::Error,
    },
    /// A rule is not valid.
    #[error("invalid rule {rule:?}: {reason}")]
    Rule {
        /// The text of the rule.
        rule: String,
        /// The reason.
        reason: String,
    },
    /// A file of rules is not valid.
    #[error("invalid rules: {0}")]
    RulesFile(String),
    /// Messages cannot be aligned as asked.
    #[error("cannot align {topic} by {by}: {reason}")]
    Align {
        /// The topic.
        topic: String,
        /// The alignment that was asked for.
        by: &'static str,
        /// The reason.
        reason: String,
    },
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
