//! The way to one value of a message, without decoding the others.

use timeloom_msg::schema::{Schema, SchemaType};
use timeloom_msg::{Error, FieldProgram, Result, Value};

use super::kind::Kind;
use super::node::Payload;
use super::value_builder::{ValueBuilder, join};

/// A field that is one value, one time or one list.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) ty: SchemaType,
    way: LeafWay,
}

#[derive(Debug)]
enum LeafWay {
    Value(Way),
    /// A time: its two numbers, put together here.
    Nanos {
        sec: Way,
        nanosec: Way,
    },
}

/// How to get a value out of a payload.
#[derive(Debug)]
enum Way {
    /// Steps over what stands before it.
    Program(Box<FieldProgram>),
    /// The whole message is decoded, since a wide string of unknown size stands before the field.
    Decoded(String),
}

impl Way {
    fn new(schema: &Schema, path: &str) -> Self {
        if schema.root().has_wstring() {
            // A `wstring` of the field itself has two layouts, and only the whole message tells which it is.
            return Self::Decoded(path.to_owned());
        }
        FieldProgram::compile(schema, path).map_or_else(
            |_| Self::Decoded(path.to_owned()),
            |program| Self::Program(Box::new(program)),
        )
    }

    fn read(&self, payload: &mut Payload<'_>) -> Result<Value> {
        match self {
            Self::Program(program) => program.read(payload.data),
            Self::Decoded(path) => payload.decoded()?.get(path).ok_or_else(|| Error::Path {
                name: "message".to_owned(),
                path: path.clone(),
            }),
        }
    }
}

impl Leaf {
    pub(super) fn new(schema: &Schema, path: &str, ty: &SchemaType) -> Self {
        let is_single = ty.shape == timeloom_msg::definition::ArrayShape::Single;
        let way = match Kind::of(&ty.element) {
            Kind::Time | Kind::Span if is_single => LeafWay::Nanos {
                sec: Way::new(schema, &format!("{path}.sec")),
                nanosec: Way::new(schema, &format!("{path}.nanosec")),
            },
            _ => LeafWay::Value(Way::new(schema, path)),
        };
        Self {
            ty: ty.clone(),
            way,
        }
    }

    /// Reads the value of a payload into a builder; what cannot be read is null there.
    pub(super) fn append(
        &self,
        payload: &mut Payload<'_>,
        builder: &mut ValueBuilder,
    ) -> Result<()> {
        let read = match &self.way {
            LeafWay::Value(way) => way.read(payload).map(|value| builder.append(&value)),
            LeafWay::Nanos { sec, nanosec } => match (sec.read(payload), nanosec.read(payload)) {
                (Ok(Value::Int32(sec)), Ok(Value::Uint32(nanosec))) => {
                    builder.append_nanos(join(sec, nanosec));
                    Ok(())
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
                (Ok(_), Ok(_)) => {
                    builder.append_null();
                    Ok(())
                }
            },
        };
        if read.is_err() {
            builder.append_null();
        }
        read
    }
}
