//! The JSON over which RIHS01 is computed: that of Python's `json.dumps`, without defaults and constants.

use std::fmt::Write as _;

use super::{IndividualTypeDescription, TypeDescription};

impl TypeDescription {
    /// The exact text that is hashed.
    pub fn to_hash_json(&self) -> String {
        let mut out = String::from("{\"type_description\": ");
        push_type(&mut out, &self.type_description);
        out.push_str(", \"referenced_type_descriptions\": [");
        for (index, referenced) in self.referenced_type_descriptions.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            push_type(&mut out, referenced);
        }
        out.push_str("]}");
        out
    }
}

fn push_type(out: &mut String, ty: &IndividualTypeDescription) {
    // Names are identifiers with slashes, so nothing needs an escape. Writing to a string cannot fail.
    let _ok = write!(out, "{{\"type_name\": \"{}\", \"fields\": [", ty.type_name);
    for (index, field) in ty.fields.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let _ok = write!(
            out,
            "{comma}{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {}, \"string_capacity\": {}, \"nested_type_name\": \"{}\"}}}}",
            field.name,
            field.ty.type_id,
            field.ty.capacity,
            field.ty.string_capacity,
            field.ty.nested_type_name
        );
    }
    out.push_str("]}");
}
