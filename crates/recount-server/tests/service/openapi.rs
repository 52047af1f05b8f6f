//! Compares the OpenAPI document with the routes.

use serde_json::Value;

use crate::support::Service;

#[tokio::test]
async fn document_and_router_have_the_same_routes() {
    let service = Service::with_session("s").await;
    let document = service.get("/openapi.json").await.value();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/healthz"]["get"]["responses"]["403"].is_null(), "liveness has no host check");
    assert!(document["paths"]["/s/{id}"]["get"].is_object());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            assert!(!operation["responses"]["405"].is_null(), "{path}");
        }
        let concrete = path.replace("{id}", "s").replace("{digest}", &"0".repeat(64));
        for method in ["get", "put", "post", "patch", "delete"] {
            if concrete.ends_with("/stream") && method == "get" {
                continue;
            }
            let response = service.json(&method.to_uppercase(), &concrete, "").await;
            match &methods[method] {
                Value::Null => assert_eq!(response.status, 405, "{method} {path}"),
                operation => {
                    let status = response.status.to_string();
                    assert!(response.status != 405, "{method} {path}");
                    assert!(!operation["responses"][&status].is_null(), "{method} {path} returns {status}");
                }
            }
            if response.status == 204 {
                service.json("PUT", "/v1/sessions/s", "").await;
            }
        }
    }
}
