//! From the name of a type to its layout, in one order of precedence.

use crate::definition_set::AmentIndex;
use crate::{Definitions, Distro, Error, Result, Schema, TypeHash, TypeName};

/// Finds the layout of a type, in one order wherever a definition is needed:
///
/// 1. **Stored with the data**: the text that a bag holds. Types that it uses and does not define are taken from
///    the places below. When a hash is recorded that the text does not have, a layout with that hash is preferred.
/// 2. **By hash**, when the hash is known: the built-in layouts of all distributions, then the installed packages.
///    A layout with another hash is never used: it would give wrong values.
/// 3. **By name**, when there is no hash: the built-in layout of the distribution that the data names; else the
///    installed package, which is what the user builds with, and then what is built in.
///
/// A node that uses the type can be queried over the wire if all of this fails; that is not part of this crate.
///
/// ```
/// use timeloom_msg::{StoredDefinition, TypeRequest, TypeResolver};
///
/// let resolver = TypeResolver::default();
/// let mut request = TypeRequest::new("demo/srv/Add_Event");
/// request.stored = Some(StoredDefinition { encoding: "ros2msg", text: "int8 a\n---\nint8 sum\n" });
/// let event = resolver.resolve(&request)?;
/// assert_eq!(event.related("demo/srv/Add_Request")?.root().fields().len(), 1);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TypeResolver {
    installed: AmentIndex,
    distro: Option<Distro>,
}

/// A request for the layout of a type.
#[derive(Debug, Clone, Copy)]
pub struct TypeRequest<'a> {
    /// The full name, such as `sensor_msgs/msg/Imu`.
    pub name: &'a str,
    /// The RIHS01 hash of the type in the data.
    pub hash: Option<TypeHash>,
    /// The definition that is stored with the data; `None` for data from the wire.
    pub stored: Option<StoredDefinition<'a>>,
}

/// A definition as bags store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredDefinition<'a> {
    /// `ros2msg`, `ros2idl`, or anything else when the writer did not know.
    pub encoding: &'a str,
    /// The text; empty if the writer had none, or if the type has no fields.
    pub text: &'a str,
}

impl<'a> TypeRequest<'a> {
    /// A request by name only.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            hash: None,
            stored: None,
        }
    }
}

impl TypeResolver {
    /// A resolver that reads the files of installed packages when it needs them.
    pub fn new(installed: AmentIndex) -> Self {
        Self {
            installed,
            distro: None,
        }
    }

    /// The same for data of a distribution, as in `ROS_DISTRO`; other texts mean none.
    #[must_use]
    pub fn for_distro(&self, distro: &str) -> Self {
        Self {
            installed: self.installed.clone(),
            distro: distro.parse().ok(),
        }
    }

