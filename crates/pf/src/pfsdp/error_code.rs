use std::fmt;

/// The `error_code` of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// All is well.
    pub const SUCCESS: Self = Self(0);
    /// An argument that the command does not know.
    pub const UNKNOWN_ARGUMENT: Self = Self(100);
    /// A parameter that the device does not have.
    pub const UNKNOWN_PARAMETER: Self = Self(110);
    /// The handle is not, or no longer, valid.
    pub const INVALID_HANDLE: Self = Self(120);
    /// An argument is missing.
    pub const ARGUMENT_MISSING: Self = Self(130);
    /// An invalid value.
    pub const INVALID_VALUE: Self = Self(200);
    /// A value outside of its range.
    pub const OUT_OF_RANGE: Self = Self(210);
    /// A parameter that can only be read.
    pub const READ_ONLY: Self = Self(220);
    /// The device has no memory left.
    pub const OUT_OF_MEMORY: Self = Self(230);
    /// All handles are in use.
    pub const IN_USE: Self = Self(240);
    /// Something inside the device.
    pub const INTERNAL: Self = Self(333);

    /// The meaning.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::SUCCESS => "success",
            Self::UNKNOWN_ARGUMENT => "unknown argument",
            Self::UNKNOWN_PARAMETER => "unknown parameter",
            Self::INVALID_HANDLE => "invalid handle or no handle",
            Self::ARGUMENT_MISSING => "required argument missing",
            Self::INVALID_VALUE => "invalid value",
            Self::OUT_OF_RANGE => "value out of range",
            Self::READ_ONLY => "write to a read-only parameter",
            Self::OUT_OF_MEMORY => "out of memory",
            Self::IN_USE => "resource in use",
            Self::INTERNAL => "internal error",
            _ => "unknown error",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.0, self.meaning())
    }
}
