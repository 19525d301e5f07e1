use super::read::{Lookup, invalid};
use crate::error::Result;

/// How long to wait for a Zenoh router before continuing without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouterCheck {
    /// Forever: 0.
    Wait,
    /// This many attempts, a second apart; one by default.
    Attempts(u32),
    /// Not at all: any negative number.
    Skip,
}

impl Default for RouterCheck {
    fn default() -> Self {
        Self::Attempts(1)
    }
}

/// The settings in the variables of `rmw_zenoh`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZenohEnvironment {
    /// `ZENOH_SESSION_CONFIG_URI`: the file with the session's configuration.
    pub session_config: Option<String>,
    /// `ZENOH_ROUTER_CONFIG_URI`: the file with the router's configuration.
    pub router_config: Option<String>,
    /// `ZENOH_ROUTER_CHECK_ATTEMPTS`.
    pub router_check: RouterCheck,
    /// `ZENOH_CONFIG_OVERRIDE`: keys of the configuration with their JSON5 values, in order.
    pub overrides: Vec<(String, String)>,
}

impl ZenohEnvironment {
    pub(super) fn read(lookup: &Lookup<'_>) -> Result<Self> {
        Ok(Self {
            session_config: lookup.text("ZENOH_SESSION_CONFIG_URI"),
            router_config: lookup.text("ZENOH_ROUTER_CONFIG_URI"),
            router_check: router_check(lookup)?,
            overrides: overrides(lookup)?,
        })
    }
}

fn router_check(lookup: &Lookup<'_>) -> Result<RouterCheck> {
    const VARIABLE: &str = "ZENOH_ROUTER_CHECK_ATTEMPTS";
    let Some(text) = lookup.text(VARIABLE) else {
        return Ok(RouterCheck::default());
    };
    let Ok(number) = text.trim().parse::<i64>() else {
        return Err(invalid(VARIABLE, &text, "expected a whole number"));
    };
    Ok(match u32::try_from(number) {
        Ok(0) => RouterCheck::Wait,
        Ok(attempts) => RouterCheck::Attempts(attempts),
        Err(_) if number < 0 => RouterCheck::Skip,
        Err(_) => RouterCheck::Attempts(u32::MAX),
    })
}

fn overrides(lookup: &Lookup<'_>) -> Result<Vec<(String, String)>> {
    const VARIABLE: &str = "ZENOH_CONFIG_OVERRIDE";
    let text = lookup.text(VARIABLE).unwrap_or_default();
    let pair = |part: &str| match part.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(invalid(
            VARIABLE,
            &text,
            "expected `key=value` pairs separated by `;`, such as mode=\"client\"",
        )),
    };
    text.split(';')
        .filter(|part| !part.trim().is_empty())
        .map(pair)
        .collect()
}
