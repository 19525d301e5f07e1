use crate::pfsdp::{ProtocolInfo, Reply};

/// Parameters to query, where the device has them.
const WANTED: [&str; 10] = [
    "vendor",
    "product",
    "serial",
    "revision_fw",
    "radial_range_min",
    "radial_range_max",
    "scan_frequency",
    "samples_per_scan",
    "layer_count",
    "layer_inclination",
];

/// The description of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceInfo {
    /// The protocol version.
    pub protocol: Option<ProtocolInfo>,
    /// Its product name.
    pub product: String,
    /// Its serial number.
    pub serial: String,
    /// The revision of its firmware.
    pub firmware: String,
    /// The least distance that it measures, in metres.
    pub range_min: Option<f64>,
    /// The largest distance that it measures, in metres.
    pub range_max: Option<f64>,
    /// Turns per second.
    pub scan_frequency: Option<f64>,
    /// Points of a turn.
    pub samples_per_scan: Option<u64>,
    /// Layers of an R2300.
    pub layer_count: Option<u64>,
    /// The inclinations of its layers, if it reports them, in the unit of the device.
    pub inclinations: Vec<f64>,
    /// Whether its time can be queried (`system_time_raw`).
    pub has_time: bool,
}

impl DeviceInfo {
    /// Selects the parameters to query from those that the device has.
    pub(crate) fn wanted(&mut self, known: &[String]) -> Vec<String> {
        self.has_time = known.iter().any(|name| name == "system_time_raw");
        let has = |name: &&&str| known.iter().any(|known| known == **name);
        WANTED
            .iter()
            .filter(has)
            .map(|name| (*name).to_owned())
            .collect()
    }

    pub(crate) fn read(&mut self, reply: &Reply) {
        let text = |name| reply.text(name).unwrap_or_default();
        self.product = text("product");
        self.serial = text("serial");
        self.firmware = text("revision_fw");
        self.range_min = reply.float("radial_range_min");
        self.range_max = reply.float("radial_range_max");
        self.scan_frequency = reply.float("scan_frequency");
        self.samples_per_scan = reply.number("samples_per_scan").ok();
        self.layer_count = reply.number("layer_count").ok();
        let inclinations = reply.joined("layer_inclination").unwrap_or_default();
        let inclinations = inclinations.split(';').filter_map(|text| text.parse().ok());
        self.inclinations = inclinations.collect();
    }

    /// Whether its layers look in different directions, so that each is a scan of its own.
    pub fn has_layers(&self) -> bool {
        let several = self.layer_count.is_some_and(|count| count > 1);
        let level = |inclination: &f64| *inclination == 0.0;
        several && (self.inclinations.is_empty() || !self.inclinations.iter().all(level))
    }

    /// Whether it is of the family with layers.
    pub(crate) fn is_r2300(&self) -> bool {
        self.product.contains("R2300")
    }
}
