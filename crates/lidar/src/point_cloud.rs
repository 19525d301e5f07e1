//! The scans of all layers of a turn as one `sensor_msgs/PointCloud2`.

use timeloom_msg::Value;
use timeloom_msg::value::{Array, Struct};
use timeloom_pf::{DeviceInfo, Scan};
use timeloom_time::{Ros, Time};

use crate::Result;
use crate::layout::Layout;
use crate::lidar_options::Layers;
use crate::messages::{intensity, range, single};

pub(crate) const CLOUD: &str = "sensor_msgs/msg/PointCloud2";
const CLOUD_FIELDS: [&str; 9] = [
    "header",
    "height",
    "width",
    "fields",
    "is_bigendian",
    "point_step",
    "row_step",
    "data",
    "is_dense",
];
const FIELD: &str = "sensor_msgs/msg/PointField";
/// The number of `float32` in `sensor_msgs/PointField`.
const FLOAT32: u8 = 7;
const NAMES: [&str; 4] = ["x", "y", "z", "intensity"];
const POINT_BYTES: u32 = 16;

/// The elevation of a point in radians is a polynomial of its angle: inclination in 1/10000 degree, then the factors
/// of the square, of the angle and the constant. They are values of the manufacturer (`correction_params.yaml` of
/// `pf_lidar_ros2_driver`, Apache-2.0).
const CORRECTIONS: [(i32, [f64; 3]); 4] = [
    (-45_000, [0.010_01, -0.029_09, -0.086_87]),
    (-15_000, [0.002_797, -0.009_898, -0.028_97]),
    (15_000, [-0.004_447, 0.009_305, 0.028_93]),
    (45_000, [-0.011_67, 0.028_49, 0.086_83]),
];

/// Collects the layers of a turn.
pub(crate) struct PointCloud {
    field: Layout<4>,
    cloud: Layout<9>,
    projection: Layers,
    points: Vec<[f32; 4]>,
    stamp: Option<Time<Ros>>,
    /// The layer that came last.
    last: Option<u16>,
}

/// A turn that is whole, or cut short by the next one.
pub(crate) struct Turn {
    pub(crate) stamp: Time<Ros>,
    points: Vec<[f32; 4]>,
}

impl PointCloud {
    pub(crate) fn new(projection: Layers) -> Result<Self> {
        Ok(Self {
            field: Layout::new(FIELD, ["name", "offset", "datatype", "count"])?,
            cloud: Layout::new(CLOUD, CLOUD_FIELDS)?,
            projection,
            points: Vec::new(),
            stamp: None,
            last: None,
        })
    }

    /// Adds the scan of a layer; the turns that are finished now.
    pub(crate) fn add(
        &mut self,
        scan: &Scan,
        layer: u16,
        stamp: Time<Ros>,
        device: &DeviceInfo,
    ) -> Vec<Turn> {
        let mut finished = Vec::new();
        if self.last.is_some_and(|last| layer <= last) {
            finished.extend(self.finish());
        }
        self.stamp.get_or_insert(stamp);
        self.last = Some(layer);
        let inclination = scan.header.layer.map_or(0, |layer| layer.inclination);
        let place = Place::new(self.projection, inclination);
        let least = device.range_min.unwrap_or(0.0);
        let most = device.range_max.unwrap_or(f64::INFINITY);
        for (index, point) in scan.points.iter().enumerate() {
            let distance = f64::from(range(point));
            // As laser_geometry does: points without a measurement are left out.
            if distance >= least && distance < most {
                let degrees = scan.first_angle + scan.angle_increment * index as f64;
                let [x, y, z] = place.of(degrees.to_radians(), distance);
                self.points.push([x, y, z, intensity(point)]);
            }
        }
        if device
            .layer_count
            .is_some_and(|count| u64::from(layer) + 1 >= count)
        {
            finished.extend(self.finish());
        }
        finished
    }

    fn finish(&mut self) -> Option<Turn> {
        self.last = None;
        let stamp = self.stamp.take()?;
        Some(Turn {
            stamp,
            points: std::mem::take(&mut self.points),
        })
    }

