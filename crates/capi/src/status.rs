use std::ffi::{CStr, c_char};

/// The result of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeloomStatus {
    /// All is well.
    Ok = 0,
    /// A pointer is null.
    NullPointer = 1,
    /// A counter value has more bits than the counter, or a time is out of range.
    OutOfRange = 2,
    /// An answer came before its request.
    AnswerBeforeRequest = 3,
    /// Nothing can be converted before the first sample.
    Unsynced = 4,
    /// A sample that contradicts itself.
    BadSample = 5,
}

impl TimeloomStatus {
    const ALL: [Self; 6] = [
        Self::Ok,
        Self::NullPointer,
        Self::OutOfRange,
        Self::AnswerBeforeRequest,
        Self::Unsynced,
        Self::BadSample,
    ];

    const fn text(self) -> &'static CStr {
        match self {
            Self::Ok => c"ok",
            Self::NullPointer => c"a pointer is null",
            Self::OutOfRange => c"a counter value or a time is out of range",
            Self::AnswerBeforeRequest => c"the answer came before its request",
            Self::Unsynced => c"nothing can be converted before the first sample",
            Self::BadSample => c"the sample contradicts itself",
        }
    }
}

impl From<&timeloom_sync::Error> for TimeloomStatus {
    fn from(error: &timeloom_sync::Error) -> Self {
        use timeloom_sync::Error;
        match error {
            Error::StampOutOfRange { .. }
            | Error::TickTooWide { .. }
            | Error::TicksOutOfRange { .. } => Self::OutOfRange,
            Error::AnswerBeforeRequest { .. } => Self::AnswerBeforeRequest,
            _ => Self::BadSample,
        }
    }
}

/// The words for a `TimeloomStatus`; a text that is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn timeloom_status_text(status: u32) -> *const c_char {
    // C can give any number for an enumeration.
    let known = TimeloomStatus::ALL
        .into_iter()
        .find(|known| *known as u32 == status);
    known
        .map_or(c"no such status", TimeloomStatus::text)
        .as_ptr()
}
