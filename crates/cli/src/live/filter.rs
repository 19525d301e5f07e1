//! `--filter`: which messages are shown or measured.

use timeloom_msg::{MessageFilter, Schema, Value};

use crate::failure::Failure;
use crate::field_path;

/// Refuses fields that no message of this type has. With a selected field, `m` is that field.
pub(crate) fn check_filter(
    filter: &MessageFilter,
    schema: &Schema,
    topic: &str,
    field: Option<&str>,
) -> Result<(), Failure> {
    let mut paths = filter.fields(field).into_iter();
    paths.try_for_each(|path| field_path::check(schema, topic, &path))
}

/// Whether the message matches.
pub(crate) fn passes(
    filter: &MessageFilter,
    message: &Value,
    field: Option<&str>,
) -> Result<bool, Failure> {
    let result = filter.matches(message, field);
    result.map_err(|error| Failure::usage(format!("--filter \"{}\": {error}", filter.as_str())))
}
