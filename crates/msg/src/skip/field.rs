//! Reads one field by its path.

use super::compile::Builder;
use super::program::Program;
use crate::cdr::{Encapsulation, Endian, Reader, WideChars};
use crate::definition::ArrayShape;
use crate::schema::{Element, Schema, SchemaType};
use crate::{Error, Result, Value};

/// Reads one field of a message without decoding the rest, such as `pose.pose.position.x`.
///
/// ```
/// use timeloom_msg::{Definitions, FieldProgram, Value};
///
/// let schema = Definitions::builtin().schema("geometry_msgs/msg/PointStamped")?;
/// let mut point = schema.default_value()?;
/// point.set("point.y", 2.5)?;
/// let y = FieldProgram::compile(&schema, "point.y")?;
/// assert_eq!(y.read(&schema.encode(&point)?)?, Value::Float64(2.5));
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FieldProgram {
    /// For CDR and XCDR1, and for XCDR2.
    programs: [Program; 2],
    ty: SchemaType,
}

impl FieldProgram {
    /// Compiles the program for the field at a dotted path of nested messages.
    ///
    /// # Errors
    /// When there is no such field, or a `wstring` is before it.
    pub fn compile(schema: &Schema, path: &str) -> Result<Self> {
        let (plain, ty) = walk(schema, path, 8)?;
        let (xcdr2, _) = walk(schema, path, 4)?;
        Ok(Self {
            programs: [plain, xcdr2],
            ty,
        })
    }

    /// The type of the field.
    pub fn ty(&self) -> &SchemaType {
        &self.ty
    }

    /// The offset of the field after the encapsulation header, when it is the same in every payload of CDR or XCDR1.
    pub fn fixed_offset(&self) -> Option<u64> {
        self.programs[0].fixed_offset()
    }

    /// Reads the field.
    ///
    /// # Errors
    /// When the payload is too short or not plain CDR.
    pub fn read(&self, payload: &[u8]) -> Result<Value> {
        let (offset, _) = self.locate(payload)?;
        let mut reader = Reader::new(payload, WideChars::FourBytes)?;
        reader.skip_to(offset)?;
        reader.value(&self.ty)
    }

    /// The offset of the field after the header, before its alignment, and the order of bytes.
    #[inline]
    pub(super) fn locate(&self, payload: &[u8]) -> Result<(u64, Endian)> {
        let Encapsulation { endian, max_align } = Encapsulation::parse(payload)?;
        let [plain, xcdr2] = &self.programs;
        let program = if max_align == 8 { plain } else { xcdr2 };
        let body = payload.get(4..).unwrap_or_default();
        let offset = match endian {
            Endian::Little => program.run::<false>(body),
            Endian::Big => program.run::<true>(body),
        };
        let available = payload.len();
        let short = || Error::ShortPayload {
            offset: 4,
            what: "field",
            needed: available as u64 + 1,
            available,
        };
        offset.map(|offset| (offset, endian)).ok_or_else(short)
    }
}

fn walk(schema: &Schema, path: &str, max_align: u64) -> Result<(Program, SchemaType)> {
    let missing = || Error::Path {
        name: schema.name().to_string(),
        path: path.to_owned(),
    };
    let unreachable = || Error::Mismatch {
        path: path.to_owned(),
        expected: "no wstring before the field".to_owned(),
        found: schema.name().to_string(),
    };
    let mut builder = Builder::new(max_align);
    let mut current = SchemaType {
        element: Element::Struct(schema.root().clone()),
        shape: ArrayShape::Single,
    };
    for part in path.split('.') {
        let SchemaType {
            element: Element::Struct(ty),
            shape: ArrayShape::Single,
        } = &current
        else {
            return Err(missing());
        };
        let (index, field) = ty.field(part).ok_or_else(missing)?;
        for before in ty.fields().iter().take(index) {
            if before.ty().has_wstring() {
                // The size of its characters differs between middlewares.
                return Err(unreachable());
            }
            builder.skip(before.ty());
        }
        let next = field.ty().clone();
        current = next;
    }
    Ok((builder.finish(), current))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::EncodeOptions;
    use crate::value::Array;

    const TEXT: &str = "uint8 a\nstring s\nB[] list\nB[2] two\nfloat64[] d\nstring[] t\nB b\nint64 end\n===\nMSG: p/B\nuint8 x\nfloat64 y\nC c\n===\nMSG: p/C\nuint16 z\n";

    #[test]
    fn every_field_is_found_in_both_endians() {
        let schema = Schema::parse_ros2msg("p/msg/A", TEXT).unwrap();
        let mut value = schema.default_value().unwrap();
        value.set("s", "seven c").unwrap();
        value.set("d", Array::Float64(vec![1.0, 2.0, 3.0])).unwrap();
        value
            .set("t", Array::String(vec!["a".into(), "bcd".into()]))
            .unwrap();
        value.set("b.c.z", 77_u16).unwrap();
        value.set("end", -5_i64).unwrap();
        let two = value.get("two").unwrap();
        value.set("list", two.as_array().unwrap().clone()).unwrap();
        for endian in [Endian::Little, Endian::Big] {
            let payload = schema
                .encode_with(
                    &value,
                    EncodeOptions {
                        endian,
                        ..EncodeOptions::default()
                    },
                )
                .unwrap();
            for path in [
                "a", "s", "list", "two", "d", "t", "b.x", "b.y", "b.c.z", "b", "end",
            ] {
                let program = FieldProgram::compile(&schema, path).unwrap();
                assert_eq!(
                    program.read(&payload).unwrap(),
                    value.get(path).unwrap(),
                    "{path}"
                );
            }
            let end = FieldProgram::compile(&schema, "end").unwrap();
            for cut in 0..payload.len() {
                assert!(end.read(&payload[..cut]).is_err(), "{cut}");
            }
        }
    }

    #[test]
    fn fixed_layouts_have_a_fixed_offset() {
        let schema = Schema::parse_ros2msg(
            "p/msg/A",
            "uint8 a\nfloat64[3] b\nuint8 c\nuint16 d\nstring s\nuint8 e\n",
        )
        .unwrap();
        let offset = |path| FieldProgram::compile(&schema, path).unwrap().fixed_offset();
        assert_eq!(offset("a"), Some(0));
        assert_eq!(offset("b"), Some(1));
        assert_eq!(offset("d"), Some(33));
        assert_eq!(offset("e"), None);
    }

    #[test]
    fn huge_counts_end_immediately() {
        let schema = Schema::parse_ros2msg(
            "p/msg/A",
            "string[] t\nE[] e\nfloat64[] d\nuint8 x\n===\nMSG: p/E\n",
        )
        .unwrap();
        let program = FieldProgram::compile(&schema, "x").unwrap();
        assert!(
            program
                .read(&[0, 1, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0])
                .is_err()
        );
        assert!(
            program
                .read(&[0, 1, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255])
                .is_err()
        );
        assert!(
            program
                .read(&[
                    0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0
                ])
                .is_err()
        );
    }

    #[test]
    fn paths_without_a_field() {
        let schema = Schema::parse_ros2msg("p/msg/A", "wstring w\nuint8[] l\nuint8 x\n").unwrap();
        assert!(FieldProgram::compile(&schema, "y").is_err());
        assert!(FieldProgram::compile(&schema, "l.x").is_err());
        let error = FieldProgram::compile(&schema, "x").unwrap_err().to_string();
        assert_eq!(
            error,
            "x: expected no wstring before the field, found p/msg/A"
        );
    }
}
