/// Unusual data that a report mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A message of a topic without tags.
    Assumed,
    /// A message without inputs on a topic with inputs.
    WithoutInputs,
    /// A message with the topic and stamp of another.
    SharedStamp,
    /// A message that was dropped from memory early.
    Expired,
    /// A tag that arrived twice.
    Repeated,
}

impl Finding {
    const ALL: [Self; 5] = [
        Self::Assumed,
        Self::WithoutInputs,
        Self::SharedStamp,
        Self::Expired,
        Self::Repeated,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Assumed => {
                "messages of topics without tags: latency counts from their first reception"
            }
            Self::WithoutInputs => "messages name no inputs, unlike others of their topic",
            Self::SharedStamp => {
                "messages share topic and stamp with another: the newest one before the reception is used"
            }
            Self::Expired => "messages dropped from memory early: too many at once",
            Self::Repeated => "tags received twice, counted once",
        }
    }
}

/// The count of each [`Finding`].
#[derive(Debug, Default)]
pub(super) struct Findings {
    counts: [u64; Finding::ALL.len()],
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let at = Finding::ALL.iter().position(|it| *it == finding);
        if let Some(count) = at.and_then(|at| self.counts.get_mut(at)) {
            *count += 1;
        }
    }

    /// Counts and texts for a report.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &'static str)> + '_ {
        let counts = self.counts.iter().copied();
        counts.zip(Finding::ALL.map(Finding::text))
    }
}
