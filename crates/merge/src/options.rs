//! Options of merging.

use timeloom_bag::convert::OnDamage;

/// The times of the merged messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stamps {
    /// Those of the recorders: the offsets are noted in the metadata.
    #[default]
    Left,
    /// Log times and publish times by the clock of the reference host. Payloads, and so header stamps, are left.
    Corrected,
}

/// The treatment of a message that several recorders have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// All copies are kept.
    #[default]
    Keep,
    /// The first copy is kept.
    Remove,
}

/// The options of a merge.
#[derive(Debug, Clone)]
pub struct MergeOptions {
    /// The bag of the host whose clock is the timeline, by its place among the inputs.
    pub reference: usize,
    /// The times of the merged messages.
    pub stamps: Stamps,
    /// The treatment of copies.
    pub duplicates: Duplicates,
    /// Clocks of two hosts never run apart faster, in ppm.
    pub skew_ppm: f64,
    /// Topics that are published on the host of a bag: topic, and the place of the bag among the inputs.
    pub published_on: Vec<(String, usize)>,
    /// The treatment of damaged inputs.
    pub on_damage: OnDamage,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            reference: 0,
            stamps: Stamps::Left,
            duplicates: Duplicates::Keep,
            // The kernel slews a clock by 500 ppm at most.
            skew_ppm: 500.0,
            published_on: Vec::new(),
            on_damage: OnDamage::Fail,
        }
    }
}
