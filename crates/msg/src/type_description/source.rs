//! The source texts of types, as in the response of `~/get_type_description`.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{FieldTypeDescription, IndividualTypeDescription, TypeDescription};
use crate::definition::{ActionDefinition, MessageDefinition, ServiceDefinition};
use crate::value::{Array, Struct, Value};
use crate::{Definitions, Error, InterfaceKind, Result, TypeName, idl};

/// The message that holds a source.
const TYPE: &str = "type_description_interfaces/msg/TypeSource";

/// The text that a type was generated from, the content of `type_description_interfaces/msg/TypeSource`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSource {
    /// The full name, such as `std_msgs/msg/String`.
    pub type_name: String,
    /// `msg`, `srv`, `action` or `idl`; `implicit` for types that are derived from a service or an action.
    pub encoding: String,
    /// The text of the file; empty for an implicit type.
    pub raw_file_contents: String,
}

impl TypeSource {
    /// The sources of a type and of every type that it uses, in the order of its description.
    ///
    /// # Errors
    /// When the type, or one that it uses, is not defined.
    pub fn all_of(definitions: &Definitions, name: &TypeName) -> Result<Vec<Self>> {
        let mut references = definitions.dependencies(name)?;
        references.sort();
        std::iter::once(name)
            .chain(&references)
            .map(|name| Self::of(definitions, name))
            .collect()
    }

    fn of(definitions: &Definitions, name: &TypeName) -> Result<Self> {
        let implicit = name.kind() != InterfaceKind::Msg && name.derived_kind().is_some();
        let (encoding, raw_file_contents) = if implicit {
            ("implicit", String::new())
        } else {
            (name.kind().as_str(), definitions.own_text(name)?)
        };
        Ok(Self {
            type_name: name.to_string(),
            encoding: encoding.to_owned(),
            raw_file_contents,
        })
    }

    /// The sources as a sequence of `type_description_interfaces/msg/TypeSource`.
    ///
    /// # Errors
    /// Never for the built-in layout of the message.
    pub fn to_array(sources: &[Self]) -> Result<Array> {
        let schema = Definitions::builtin().schema(TYPE)?;
        let source = |source: &Self| {
            let fields = [
                &source.type_name,
                &source.encoding,
                &source.raw_file_contents,
            ];
            let values = fields.map(|text| Value::from(text.as_str())).to_vec();
            Struct::new(Arc::clone(schema.root()), values)
        };
        Ok(Array::Struct(sources.iter().map(source).collect()))
    }

    /// Reads a sequence of `type_description_interfaces/msg/TypeSource`.
    ///
    /// # Errors
    /// When the value is of another type.
    pub fn from_value(value: &Value) -> Result<Vec<Self>> {
        let Value::Array(Array::Struct(sources)) = value else {
            return Err(wrong());
        };
        let source = |source: &Struct| {
            let text = |name| {
                let text = source.get(name).and_then(Value::as_str);
                text.map(str::to_owned).ok_or_else(wrong)
            };
            Ok(Self {
                type_name: text("type_name")?,
                encoding: text("encoding")?,
                raw_file_contents: text("raw_file_contents")?,
            })
        };
        sources.iter().map(source).collect()
    }

    /// The messages that the text defines; none for an implicit type and for unknown encodings.
    fn messages(&self) -> Result<Vec<MessageDefinition>> {
        let name = TypeName::parse(&self.type_name)?;
        let text = &self.raw_file_contents;
        Ok(match self.encoding.as_str() {
            "msg" => vec![MessageDefinition::parse(&name, text)?],
            "srv" => ServiceDefinition::parse(&name, text)?.messages(),
            "action" => ActionDefinition::parse(&name, text)?.messages(),
            "idl" => idl::parse(&name, text, 1)?,
            _ => Vec::new(),
        })
    }
}

impl TypeDescription {
    /// The definitions of all described types, with constants, defaults and comments from `sources`.
    ///
    /// A source is used only if it describes the same fields: the hash is that of the description.
    ///
    /// # Errors
    /// When a name is not valid or a type is not supported.
    pub fn to_definitions_with(&self, sources: &[TypeSource]) -> Result<Definitions> {
        let mut all = self.to_definitions()?;
        for source in sources {
            for message in source.messages().unwrap_or_default() {
                let described = all.get(&message.name);
                if described.is_some_and(|described| same_fields(described, &message)) {
                    all.insert(message);
                }
            }
            if source.encoding == "msg"
                && let Some(message) = source.completed(&all)
            {
                all.insert(message);
            }
        }
        Ok(all)
    }
}

