//! The common part of `topic list` and `service list`: names with their types.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde_json::json;
use timeloom_msg::name::is_hidden;

use crate::verbs::info::Format;

/// Names with their types, in order.
pub(crate) struct NameList<'a>(BTreeMap<&'a str, Vec<&'a str>>);

/// The printed part of a list.
#[derive(Clone, Copy)]
pub(crate) enum Shown {
    /// The number of names.
    Count,
    /// The names.
    Names,
    /// The names with their types.
    Types,
}

impl Shown {
    pub(crate) fn new(count: bool, types: bool) -> Self {
        match (count, types) {
            (true, _) => Self::Count,
            (false, true) => Self::Types,
            (false, false) => Self::Names,
        }
    }
}

impl<'a> NameList<'a> {
    /// A list from pairs of name and type, with or without hidden names.
    pub(crate) fn new(pairs: BTreeSet<(&'a str, &'a str)>, with_hidden: bool) -> Self {
        let mut names: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, type_name) in pairs {
            if with_hidden || !is_hidden(name) {
                names.entry(name).or_default().push(type_name);
            }
        }
        Self(names)
    }

    /// The names with their types.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[&'a str])> {
        self.0.iter().map(|(name, types)| (*name, types.as_slice()))
    }

    /// Prints it; `what` is the key in JSON, and `more` are the fields in JSON besides the name and
    /// types.
    pub(crate) fn print(
        &self,
        out: &mut dyn Write,
        (shown, format): (Shown, Format),
        what: &str,
        more: impl Fn(&str) -> serde_json::Map<String, serde_json::Value>,
    ) -> anyhow::Result<()> {
        if let Shown::Count = shown {
            match format {
                Format::Text => writeln!(out, "{}", self.0.len())?,
                Format::Json => writeln!(out, "{}", json!({ what: self.0.len() }))?,
            }
            return Ok(());
        }
        for (name, types) in &self.0 {
            match (format, shown) {
                (Format::Json, _) => {
                    let mut line = json!({"name": name, "types": types});
                    if let Some(fields) = line.as_object_mut() {
                        fields.extend(more(name));
                    }
                    writeln!(out, "{line}")?;
                }
                (Format::Text, Shown::Types) => writeln!(out, "{name} [{}]", types.join(", "))?,
                (Format::Text, _) => writeln!(out, "{name}")?,
            }
        }
        Ok(())
    }
}