    /// A `sensor_msgs/PointCloud2`.
    pub(crate) fn message(&self, header: Value, turn: &Turn) -> Value {
        let width = u32::try_from(turn.points.len()).unwrap_or(u32::MAX);
        let fields = NAMES.iter().zip(0_u32..);
        let fields = fields.map(|(name, place)| {
            let offset = place * 4;
            let values = [(*name).into(), offset.into(), FLOAT32.into(), 1_u32.into()];
            self.field.fill(values)
        });
        let fields: Vec<Struct> = fields.collect();
        let numbers = turn.points.iter().flatten();
        let data = numbers.flat_map(|number| number.to_le_bytes()).collect();
        let is_dense = turn.points.iter().all(|point| !point[3].is_nan());
        Value::Struct(self.cloud.fill([
            header,
            1_u32.into(),
            width.into(),
            Array::Struct(fields).into(),
            false.into(),
            POINT_BYTES.into(),
            POINT_BYTES.saturating_mul(width).into(),
            Array::Uint8(data).into(),
            is_dense.into(),
        ]))
    }
}

/// From an angle and a distance to coordinates.
enum Place {
    Tilted { sine: f64, cosine: f64 },
    Curved([f64; 3]),
}

impl Place {
    fn new(projection: Layers, inclination: i32) -> Self {
        let known = CORRECTIONS.iter().find(|(angle, _)| *angle == inclination);
        if let (Layers::Corrected, Some((_, factors))) = (projection, known) {
            return Self::Curved(*factors);
        }
        let (sine, cosine) = tilt(inclination).sin_cos();
        Self::Tilted { sine, cosine }
    }

    fn of(&self, angle: f64, distance: f64) -> [f32; 3] {
        let (sine, cosine) = angle.sin_cos();
        let place = match self {
            Self::Tilted {
                sine: down,
                cosine: level,
            } => [cosine * level, sine, -cosine * down],
            Self::Curved([square, linear, constant]) => {
                let elevation = square * angle * angle + linear * angle + constant;
                let level = elevation.cos();
                [cosine * level, sine * level, elevation.sin()]
            }
        };
        place.map(|part| single(part * distance))
    }
}

/// The pitch of a layer's frame in radians.
pub(crate) fn tilt(inclination: i32) -> f64 {
    (f64::from(inclination) / 10_000.0).to_radians()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(place: [f32; 3], wanted: [f64; 3]) -> bool {
        let mut parts = place.into_iter().zip(wanted);
        parts.all(|(part, wanted)| (f64::from(part) - wanted).abs() < 1e-5)
    }

    #[test]
    fn a_layer_is_tilted_about_the_y_axis() {
        let level = Place::new(Layers::Plane, 0);
        assert!(near(
            level.of(0.5, 2.0),
            [2.0 * 0.5_f64.cos(), 2.0 * 0.5_f64.sin(), 0.0]
        ));
        let half = 900_000 / 2;
        let tilted = Place::new(Layers::Plane, half);
        let root = 0.5_f64.sqrt();
        assert!(near(tilted.of(0.0, 1.0), [root, 0.0, -root]));
        assert!(near(
            tilted.of(std::f64::consts::FRAC_PI_2, 1.0),
            [0.0, 1.0, 0.0]
        ));
    }

    #[test]
    fn the_correction_bends_a_layer_by_the_manufacturers_values() {
        let place = Place::new(Layers::Corrected, 45_000).of(0.0, 1.0);
        assert!(near(place, [0.086_83_f64.cos(), 0.0, 0.086_83_f64.sin()]));
        let elevation = 0.010_01 * 0.25 - 0.029_09 * 0.5 - 0.086_87_f64;
        let place = Place::new(Layers::Corrected, -45_000).of(0.5, 3.0);
        let wanted = [
            3.0 * 0.5_f64.cos() * elevation.cos(),
            3.0 * 0.5_f64.sin() * elevation.cos(),
            3.0 * elevation.sin(),
        ];
        assert!(near(place, wanted));
        // A layer that the manufacturer has no values for stays a plane.
        let other = Place::new(Layers::Corrected, 1).of(0.0, 1.0);
        assert!(near(other, [1.0, 0.0, -1e-4_f64.to_radians().sin()]));
    }
}
