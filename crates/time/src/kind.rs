//! The kinds of time: the clock that a point in time was read from, as a type.

use core::fmt;
use core::hash::Hash;

mod sealed {
    pub trait Sealed {}
}

/// A kind of time: the type parameter of [`Time`](crate::Time).
///
/// The set of kinds is closed (the trait is sealed), because code that handles
/// [`KindId`] must know all of them. The kinds have no values; the supertraits only let generic
/// code derive its own traits.
pub trait Kind: sealed::Sealed + fmt::Debug + Copy + Ord + Hash + Send + Sync + 'static {
    /// The name used in messages, such as `ros` in "can't compare ros time with steady time".
    const NAME: &'static str;
    /// The same kind as a value, for code that knows the kind only at run time.
    const ID: KindId;
}

/// A kind whose points may be written into messages: their zero is the Unix epoch or the epoch of the time source, so
/// that another process understands them.
///
/// Steady time is not one of them: its zero is the boot of this machine.
pub trait Wire: Kind {}

/// A kind that a time source (such as `/clock`) can take over.
pub trait SimAware: Kind {
    /// The kind that this one follows while no time source is active.
    type Base: Kind;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $kind {}
            impl sealed::Sealed for $kind {}
            impl Kind for $kind {
                const NAME: &'static str = $name;
                const ID: KindId = KindId::$kind;
            }
        )*

        /// A kind of time as a value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum KindId {
            $($(#[$doc])* $kind,)*
        }

        impl KindId {
            /// All kinds, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The lower-case name of the kind.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $kind::NAME,)*
                }
            }
        }
    };
}

kinds! {
    /// ROS time: system time, or the time of the active time source (simulation, playback).
    Ros = "ros";
    /// System time: the wall clock of this machine. It may be stepped by an administrator or NTP.
    System = "system";
    /// Steady time: the monotonic clock of this machine. It never jumps.
    Steady = "steady";
    /// Simulation-aware monotonic time: steady time, or the time of the active time source.
    ///
    /// It never steps with the wall clock, and still pauses and slows down with a simulation.
    RosSteady = "ros-steady";
}

impl Wire for Ros {}
impl Wire for System {}

impl SimAware for Ros {
    type Base = System;
}
impl SimAware for RosSteady {
    type Base = Steady;
}

impl KindId {
    /// The kind that this one follows while no time source is active; `None` if a source cannot take it over.
    pub const fn base(self) -> Option<Self> {
        match self {
            Self::Ros => Some(Self::System),
            Self::RosSteady => Some(Self::Steady),
            Self::System | Self::Steady => None,
        }
    }
}

impl fmt::Display for KindId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a time source drives the simulation-aware clocks.
///
/// ROS time equals system time only while none does. Functions that mix the two kinds take this state, so that the
/// run-time check cannot be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceState {
    /// No time source: ROS time is system time.
    Inactive,
    /// A time source is active: ROS time is unrelated to system time.
    Active,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_agree() {
        assert_eq!(Ros::ID.name(), Ros::NAME);
        assert_eq!(System::ID.name(), System::NAME);
        assert_eq!(Steady::ID.name(), Steady::NAME);
        assert_eq!(RosSteady::ID.name(), RosSteady::NAME);
        assert_eq!(KindId::ALL.len(), 4);
    }

    #[test]
    fn run_time_base_agrees_with_the_type_level_base() {
        assert_eq!(Ros::ID.base(), Some(<Ros as SimAware>::Base::ID));
        assert_eq!(
            RosSteady::ID.base(),
            Some(<RosSteady as SimAware>::Base::ID)
        );
        assert_eq!(System::ID.base(), None);
        assert_eq!(Steady::ID.base(), None);
    }
}
