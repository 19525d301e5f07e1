//! The policies with a few named values: history, reliability, durability, liveliness.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Declares a policy with the numbers of `rmw` and the names that metadata version 9 uses.
macro_rules! policy {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $number:literal, $text:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The number in bags before metadata version 9.
            pub fn number(self) -> u8 {
                match self { $(Self::$variant => $number,)+ }
            }

            /// The name in bags since metadata version 9.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Reads a name or a number.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|p| p.name() == text || text.parse() == Ok(p.number()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct PolicyVisitor;
                impl Visitor<'_> for PolicyVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $what, " policy: ", $($number, " or ", $text, ", ",)+ "as number or name"))
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
                    }

                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$name, E> {
                        let known = $name::ALL.iter().copied().find(|p| u64::from(p.number()) == number);
                        known.ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
                    }

                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$name, E> {
                        match u64::try_from(number) {
                            Ok(number) => self.visit_u64(number),
                            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                        }
                    }
                }
                deserializer.deserialize_any(PolicyVisitor)
            }
        }
    };
}

policy! {
    /// The number of samples that a writer or reader keeps.
    History, "history" {
        /// The default of the middleware.
        SystemDefault = 0, "system_default";
        /// The last `depth` samples.
        KeepLast = 1, "keep_last";
        /// Every sample.
        KeepAll = 2, "keep_all";
        /// Not announced by the peer.
        Unknown = 3, "unknown";
    }
}

policy! {
    /// Whether lost samples are sent again.
    Reliability, "reliability" {
        /// The default of the middleware.
        SystemDefault = 0, "system_default";
        /// Samples are sent again until received.
        Reliable = 1, "reliable";
        /// Lost samples stay lost.
        BestEffort = 2, "best_effort";
        /// Not announced by the peer.
        Unknown = 3, "unknown";
        /// The strongest that all peers offer.
        BestAvailable = 4, "best_available";
    }
}

policy! {
    /// Whether late joiners get old samples.
    Durability, "durability" {
        /// The default of the middleware.
        SystemDefault = 0, "system_default";
        /// The writer keeps samples for late joiners.
        TransientLocal = 1, "transient_local";
        /// Late joiners get nothing.
        Volatile = 2, "volatile";
        /// Not announced by the peer.
        Unknown = 3, "unknown";
        /// The strongest that all peers offer.
        BestAvailable = 4, "best_available";
    }
}

policy! {
    /// The source of the liveliness assertion of a writer.
    Liveliness, "liveliness" {
        /// The default of the middleware.
        SystemDefault = 0, "system_default";
        /// The middleware, by itself.
        Automatic = 1, "automatic";
        /// The node (old, no longer offered).
        ManualByNode = 2, "manual_by_node";
        /// The application, per topic.
        ManualByTopic = 3, "manual_by_topic";
        /// Not announced by the peer.
        Unknown = 4, "unknown";
        /// The strongest that all peers offer.
        BestAvailable = 5, "best_available";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_mean_the_same() {
        assert_eq!(History::parse("1"), Some(History::KeepLast));
        assert_eq!(History::parse("keep_last"), Some(History::KeepLast));
        assert_eq!(Liveliness::parse("4"), Some(Liveliness::Unknown));
        assert_eq!(Reliability::parse("4"), Some(Reliability::BestAvailable));
        assert_eq!(Durability::parse("9"), None);
        assert_eq!(Durability::parse(""), None);
    }
}
