//! Steps over fields that follow each other.

use super::compile::Builder;
use super::program::{Op, run};
use crate::cdr::Endian;
use crate::schema::SchemaType;

/// Steps over fields of a payload without decoding them: see [`Cursor::skip`](crate::cdr::Cursor::skip).
///
/// ```
/// use timeloom_msg::cdr::Cursor;
/// use timeloom_msg::{Schema, SkipProgram};
///
/// let schema = Schema::parse_ros2msg("demo/msg/Named", "uint8 a\nstring name\nfloat32 x\n")?;
/// let mut value = schema.default_value()?;
/// value.set("name", "seven")?;
/// value.set("x", 1.5_f32)?;
///
/// let skip = SkipProgram::compile(schema.root().fields()[..2].iter().map(|field| field.ty()));
/// let payload = schema.encode(&value)?;
/// let mut cursor = Cursor::new(&payload)?;
/// cursor.skip(&skip)?;
/// assert_eq!(cursor.number::<f32>()?, 1.5);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SkipProgram {
    plain: Box<[Op]>,
    xcdr2: Box<[Op]>,
}

impl SkipProgram {
    /// Compiles the program for fields in wire order; wide characters take four bytes each.
    pub fn compile<'a>(fields: impl IntoIterator<Item = &'a SchemaType>) -> Self {
        let mut plain = Builder::anywhere(8);
        let mut xcdr2 = Builder::anywhere(4);
        for field in fields {
            plain.skip(field);
            xcdr2.skip(field);
        }
        Self {
            plain: plain.into_ops(),
            xcdr2: xcdr2.into_ops(),
        }
    }

    /// The offset after the fields; `None` when the payload is too short.
    #[inline]
    pub(crate) fn run(
        &self,
        body: &[u8],
        at: usize,
        max_align: usize,
        endian: Endian,
    ) -> Option<usize> {
        let ops = if max_align == 8 {
            &self.plain
        } else {
            &self.xcdr2
        };
        let end = match endian {
            Endian::Little => run::<false>(ops, body, at as u64),
            Endian::Big => run::<true>(ops, body, at as u64),
        };
        usize::try_from(end?).ok()
    }
}
