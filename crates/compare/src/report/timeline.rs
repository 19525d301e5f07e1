use serde::Serialize;

/// Times at which messages are the same, differ, or have no partner.
#[derive(Debug, Clone, Serialize)]
pub struct Timeline {
    /// Equal parts of the longer bag, in their order.
    pub cells: Vec<TimelineCell>,
    #[serde(skip)]
    length_ns: i64,
}

/// The messages of one part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TimelineCell {
    /// Pairs without a difference.
    pub same: u64,
    /// Pairs that differ.
    pub different: u64,
    /// Messages of the left bag without a partner.
    pub only_left: u64,
    /// Messages of the right bag without a partner.
    pub only_right: u64,
}

const CELLS: usize = 120;

impl Timeline {
    pub(crate) fn new(length_ns: i64) -> Self {
        Self {
            cells: vec![TimelineCell::default(); CELLS],
            length_ns: length_ns.max(1),
        }
    }

    /// The cell of a time since the start of a bag; times outside of the bag count to the first or last cell.
    pub(crate) fn cell(&mut self, time_ns: i64) -> &mut TimelineCell {
        let scaled = i128::from(time_ns.max(0)) * CELLS as i128 / i128::from(self.length_ns);
        let index = usize::try_from(scaled).unwrap_or(CELLS);
        &mut self.cells[index.min(CELLS - 1)]
    }
}
