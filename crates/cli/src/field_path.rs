//! `--field`: one field of a message.

use timeloom_msg::Schema;
use timeloom_msg::schema::{Element, StructType};
use timeloom_text::nearest;

use crate::failure::Failure;

/// Refuses a path that no message of this type can have; the length of sequences is not known before.
pub(crate) fn check(schema: &Schema, topic: &str, path: &str) -> Result<(), Failure> {
    let mut current = schema.root().clone();
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let name = part.split('[').next().unwrap_or(part);
        let Some((_, field)) = current.field(name) else {
            return Err(missing(&current, topic, path, name));
        };
        match &field.ty().element {
            Element::Struct(next) => {
                let next = next.clone();
                current = next;
            }
            _ if parts.peek().is_some() => {
                return Err(Failure::new(format!(
                    "{topic} has no field {path}: {name} has no fields"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

fn missing(ty: &StructType, topic: &str, path: &str, name: &str) -> Failure {
    let names: Vec<&str> = ty
        .fields()
        .iter()
        .map(timeloom_msg::schema::SchemaField::name)
        .collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => format!("{} has no fields", ty.name()),
        None => format!("{} has {}", ty.name(), names.join(", ")),
    };
    Failure::new(format!("{topic} ({}) has no field {path}", ty.name())).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_checked_against_the_type() {
        let text = "B b\nB[] list\nint32 n\n===\nMSG: p/B\nuint8 x\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        for good in ["b", "b.x", "list[7].x", "n"] {
            assert!(check(&schema, "/t", good).is_ok(), "{good}");
        }
        for bad in ["c", "b.y", "n.x", "", "list[0].y"] {
            assert!(check(&schema, "/t", bad).is_err(), "{bad}");
        }
    }
}
