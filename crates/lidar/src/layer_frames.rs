//! Frames of the layers, as `/tf_static`.

use std::collections::BTreeMap;

use timeloom_msg::qos::Durability;
use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, QosProfile, Schema, Value};
use timeloom_node::{RosNode, TypedPublisher};
use timeloom_time::{Ros, Time};

use crate::messages::fill_stamp;
use crate::point_cloud::tilt;
use crate::{Error, Result};

const MESSAGE: &str = "tf2_msgs/msg/TFMessage";
const TRANSFORM: &str = "geometry_msgs/msg/TransformStamped";
/// As `tf2_ros::StaticTransformBroadcaster` has it: late joiners get the newest message.
const LATCHED: QosProfile = QosProfile {
    depth: 1,
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};

/// Publishes the frame of each layer once its inclination is known.
pub(crate) struct LayerFrames {
    publisher: TypedPublisher,
    transform: Schema,
    parent: String,
    /// Frames and inclinations in 1/10000 degree.
    known: BTreeMap<String, i32>,
}

impl LayerFrames {
    pub(crate) fn new(node: &RosNode, parent: &str) -> Result<Self> {
        Ok(Self {
            publisher: node.publisher("/tf_static", MESSAGE, LATCHED)?,
            transform: Definitions::builtin().schema(TRANSFORM)?,
            parent: parent.to_owned(),
            known: BTreeMap::new(),
        })
    }

    /// Notes a layer; publishes all frames when one is new.
    pub(crate) fn note(&mut self, frame: &str, inclination: i32, now: Time<Ros>) -> Result<()> {
        if self.known.get(frame) == Some(&inclination) {
            return Ok(());
        }
        self.known.insert(frame.to_owned(), inclination);
        let transforms = self.known.iter();
        let transforms =
            transforms.map(|(child, inclination)| self.transform(child, *inclination, now));
        let transforms: Vec<Struct> = transforms.collect::<Result<_>>()?;
        let mut message = self.publisher.message()?;
        message.set("transforms", Array::Struct(transforms))?;
        self.publisher.publish(&message)?;
        Ok(())
    }

    fn transform(&self, child: &str, inclination: i32, now: Time<Ros>) -> Result<Struct> {
        let mut transform = self.transform.default_value()?;
        fill_stamp(&mut transform, now)?;
        transform.set("header.frame_id", self.parent.as_str())?;
        transform.set("child_frame_id", child)?;
        let (sine, cosine) = (tilt(inclination) / 2.0).sin_cos();
        transform.set("transform.rotation.y", sine)?;
        transform.set("transform.rotation.w", cosine)?;
        match transform {
            Value::Struct(inside) => Ok(inside),
            _ => Err(Error::Layout {
                type_name: TRANSFORM,
            }),
        }
    }
}
