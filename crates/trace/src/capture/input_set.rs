use super::ring::Received;

/// A received message as an input of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub(super) input: u32,
    pub(super) received: Received,
}

impl Used {
    /// Its reception and stamp.
    pub fn received(&self) -> Received {
        self.received
    }
}

/// The inputs of one output: a separate set, so that threads and buffers cannot mix inputs up.
///
/// Several messages of one topic may be in it. A set that is [cleared](Self::clear) and used again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct InputSet {
    pub(super) used: Vec<Used>,
}

impl InputSet {
    /// An empty set with room for `messages`.
    pub fn with_capacity(messages: usize) -> Self {
        Self {
            used: Vec::with_capacity(messages),
        }
    }

    /// Adds a message; one that is in the set already is not added again.
    pub fn add(&mut self, used: Used) {
        if !self.used.contains(&used) {
            self.used.push(used);
        }
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.used.clear();
    }

    /// Number of messages.
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
