//! Messages filled by position.

use std::sync::Arc;

use timeloom_msg::schema::{SchemaField, StructType};
use timeloom_msg::value::Struct;
use timeloom_msg::{Definitions, Value};

use crate::{Error, Result};

/// A message type whose fields are resolved once, so that a message is filled without looking up names.
pub(crate) struct Layout<const N: usize> {
    ty: Arc<StructType>,
}

impl<const N: usize> Layout<N> {
    /// The layout of a built-in type with these fields, in this order.
    pub(crate) fn new(type_name: &'static str, fields: [&str; N]) -> Result<Self> {
        let schema = Definitions::builtin().schema(type_name)?;
        let ty = Arc::clone(schema.root());
        let known = ty.fields().iter().map(SchemaField::name);
        if known.eq(fields) {
            Ok(Self { ty })
        } else {
            Err(Error::Layout { type_name })
        }
    }

    /// A message with these values, one for each field.
    pub(crate) fn fill(&self, values: [Value; N]) -> Struct {
        Struct::new(Arc::clone(&self.ty), values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_another_order_are_refused() {
        const TIME: &str = "builtin_interfaces/msg/Time";
        assert!(Layout::new(TIME, ["sec", "nanosec"]).is_ok());
        for wrong in [["nanosec", "sec"], ["sec", "nanos"]] {
            assert!(matches!(
                Layout::new(TIME, wrong),
                Err(Error::Layout { .. })
            ));
        }
        assert!(Layout::new(TIME, ["sec"]).is_err());
    }
}
