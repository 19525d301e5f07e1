//! The steps over a payload, and their execution.

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    /// Bytes of a fixed layout: align, then step.
    Fixed { align: u64, size: u64 },
    /// A string: a length and that many bytes.
    String,
    /// A sequence whose elements have a fixed layout.
    Sequence { align: u64, size: u64 },
    /// Elements one by one, with the number of a fixed array or of the payload.
    Repeat {
        count: Option<u32>,
        min_size: u64,
        body: Box<[Self]>,
    },
}

/// The program for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    ops: Box<[Op]>,
    /// The offset if nothing before the field has a variable size.
    fixed: Option<u64>,
}

impl Program {
    pub(super) fn new(ops: Vec<Op>) -> Self {
        // The first run starts at offset 0, which is aligned to anything.
        let fixed = match ops.as_slice() {
            [] => Some(0),
            [Op::Fixed { size, .. }] => Some(*size),
            _ => None,
        };
        Self {
            ops: ops.into(),
            fixed,
        }
    }

    /// The offset of the field when it is the same in every payload.
    pub(super) fn fixed_offset(&self) -> Option<u64> {
        self.fixed
    }

    /// The offset of the field in `body`, before its own alignment; `None` when the payload is too short.
    #[inline]
    pub(super) fn run<const BIG_ENDIAN: bool>(&self, body: &[u8]) -> Option<u64> {
        match self.fixed {
            Some(offset) => Some(offset),
            None => run::<BIG_ENDIAN>(&self.ops, body, 0),
        }
    }
}

/// The offset after all steps; `None` when the payload is too short.
pub(super) fn run<const BIG_ENDIAN: bool>(ops: &[Op], body: &[u8], start: u64) -> Option<u64> {
    let mut at = start;
    for op in ops {
        match op {
            Op::Fixed { align, size } => at = at.next_multiple_of(*align).checked_add(*size)?,
            Op::String => {
                let (length, after) = read_u32::<BIG_ENDIAN>(body, at)?;
                at = after + u64::from(length);
            }
            Op::Sequence { align, size } => {
                let (count, after) = read_u32::<BIG_ENDIAN>(body, at)?;
                at = after;
                if count > 0 {
                    let before_last =
                        u64::from(count - 1).checked_mul(size.checked_next_multiple_of(*align)?)?;
                    at = at
                        .next_multiple_of(*align)
                        .checked_add(before_last)?
                        .checked_add(*size)?;
                }
            }
            Op::Repeat {
                count,
                min_size,
                body: inner,
            } => {
                let count = if let Some(count) = count {
                    *count
                } else {
                    let (count, after) = read_u32::<BIG_ENDIAN>(body, at)?;
                    at = after;
                    count
                };
                // Each element takes bytes, so the payload bounds the loop.
                if u64::from(count).checked_mul(*min_size)? > (body.len() as u64).saturating_sub(at)
                {
                    return None;
                }
                for _ in 0..count {
                    at = run::<BIG_ENDIAN>(inner, body, at)?;
                }
            }
        }
        if at > body.len() as u64 {
            return None;
        }
    }
    Some(at)
}

/// The number at the next multiple of four, and the offset after it.
#[inline]
pub(super) fn read_u32<const BIG_ENDIAN: bool>(body: &[u8], at: u64) -> Option<(u32, u64)> {
    let at = usize::try_from(at).ok()?.checked_next_multiple_of(4)?;
    let bytes = body.get(at..)?.first_chunk()?;
    let value = if BIG_ENDIAN {
        u32::from_be_bytes(*bytes)
    } else {
        u32::from_le_bytes(*bytes)
    };
    Some((value, at as u64 + 4))
}