    /// The layout of a type, by the order that [`TypeResolver`] documents.
    ///
    /// # Errors
    /// [`Error::NoDefinition`] with the places that were searched, or an error for an invalid type name.
    pub fn resolve(&self, request: &TypeRequest<'_>) -> Result<Schema> {
        let name = TypeName::parse(request.name)?;
        let stored = request
            .stored
            .and_then(|stored| self.stored(&name, request, stored));
        let problem = match stored {
            Some(Ok(schema)) => {
                let wanted = request.hash.filter(|hash| !has_hash(&schema, hash));
                let better = wanted.and_then(|hash| self.by_hash(request.name, &hash));
                return Ok(better.unwrap_or(schema));
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        let found = match &request.hash {
            Some(hash) => self.by_hash(request.name, hash),
            None => self.by_name(request.name),
        };
        found.ok_or_else(|| self.missing(&name, request, problem))
    }

    /// The layout of the stored text; `None` if nothing is stored.
    fn stored(
        &self,
        name: &TypeName,
        request: &TypeRequest<'_>,
        stored: StoredDefinition<'_>,
    ) -> Option<Result<Schema>> {
        if stored.text.trim().is_empty() {
            return without_fields(request).map(Ok);
        }
        let own = match Definitions::parse_stored(name, stored.encoding, stored.text) {
            Ok(own) => own,
            Err(error) => return Some(Err(error)),
        };
        let compiled = Schema::from_text(name, &own);
        let Err(Error::UnknownType { .. }) = &compiled else {
            return Some(compiled);
        };
        let joined = self.joined(name, &own);
        let agrees = |schema: &Schema| request.hash.is_none_or(|hash| has_hash(schema, &hash));
        Some(joined.filter(agrees).map_or(compiled, Ok))
    }

    /// The stored definitions, and those of the other places for the types that they use.
    fn joined(&self, name: &TypeName, own: &Definitions) -> Option<Schema> {
        let mut all = self.builtin().clone();
        if !self.installed.is_empty() {
            let mut with_installed = own.clone();
            with_installed.load(&self.installed, name).ok()?;
            all.extend(&with_installed);
        }
        all.extend(own);
        Schema::compile(&all, name).ok()
    }

    fn builtin(&self) -> &'static Definitions {
        Definitions::builtin_of(self.distro.unwrap_or_default())
    }

    fn by_hash(&self, name: &str, hash: &TypeHash) -> Option<Schema> {
        let builtin = Definitions::builtin_with_hash(name, hash).ok().flatten();
        builtin.or_else(|| {
            self.installed_schema(name)
                .filter(|schema| has_hash(schema, hash))
        })
    }

    fn by_name(&self, name: &str) -> Option<Schema> {
        let builtin = || self.builtin().schema(name).ok();
        match self.distro {
            Some(_) => builtin().or_else(|| self.installed_schema(name)),
            None => self.installed_schema(name).or_else(builtin),
        }
    }

    fn installed_schema(&self, name: &str) -> Option<Schema> {
        if self.installed.is_empty() {
            return None;
        }
        Definitions::schema_from(&self.installed, name).ok()
    }

    fn missing(&self, name: &TypeName, request: &TypeRequest<'_>, problem: Option<Error>) -> Error {
        let mut searched = Vec::new();
        if request.stored.is_some() {
            searched.push("not in the bag");
        }
        let other_layout = request.hash.is_some() && Definitions::builtin().get(name).is_some();
        searched.push(if other_layout {
            "built in with another hash"
        } else {
            "not built in"
        });
        if !self.installed.is_empty() {
            searched.push("not below AMENT_PREFIX_PATH");
        }
        let problem = problem
            .map(|error| format!(" (the definition in the bag cannot be used: {error})"))
            .unwrap_or_default();
        Error::NoDefinition {
            name: name.to_string(),
            searched: format!("{}{problem}", searched.join(", ")),
        }
    }
}

/// An empty text is valid for a type without fields; the hash decides, or the usual name.
fn without_fields(request: &TypeRequest<'_>) -> Option<Schema> {
    let empty = Schema::parse_ros2msg(request.name, "").ok()?;
    let right = match &request.hash {
        Some(hash) => has_hash(&empty, hash),
        None => request.name.ends_with("/Empty"),
    };
    right.then_some(empty)
}

fn has_hash(schema: &Schema, hash: &TypeHash) -> bool {
    schema.type_hash().is_ok_and(|own| own == *hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored<'a>(name: &'a str, text: &'a str) -> TypeRequest<'a> {
        TypeRequest {
            stored: Some(StoredDefinition {
                encoding: "ros2msg",
                text,
            }),
            ..TypeRequest::new(name)
        }
    }

    fn first_field(schema: &Schema) -> &str {
        schema.root().fields()[0].name()
    }

    #[test]
    fn the_stored_text_is_preferred_to_built_in_types() {
        let found = TypeResolver::default()
            .resolve(&stored("std_msgs/msg/String", "int8 other\n"))
            .unwrap();
        assert_eq!(first_field(&found), "other");
    }

    #[test]
    fn the_recorded_hash_wins_over_a_text_that_does_not_have_it() {
        let builtin = Definitions::builtin()
            .schema("std_msgs/msg/String")
            .unwrap();
        let mut request = stored("std_msgs/msg/String", "int8 other\n");
        request.hash = builtin.type_hash().ok();
        let resolver = TypeResolver::default();
        assert_eq!(first_field(&resolver.resolve(&request).unwrap()), "data");
        request.hash = Some(TypeHash::from_bytes([7; 32]));
        assert_eq!(first_field(&resolver.resolve(&request).unwrap()), "other");
    }

    #[test]
    fn types_missing_in_the_stored_text_are_built_in() {
        let resolver = TypeResolver::default();
        let text = "std_msgs/Header header\nint8 x\n";
        let mut request = stored("p/msg/T", text);
        let found = resolver.resolve(&request).unwrap();
        assert_eq!(found.root().fields().len(), 2);
        request.hash = found.type_hash().ok();
        assert!(resolver.resolve(&request).is_ok());
        // Another layout of Header would have been recorded.
        request.hash = Some(TypeHash::from_bytes([7; 32]));
        let error = resolver.resolve(&request).unwrap_err().to_string();
        assert_eq!(
            error,
            "no definition of p/msg/T: not in the bag, not built in (the definition in the bag cannot be used: \
             std_msgs/msg/Header is used by p/msg/T but is not defined)"
        );
    }

    #[test]
    fn service_and_action_events_need_no_text_for_generated_parts() {
        let resolver = TypeResolver::default();
        let event = resolver
            .resolve(&stored("p/srv/S_Event", "int8 a\n---\nint8 b\n"))
            .unwrap();
        let hash = |name: &str| event.related(name).unwrap().type_hash().unwrap();
        let hashes = ["p/srv/S", "p/srv/S_Request", "p/srv/S_Response"].map(hash);
        let text = "int8 a\n---\nint8 b\n---\nint8 c\n";
        let goal = resolver
            .resolve(&stored("p/action/A_SendGoal_Event", text))
            .unwrap();
        assert!(goal.related("p/action/A_SendGoal").is_ok());
        assert!(goal.related("p/action/A").is_err());
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
    }

    #[test]
    fn an_empty_text_is_a_type_without_fields_by_its_hash() {
        let resolver = TypeResolver::default();
        let mut request = stored("p/msg/Nothing", "");
        assert!(resolver.resolve(&request).is_err());
        request.hash = Schema::parse_ros2msg("p/msg/Nothing", "")
            .unwrap()
            .type_hash()
            .ok();
        assert!(resolver.resolve(&request).is_ok());
        assert!(resolver.resolve(&stored("p/msg/Empty", "")).is_ok());
    }

    #[test]
    fn without_a_hash_the_distribution_of_the_data_decides() {
        let name = "rosbag2_interfaces/msg/WriteSplitEvent";
        let fields = |distro: &str| {
            let resolver = TypeResolver::default().for_distro(distro);
            let found = resolver.resolve(&TypeRequest::new(name)).unwrap();
            found.root().fields().len()
        };
        assert_eq!((fields("humble"), fields("jazzy"), fields("?")), (2, 3, 3));
    }

    #[test]
    fn an_error_names_the_places_that_were_searched() {
        let resolver = TypeResolver::new(AmentIndex::from_prefix_path("/no/such/prefix"));
        let error = |request: &TypeRequest<'_>| resolver.resolve(request).unwrap_err().to_string();
        assert_eq!(
            error(&TypeRequest::new("my/msg/Own")),
            "no definition of my/msg/Own: not built in, not below AMENT_PREFIX_PATH"
        );
        let mut request = TypeRequest::new("std_msgs/msg/String");
        request.hash = Some(TypeHash::from_bytes([7; 32]));
        assert_eq!(
            error(&request),
            "no definition of std_msgs/msg/String: built in with another hash, not below AMENT_PREFIX_PATH"
        );
        assert!(error(&TypeRequest::new("nonsense")).starts_with("invalid type name"));
    }
}
