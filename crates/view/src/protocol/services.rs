use serde_json::json;

use crate::channel::{ServiceId, ServiceInfo};

/// The message that advertises services, with requests and responses in CDR.
pub fn advertise_services<'a>(
    services: impl IntoIterator<Item = (ServiceId, &'a ServiceInfo)>,
) -> String {
    let part = |name: String, schema: &str| json!({"encoding": "cdr", "schemaName": name, "schemaEncoding": "ros2msg", "schema": schema});
    let services: Vec<_> = services
        .into_iter()
        .map(|(id, service)| {
            json!({
                "id": id,
                "name": service.name,
                "type": service.type_name,
                "request": part(format!("{}_Request", service.type_name), &service.request),
                "response": part(format!("{}_Response", service.type_name), &service.response),
                // Older clients, Lichtblick among them, read the schemas here.
                "requestSchema": service.request,
                "responseSchema": service.response,
            })
        })
        .collect();
    json!({ "op": "advertiseServices", "services": services }).to_string()
}

/// The message that withdraws services.
pub fn unadvertise_services(services: &[ServiceId]) -> String {
    json!({ "op": "unadvertiseServices", "serviceIds": services }).to_string()
}

/// The message that reports a failed call.
pub fn service_failure(service: u32, call: u32, reason: &str) -> String {
    json!({
        "op": "serviceCallFailure", "serviceId": service, "callId": call, "message": reason,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_carries_both_schemas() {
        let service = ServiceInfo {
            name: "/s".into(),
            type_name: "p/srv/S".into(),
            request: "bool a".into(),
            response: "bool b".into(),
        };
        let text = advertise_services([(ServiceId(5), &service)]);
        let sent: serde_json::Value = serde_json::from_str(&text).unwrap();
        let sent = &sent["services"][0];
        assert_eq!(sent["id"], 5);
        assert_eq!(sent["request"]["schemaName"], "p/srv/S_Request");
        assert_eq!(sent["response"]["schema"], "bool b");
        assert_eq!(sent["requestSchema"], "bool a");
    }
}
