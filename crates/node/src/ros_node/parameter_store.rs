//! The parameters of a node: what may be set, and what is asked for. No threads, no wire in here.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_msg::ParameterValue;

/// Whether a parameter may be changed after it was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ParameterAccess {
    /// Anybody may set it.
    #[default]
    Writable,
    /// Read-only.
    ReadOnly,
}

/// A declared parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) value: ParameterValue,
    pub(super) description: String,
    pub(super) access: ParameterAccess,
}

/// Result of a request to set a parameter.
pub(super) type SetResult = Result<(), String>;

#[derive(Debug, Default)]
pub(super) struct ParameterStore(BTreeMap<String, Parameter>);

/// Names below prefixes, as `list_parameters` answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) names: Vec<String>,
    pub(super) prefixes: Vec<String>,
}

impl ParameterStore {
    pub(super) fn get(&self, name: &str) -> Option<&Parameter> {
        self.0.get(name)
    }

    /// Adds a parameter; one that is there already keeps its value. True if it is new.
    pub(super) fn declare(&mut self, name: &str, parameter: Parameter) -> bool {
        if let Some(known) = self.0.get_mut(name) {
            known.description = parameter.description;
            known.access = parameter.access;
            return false;
        }
        self.0.insert(name.to_owned(), parameter);
        true
    }

    /// Checks that it may be set to a value; errors have the texts of rclcpp.
    pub(super) fn check(&self, name: &str, value: &ParameterValue) -> SetResult {
        let Some(known) = self.0.get(name) else {
            return Err(format!(
                "parameter '{name}' cannot be set because it was not declared"
            ));
        };
        if known.access == ParameterAccess::ReadOnly {
            return Err(format!(
                "parameter '{name}' cannot be set because it is read-only"
            ));
        }
        if known.value.type_number() != value.type_number() {
            return Err(format!(
                "Wrong parameter type, parameter {{{name}}} is of type {{{}}}, setting it to {{{}}} is not allowed.",
                known.value.type_name(),
                value.type_name()
            ));
        }
        Ok(())
    }

    /// Sets what was checked; true if that changed something.
    pub(super) fn set(&mut self, name: &str, value: &ParameterValue) -> bool {
        let Some(known) = self.0.get_mut(name) else {
            return false;
        };
        let changed = known.value != *value;
        known.value = value.clone();
        changed
    }

    /// The names below the prefixes, down to `depth` levels (0 is all), with dots as separators.
    pub(super) fn list(&self, prefixes: &[String], depth: u64) -> Listing {
        let mut found = Listing::default();
        let mut groups = BTreeSet::new();
        for name in self.0.keys().filter(|name| wanted(name, prefixes, depth)) {
            found.names.push(name.clone());
            if let Some((group, _)) = name.rsplit_once('.') {
                groups.insert(group.to_owned());
            }
        }
        found.prefixes = groups.into_iter().collect();
        found
    }
}

fn wanted(name: &str, prefixes: &[String], depth: u64) -> bool {
    let shallow = |rest: &str| depth == 0 || (rest.matches('.').count() as u64) < depth;
    if prefixes.is_empty() {
        return shallow(name);
    }
    prefixes.iter().any(|prefix| {
        let below = name
            .strip_prefix(prefix.as_str())
            .and_then(|rest| rest.strip_prefix('.'));
        name == prefix || below.is_some_and(shallow)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(value: impl Into<ParameterValue>, access: ParameterAccess) -> Parameter {
        Parameter {
            value: value.into(),
            description: String::new(),
            access,
        }
    }

    fn store(names: &[&str]) -> ParameterStore {
        let mut store = ParameterStore::default();
        for name in names {
            assert!(store.declare(name, parameter(1_i64, ParameterAccess::Writable)));
        }
        store
    }

    #[test]
    fn refused_parameters_have_a_reason() {
        let mut store = store(&["a"]);
        store.declare("fixed", parameter(true, ParameterAccess::ReadOnly));
        assert_eq!(store.check("a", &2_i64.into()), Ok(()));
        let refused = |name: &str, value: ParameterValue| store.check(name, &value).unwrap_err();
        assert!(refused("b", 1_i64.into()).contains("not declared"));
        assert!(refused("fixed", false.into()).contains("read-only"));
        assert!(refused("a", "x".into()).contains("of type {integer}, setting it to {string}"));
        assert!(refused("a", ParameterValue::NotSet).contains("not set"));
    }

    #[test]
    fn a_second_declaration_keeps_the_value() {
        let mut store = store(&["a"]);
        assert!(store.set("a", &7_i64.into()));
        assert!(!store.set("a", &7_i64.into()));
        assert!(!store.declare("a", parameter(1_i64, ParameterAccess::ReadOnly)));
        assert_eq!(store.get("a").unwrap().value, 7_i64.into());
        assert!(store.check("a", &1_i64.into()).is_err());
    }

    #[test]
    fn lists_go_by_prefix_and_depth() {
        let store = store(&["a", "g.x", "g.y.z", "gg"]);
        let names = |prefixes: &[&str], depth| {
            let prefixes: Vec<_> = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
            store.list(&prefixes, depth).names.join(" ")
        };
        assert_eq!(names(&[], 0), "a g.x g.y.z gg");
        assert_eq!(names(&[], 1), "a gg");
        assert_eq!(names(&[], 2), "a g.x gg");
        assert_eq!(names(&["g"], 0), "g.x g.y.z");
        assert_eq!(names(&["g"], 1), "g.x");
        assert_eq!(names(&["a", "g.y"], 1), "a g.y.z");
        assert_eq!(names(&["no"], 0), "");
        assert_eq!(store.list(&[], 0).prefixes, ["g", "g.y"]);
    }
}
