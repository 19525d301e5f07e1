use timeloom_msg::QosProfile;
use timeloom_pf::LidarSettings;
use timeloom_time::Duration;

/// Handling of a scan with missing points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Incomplete {
    /// Publish it; missing points are NaN.
    #[default]
    Publish,
    /// Leave it out; it is counted.
    Drop,
}

/// The position of the points of a layer in the cloud of an R2300.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layers {
    /// On a plane that is tilted by the layer's inclination.
    #[default]
    Plane,
    /// On the surface that the manufacturer has measured.
    Corrected,
}

/// The options of a lidar node.
#[derive(Clone, Debug, PartialEq)]
pub struct LidarOptions {
    /// The device and its clock. The node's parameters have these as defaults.
    pub settings: LidarSettings,
    /// Topic of the scans (`scan_topic`). For an R2300 with several layers it is the cloud of all of them, and each
    /// layer has a topic with `_1`, `_2`, … behind it.
    pub topic: String,
    /// The frame of the scans (`frame_id`); layers as with the topic.
    pub frame_id: String,
    /// Expected device (`device`), such as `R2000`; a different one gives a warning, and
    /// the topic of an R2000 is there before it answers. Empty for any.
    pub device: String,
    /// The position of the points of layers in the cloud (`apply_correction`).
    pub layers: Layers,
    /// Handling of scans with missing points.
    pub incomplete: Incomplete,
    /// The output format of scans.
    pub qos: QosProfile,
    /// Whether to publish the header of every packet on `r2000_header` or `r2300_header`.
    pub headers: bool,
    /// The interval of `/diagnostics`.
    pub diagnostics_period: Duration,
}

impl LidarOptions {
    /// The options for a device, all others as the vendor's driver has them.
    pub fn new(settings: LidarSettings) -> Self {
        Self {
            settings,
            topic: "/scan".to_owned(),
            frame_id: "scanner_link".to_owned(),
            device: String::new(),
            layers: Layers::default(),
            incomplete: Incomplete::default(),
            qos: QosProfile::SENSOR_DATA,
            headers: true,
            diagnostics_period: Duration::from_secs(1),
        }
    }
}