impl TypeSource {
    /// The message of a text that lacks its end, with the missing fields of the description.
    ///
    /// rosidl of Jazzy counts characters where it needs bytes: texts beyond ASCII lose as many bytes at their end, and
    /// lines with both kinds of quotes get backslashes, which count too.
    fn completed(&self, all: &Definitions) -> Option<MessageDefinition> {
        let name = TypeName::parse(&self.type_name).ok()?;
        let described = all.get(&name)?;
        if described.has_text() {
            return None;
        }
        let text = self.raw_file_contents.replace("\\'", "'");
        let (whole_lines, _cut) = text.rsplit_once('\n').unwrap_or(("", &text));
        let known = MessageDefinition::parse(&name, whole_lines).ok()?;
        let missing = described.fields.get(known.fields.len()..)?;
        let mut text = known.text();
        for field in missing {
            let spelling = field.ty.spelling(name.package());
            // Writing to a string cannot fail.
            let _ok = writeln!(text, "{spelling} {}", field.name);
        }
        let message = MessageDefinition::parse(&name, &text).ok()?;
        same_fields(described, &message).then_some(message)
    }
}

fn same_fields(one: &MessageDefinition, other: &MessageDefinition) -> bool {
    let fields = |message| -> Vec<(String, FieldTypeDescription)> {
        let described = IndividualTypeDescription::of(message);
        let fields = described.fields.into_iter();
        fields.map(|field| (field.name, field.ty)).collect()
    };
    fields(one) == fields(other)
}

fn wrong() -> Error {
    Error::Mismatch {
        path: "type_sources".to_owned(),
        expected: TYPE.to_owned(),
        found: "another type".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    fn service() -> Schema {
        let name = TypeName::parse("p/srv/S").unwrap();
        let text = "# asks\nint8 LOW=1\nP point\n---\nbool ok true # whether\n===\nMSG: p/P\n# a point\nchar x\n";
        let own = Definitions::parse_ros2msg(&name, text).unwrap();
        let mut all = Definitions::builtin().clone();
        all.extend(&own);
        Schema::compile(&all, &name).unwrap()
    }

    #[test]
    fn sources_restore_constants_defaults_and_comments() {
        let schema = service();
        let description = schema.type_description().unwrap();
        let sources = TypeSource::all_of(schema.definitions(), schema.name()).unwrap();
        let encodings: Vec<_> = sources.iter().map(|s| s.encoding.as_str()).collect();
        let expected = [
            "srv", "msg", "msg", "implicit", "implicit", "implicit", "msg",
        ];
        assert_eq!(encodings, expected);
        let value = Value::Array(TypeSource::to_array(&sources).unwrap());
        assert_eq!(TypeSource::from_value(&value).unwrap(), sources);

        let plain = description.to_definitions().unwrap();
        let whole = description.to_definitions_with(&sources).unwrap();
        let text = |definitions: &Definitions| definitions.ros2msg(schema.name()).unwrap();
        assert!(!text(&plain).contains("LOW"));
        assert_eq!(text(&whole), schema.ros2msg().unwrap());
        assert!(text(&whole).contains("bool ok true # whether"));
        let hash = |definitions: &Definitions| {
            let schema = Schema::compile(definitions, schema.name()).unwrap();
            schema.type_hash().unwrap()
        };
        assert_eq!(hash(&whole), hash(&plain));
    }

    #[test]
    fn a_source_without_its_end_is_completed() {
        let name = TypeName::parse("p/msg/P").unwrap();
        let text = "# \u{b5}m\nint8 LOW=1\nstring s 'a \"b\"'\nint8 low 1\nfloat64 gaps\n";
        let schema = Schema::parse_ros2msg("p/msg/P", text).unwrap();
        let description = schema.type_description().unwrap();
        let raw = text.replace('\'', "\\'");
        let source = TypeSource {
            type_name: name.to_string(),
            encoding: "msg".to_owned(),
            raw_file_contents: raw[..raw.len() - 4].to_owned(),
        };
        let read = description.to_definitions_with(&[source]).unwrap();
        assert_eq!(read.ros2msg(&name).unwrap(), text);
    }

    #[test]
    fn a_source_of_other_fields_is_ignored() {
        let schema = service();
        let description = schema.type_description().unwrap();
        let source = |encoding: &str, text: &str| TypeSource {
            type_name: "p/msg/P".to_owned(),
            encoding: encoding.to_owned(),
            raw_file_contents: text.to_owned(),
        };
        for wrong in [
            source("msg", "int16 x\n"),
            source("msg", "char y\n"),
            source("msg", "???"),
            source("what", "char x 1\n"),
        ] {
            let read = description.to_definitions_with(&[wrong]).unwrap();
            assert_eq!(read, description.to_definitions().unwrap());
        }
        assert!(TypeSource::from_value(&Value::Bool(true)).is_err());
    }
}
