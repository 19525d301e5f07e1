//! Size, number and rate of the messages.

#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// For the cost of a message.
    pub(crate) steady: Pace,
    /// For the speed.
    pub(crate) flood: Pace,
}

#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) count: u64,
    /// 0 for as fast as can be.
    pub(crate) hertz: u64,
}

const fn pace(count: u64, hertz: u64) -> Pace {
    Pace { count, hertz }
}

impl Load {
    pub(crate) const ALL: [Self; 3] = [
        Self {
            name: "100b",
            size: 100,
            steady: pace(20_000, 10_000),
            flood: pace(60_000, 0),
        },
        Self {
            name: "64k",
            size: 65_536,
            steady: pace(800, 400),
            flood: pace(3_000, 0),
        },
        Self {
            name: "1mb",
            size: 1_000_000,
            steady: pace(60, 30),
            flood: pace(200, 0),
        },
    ];
}
