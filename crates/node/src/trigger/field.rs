use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::{FieldProgram, Schema, Value};

use super::scalar::Scalar;

/// Reads one field of a message: skips the fields before it, and does not read the fields after it.
#[derive(Debug, Clone)]
pub(super) struct FieldReader {
    path: String,
    program: FieldProgram,
    /// The offset in the payload of a floating point number that stands at the same place in every message, in plain
    /// little-endian CDR: the common case, without a decoder.
    fixed: Option<(usize, Primitive)>,
    /// The path after the first index, such as `[0].level`; only then an array is decoded.
    rest: Option<String>,
}

impl FieldReader {
    /// Compiles the way to a field.
    ///
    /// # Errors
    /// The reason why there is no such field, with a suggestion.
    pub(super) fn compile(schema: &Schema, path: &str) -> Result<Self, String> {
        let (plain, rest) = match path.find('[') {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let program = FieldProgram::compile(schema, plain)
            .map_err(|_missing| no_such_field(schema, plain))?;
        let fixed = rest.is_empty().then(|| fixed_number(&program)).flatten();
        Ok(Self {
            path: path.to_owned(),
            fixed,
            program,
            rest: (!rest.is_empty()).then(|| rest.to_owned()),
        })
    }

    /// The path that it was compiled from.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value; `None` if the payload is malformed, the array is shorter, or the field is not a single value.
    pub(super) fn read(&self, payload: &[u8]) -> Option<Scalar> {
        if let (Some((offset, primitive)), Some([0, 1])) = (self.fixed, payload.first_chunk()) {
            let bytes = payload.get(offset..)?;
            return Some(Scalar::Real(match primitive {
                Primitive::Float32 => f32::from_le_bytes(*bytes.first_chunk()?).into(),
                _ => f64::from_le_bytes(*bytes.first_chunk()?),
            }));
        }
        let value = self.program.read(payload).ok()?;
        match &self.rest {
            None => Scalar::of(&value),
            Some(rest) => Scalar::of(&element(&value, rest)?),
        }
    }
}

/// The offset of a floating point number after the header of a payload, if it is fixed.
fn fixed_number(program: &FieldProgram) -> Option<(usize, Primitive)> {
    let SchemaType {
        element: Element::Primitive(primitive @ (Primitive::Float32 | Primitive::Float64)),
        shape: ArrayShape::Single,
    } = program.ty()
    else {
        return None;
    };
    let offset = usize::try_from(program.fixed_offset()?).ok()?;
    let offset = offset.checked_next_multiple_of(primitive.size())?;
    Some((offset.checked_add(4)?, *primitive))
}

/// The value at `[0].level` of an array.
fn element(value: &Value, path: &str) -> Option<Value> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    let found = value.as_array()?.get(index.parse().ok()?)?;
    match rest.strip_prefix('.') {
        Some(field) => found.get(field),
        None if rest.is_empty() => Some(found),
        None => element(&found, rest),
    }
}

/// Whether a text can be a path: `a.b`, `a[0].b`.
pub(super) fn is_path(path: &str) -> bool {
    path.split('.').all(|part| {
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        let named = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let closed = indices.is_empty() || indices.ends_with(']');
        let indices = indices.split_inclusive(']');
        named
            && closed
            && indices.into_iter().all(|index| {
                let digits = index
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'));
                digits.is_some_and(|digits| digits.parse::<usize>().is_ok())
            })
    })
}

fn no_such_field(schema: &Schema, path: &str) -> String {
    let mut paths = Vec::new();
    collect(schema.root(), "", &mut paths);
    let near = timeloom_text::nearest(path, paths.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
    format!(
        "{} has no field `{path}` that can be read{near}",
        schema.name()
    )
}

/// The most paths that a suggestion looks at.
const MOST_PATHS: usize = 1000;

fn collect(message: &StructType, prefix: &str, paths: &mut Vec<String>) {
    for field in message.fields() {
        if paths.len() >= MOST_PATHS {
            return;
        }
        let path = format!("{prefix}{}", field.name());
        if let Element::Struct(inner) = &field.ty().element {
            collect(inner, &format!("{path}."), paths);
        }
        paths.push(path);
    }
}
