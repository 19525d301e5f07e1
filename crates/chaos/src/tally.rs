use crate::claims::Counts;

/// The results of one kind of fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) injected: u64,
    /// Cases in which every check passed.
    pub(crate) survived: u64,
    /// Number of kills with SIGKILL.
    pub(crate) kills: u64,
    pub(crate) published: u64,
    pub(crate) recorded: u64,
    pub(crate) lost_in_transport: u64,
    pub(crate) lost_in_recorder: u64,
    /// Left out on purpose.
    pub(crate) left_out: u64,
    /// Messages that the bag reports as unknown.
    pub(crate) unknown: u64,
    /// Unexplained messages; must be 0.
    pub(crate) unexplained: u64,
    pub(crate) hung: u64,
    /// Peak memory of a recorder or player, in bytes.
    pub(crate) peak_bytes: u64,
    /// Descriptions of failures.
    pub(crate) problems: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.injected += other.injected;
        self.survived += other.survived;
        self.kills += other.kills;
        self.published += other.published;
        self.recorded += other.recorded;
        self.lost_in_transport += other.lost_in_transport;
        self.lost_in_recorder += other.lost_in_recorder;
        self.left_out += other.left_out;
        self.unknown += other.unknown;
        self.unexplained += other.unexplained;
        self.hung += other.hung;
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.problems.extend(other.problems.iter().cloned());
    }

    /// Adds published messages and the account.
    pub(crate) fn count(&mut self, published: u64, counts: &Counts) {
        self.published += published;
        self.recorded += counts.recorded;
        self.lost_in_transport += counts.lost_in_transport;
        self.lost_in_recorder += counts.lost_in_recorder;
        self.left_out += counts.left_out;
    }

    /// Adds a failure unless the condition holds.
    pub(crate) fn check(&mut self, right: bool, wrong: impl FnOnce() -> String) {
        if !right {
            self.problems.push(wrong());
        }
    }

    /// Adds unexplained messages.
    pub(crate) fn unexplained(&mut self, count: u64, wrong: impl FnOnce() -> String) {
        self.unexplained += count;
        self.check(count == 0, wrong);
    }

    pub(crate) fn is_good(&self) -> bool {
        self.problems.is_empty() && self.unexplained == 0 && self.hung == 0
    }
}
