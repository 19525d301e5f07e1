//! The types that a node uses, and `~/get_type_description`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use timeloom_msg::{Definitions, Schema, TypeHash, TypeSource, Value};
use timeloom_wire::backend::lock;

use crate::{Error, Result};

/// The type of the service.
pub(crate) const SERVICE: &str = "type_description_interfaces/srv/GetTypeDescription";

/// The types in use, by hash; they are kept for the life of the node.
#[derive(Debug, Default)]
pub(super) struct TypeDescriptions(Mutex<BTreeMap<TypeHash, Arc<Schema>>>);

impl TypeDescriptions {
    pub(super) fn add(&self, schema: &Arc<Schema>) {
        // A type without a hash cannot be queried.
        if let Ok(hash) = schema.type_hash() {
            let mut types = lock(&self.0);
            types.entry(hash).or_insert_with(|| Arc::clone(schema));
        }
    }

    fn get(&self, hash: &TypeHash) -> Option<Arc<Schema>> {
        let types = lock(&self.0);
        types.get(hash).cloned()
    }

    /// The response to a request; failure reasons have the texts of rcl.
    pub(super) fn answer(&self, request: &Value) -> Result<Value> {
        let mut response = Definitions::builtin()
            .schema(&format!("{SERVICE}_Response"))?
            .default_value()?;
        let text = |field| {
            let value = request.get(field);
            value.and_then(|value| value.as_str().map(str::to_owned))
        };
        let hash = text("type_hash").ok_or(Error::Request { field: "type_hash" })?;
        let found = match hash.parse::<TypeHash>() {
            Err(_wrong) => Err("Failed to parse type hash"),
            Ok(hash) => self
                .get(&hash)
                .ok_or("Type not currently in use by this node"),
        };
        match found {
            Ok(schema) => {
                let sources = request.get("include_type_sources") == Some(Value::Bool(true));
                describe(&schema, sources, &mut response)?;
            }
            Err(reason) => response.set("failure_reason", reason)?,
        }
        Ok(response)
    }
}

fn describe(schema: &Schema, with_sources: bool, response: &mut Value) -> Result<()> {
    let description = schema.type_description()?;
    response.set("successful", true)?;
    if with_sources {
        let sources = TypeSource::all_of(schema.definitions(), schema.name())?;
        response.set("type_sources", TypeSource::to_array(&sources)?)?;
    }
    let Value::Struct(message) = description.to_value()? else {
        return Err(Error::Request {
            field: "type_description",
        });
    };
    Ok(response.set("type_description", message)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::TypeDescription;

    fn ask(types: &TypeDescriptions, hash: &str) -> Value {
        let request = Definitions::builtin().schema(&format!("{SERVICE}_Request"));
        let mut request = request.unwrap().default_value().unwrap();
        request.set("type_hash", hash).unwrap();
        types.answer(&request).unwrap()
    }

    #[test]
    fn a_type_in_use_is_described_with_all_nested_types() {
        let types = TypeDescriptions::default();
        let schema = Definitions::builtin()
            .schema("std_msgs/msg/Header")
            .unwrap();
        let hash = schema.type_hash().unwrap();
        types.add(&Arc::new(schema));
        let answer = ask(&types, &hash.to_string());
        assert_eq!(answer.get("successful"), Some(Value::Bool(true)));
        let description = answer.get("type_description").unwrap();
        let description = TypeDescription::from_value(&description).unwrap();
        assert_eq!(TypeHash::of(&description), hash);
        let text = answer.get("type_sources[1].raw_file_contents").unwrap();
        assert_eq!(text.as_str(), Some("int32 sec\nuint32 nanosec\n"));
    }

    #[test]
    fn unknown_types_are_reported_in_the_words_of_rcl() {
        let types = TypeDescriptions::default();
        let reason = |hash: &str| {
            let answer = ask(&types, hash);
            assert_eq!(answer.get("successful"), Some(Value::Bool(false)));
            let reason = answer.get("failure_reason").unwrap();
            reason.as_str().unwrap().to_owned()
        };
        assert_eq!(reason("nonsense"), "Failed to parse type hash");
        let unknown = TypeHash::from_bytes([7; 32]).to_string();
        assert_eq!(reason(&unknown), "Type not currently in use by this node");
    }
}
