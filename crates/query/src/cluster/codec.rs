//! From our parts of a plan to bytes and back.

mod decode;
mod encode;

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use super::wire_plan::WirePlan;
use crate::{BagSource, Findings};

/// What a worker adds to the plans of a query: where bags are opened, and where findings go.
pub(super) struct WorkerBags {
    pub(super) source: Arc<dyn BagSource>,
    pub(super) findings: Arc<Findings>,
}

/// Writes and reads our parts of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct BagCodec;

impl PhysicalExtensionCodec for BagCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let plan = encode::encode(&node)?;
        let text = serde_json::to_vec(&plan);
        bytes.extend(text.map_err(|error| DataFusionError::Internal(error.to_string()))?);
        Ok(())
    }

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        tasks: &TaskContext,
        _converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan: WirePlan = serde_json::from_slice(bytes)
            .map_err(|error| DataFusionError::Plan(format!("the plan cannot be read: {error}")))?;
        let bags = tasks.session_config().get_extension::<WorkerBags>();
        let bags = bags.ok_or_else(|| DataFusionError::Internal("not a worker".to_owned()))?;
        decode::decode(plan, inputs, &bags)
    }
}
