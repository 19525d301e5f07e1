/// A fault in a reply of a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFault {
    /// It never answers.
    Silence,
    /// It closes the connection.
    Close,
    /// It answers with the first half of the JSON.
    TruncatedJson,
    /// It announces more than it sends, and closes the connection.
    TruncatedBody,
    /// It answers something that is no HTTP.
    Garbage,
    /// It announces a gigabyte.
    Huge,
    /// It answers with this HTTP status.
    HttpStatus(u16),
    /// It refuses with this error code.
    ErrorCode(i64),
}

/// Faults of a simulated device; none by default. They can be changed while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Faults of replies.
    pub reply: Option<ReplyFault>,
    /// Only replies to this command are wrong.
    pub only_command: Option<String>,
    /// The reply for `system_time_raw` is not a number.
    pub bad_time: bool,
    /// One packet in so many is lost; zero for none.
    pub lose_one_in: u32,
    /// One packet in so many is sent twice; zero for none.
    pub duplicate_one_in: u32,
    /// One packet in so many is cut short; zero for none.
    pub damage_one_in: u32,
    /// One packet in so many is sent after the one that follows it; zero for none.
    pub swap_one_in: u32,
    /// Taken off the numbers of scans, so that they go backwards when it is set.
    pub renumber: u16,
    /// No packet is sent at all.
    pub mute: bool,
    /// Flags that are set in every packet.
    pub status: u32,
}

impl Faults {
    /// The fault of the reply to this command.
    pub(super) fn of_reply(&self, command: &str) -> Option<ReplyFault> {
        let concerned = self
            .only_command
            .as_ref()
            .is_none_or(|only| only == command);
        self.reply.filter(|_| concerned)
    }
}
