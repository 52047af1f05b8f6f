//! Forks: new sessions that copy the beginning of another one.

use recount_log::ForkPoint;

use super::{RouteResult, sessions};
use crate::call::Call;
use crate::problem::{Problem, parse_cursor};

/// `POST /v1/sessions/{id}/fork`
pub(super) async fn post(mut call: Call) -> RouteResult {
    let from = call.session().await?;
    let body = call.object_with(&["after", "before", "id"]).await?;
    let text = |field: &str| match body.get(field) {
        None => Ok(None),
        Some(value) if value.is_null() => Ok(None),
        Some(value) => {
            let text =
                value.as_str().map(str::to_owned).ok_or_else(|| Problem::bad_field(field, "expected a string"))?;
            Ok::<_, Problem>(Some(text))
        }
    };
    let after = parse_cursor("after", text("after")?.as_deref())?;
    let until = match (after, text("before")?) {
        (Some(_), Some(_)) => return Err(Problem::bad_field("before", "expected `after` or `before`, not both")),
        (None, Some(message)) => ForkPoint::Before(message),
        (after, None) => after.into(),
    };
    let name = text("id")?.unwrap_or_else(sessions::new_id);
    let to = sessions::new_key(&call, &name)?;
    sessions::check_session_limit(&call).await?;
    let fork = call.app.log().fork(from.key(), until, to).await?;
    sessions::created(&call, &fork).await
}
