use timeloom_msg::{AmentIndex, Definitions, Schema, TypeHash, TypeName};
use timeloom_time::{Event, TimeBase};
use timeloom_wire::{EndpointInfo, Node};

use super::ask::{Ask, Missing};
use crate::Result;

/// The definitions at hand: built in, or installed below `AMENT_PREFIX_PATH`.
#[derive(Clone, Debug, Default)]
pub struct LocalTypes {
    installed: AmentIndex,
}

impl LocalTypes {
    /// What is built in, and what is installed there. Files are read when a type is looked for.
    pub fn new(installed: AmentIndex) -> Self {
        Self { installed }
    }

    /// A layout by its name alone: what is installed wins, as it is what the user builds with.
    ///
    /// # Errors
    /// When the name is no type, or nobody defines it.
    pub fn by_name(&self, name: &str) -> Result<Schema> {
        TypeName::parse(name)?;
        match self.installed(name, None) {
            Some(schema) => Ok(schema),
            None => Ok(Definitions::builtin().schema(name)?),
        }
    }

    /// The layout of what an endpoint sends: the one with its hash, if it tells one.
    pub fn of_endpoint(&self, endpoint: &EndpointInfo) -> Option<Schema> {
        let name = &endpoint.type_name;
        let Some(hash) = &endpoint.type_hash else {
            return self.by_name(name).ok();
        };
        Definitions::builtin_with_hash(name, hash)
            .ok()
            .flatten()
            .or_else(|| self.installed(name, Some(hash)))
    }

    /// The layout of what an endpoint sends; its node is asked when it is not at hand.
    ///
    /// Blocks for the answer, for six seconds at most. Do not call from inside a receiver: the answer comes on
    /// the thread that would be blocked. [`TypeFinder`](crate::TypeFinder) does not block.
    ///
    /// # Errors
    /// When nobody knows the type, with who was asked and what it said.
    pub fn find(
        &self,
        node: &dyn Node,
        base: &TimeBase,
        endpoint: &EndpointInfo,
    ) -> Result<Schema> {
        let found = self.of_endpoint(endpoint).map_or_else(
            || {
                let wake = Event::new(base);
                Ask::new(node, base, &wake).of(endpoint, &|| false)
            },
            Ok,
        );
        found.map_err(|missing: Missing| missing.into_error(endpoint))
    }

    fn installed(&self, name: &str, hash: Option<&TypeHash>) -> Option<Schema> {
        if self.installed.is_empty() {
            return None;
        }
        let schema = Definitions::schema_from(&self.installed, name).ok()?;
        let agrees = hash.is_none_or(|hash| schema.type_hash().is_ok_and(|own| own == *hash));
        agrees.then_some(schema)
    }
}
