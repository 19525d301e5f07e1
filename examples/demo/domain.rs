//! The network of the demo: a DDS domain that never leaves 127.0.0.1.

use std::sync::Arc;

use timeloom_dds::{DdsParticipant, Options};
use timeloom_wire::Participant;

use crate::Failure;

/// Number of lost packets of the robot per thousand.
pub(crate) const LOST_PER_MILLE: u32 = 30;

/// A DDS domain on this machine alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    pub(crate) number: u32,
}

impl Domain {
    /// One that another demo on this machine hardly has.
    pub(crate) fn own() -> Self {
        Self {
            number: 40 + std::process::id() % 60,
        }
    }

    /// The configuration of Cyclone DDS that keeps everything on 127.0.0.1 and loses so many packets in a thousand.
    pub(crate) fn configuration(lost_per_mille: u32) -> String {
        format!(
            "<CycloneDDS><Domain Id=\"any\"><General>\
             <Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>\
             <AllowMulticast>false</AllowMulticast></General>\
             <Discovery><ParticipantIndex>auto</ParticipantIndex>\
             <MaxAutoParticipantIndex>30</MaxAutoParticipantIndex>\
             <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>\
             <Internal><Test><XmitLossiness>{lost_per_mille}</XmitLossiness></Test></Internal>\
             </Domain></CycloneDDS>"
        )
    }

    /// Joins it.
    pub(crate) fn join(self, lost_per_mille: u32) -> Result<Arc<dyn Participant>, Failure> {
        let options = Options {
            domain: self.number,
            configuration: Self::configuration(lost_per_mille),
            ..Options::default()
        };
        Ok(Arc::new(DdsParticipant::new(&options)?))
    }
}
