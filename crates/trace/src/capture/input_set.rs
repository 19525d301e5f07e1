use super::ring::Received;

/// A message that was received, as an input of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub(super) input: u32,
    pub(super) received: Received,
}

impl Used {
    /// When it came, and its stamp.
    pub fn received(&self) -> Received {
        self.received
    }
}

/// What one output is made of: a scope of its own, so that threads and buffers cannot mix inputs up.
///
/// Several messages of one topic may be in it. A set that is [cleared](Self::clear) and used again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct InputSet {
    pub(super) used: Vec<Used>,
}

impl InputSet {
    /// A set without messages, with room for that many.
    pub fn with_capacity(messages: usize) -> Self {
        Self {
            used: Vec::with_capacity(messages),
        }
    }

    /// Adds a message; one that is there already is not added again.
    pub fn add(&mut self, used: Used) {
        if !self.used.contains(&used) {
            self.used.push(used);
        }
    }

    /// Takes all messages out.
    pub fn clear(&mut self) {
        self.used.clear();
    }

    /// How many messages it has.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }
}

impl FromIterator<Used> for InputSet {
    fn from_iter<I: IntoIterator<Item = Used>>(messages: I) -> Self {
        let mut set = Self::default();
        for used in messages {
            set.add(used);
        }
        set
    }
}
