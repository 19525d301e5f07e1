use std::sync::Arc;

use bytes::Bytes;
use timeloom_msg::{Schema, Value};
use timeloom_wire::{PublishOptions, Publisher};

use crate::Result;

/// Publishes values of one type. Clones are the same publisher, which ends with the last of them.
#[derive(Clone)]
pub struct TypedPublisher {
    publisher: Arc<dyn Publisher>,
    schema: Arc<Schema>,
}

impl TypedPublisher {
    pub(super) fn new(publisher: Box<dyn Publisher>, schema: Arc<Schema>) -> Self {
        Self {
            publisher: publisher.into(),
            schema,
        }
    }

    /// A message with the defaults of its definition, to be filled.
    ///
    /// # Errors
    /// When the fixed arrays of the type need more than 64 MiB.
    pub fn message(&self) -> Result<Value> {
        Ok(self.schema.default_value()?)
    }

    /// Publishes a value; returns its sequence number, if there is one. Blocks as the middleware's publisher does.
    ///
    /// # Errors
    /// When the value is of another type, or the middleware refuses it.
    pub fn publish(&self, value: &Value) -> Result<Option<u64>> {
        self.publish_with(value, PublishOptions::default())
    }

    /// Publishes a value with a source time of its own, or as part of a batch.
    ///
    /// # Errors
    /// When the value is of another type, or the middleware refuses it.
    pub fn publish_with(&self, value: &Value, options: PublishOptions) -> Result<Option<u64>> {
        let payload = Bytes::from(self.schema.encode(value)?);
        Ok(self.publisher.publish(payload, options)?)
    }

    /// The layout of its messages.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The underlying publisher.
    pub fn wire(&self) -> &dyn Publisher {
        &*self.publisher
    }
}

impl std::fmt::Debug for TypedPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TypedPublisher({})", self.schema.name())
    }
}
