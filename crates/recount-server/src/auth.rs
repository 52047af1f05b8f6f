//! Authentication: the caller of a request and the source that it comes from.

use recount_log::{KeyError, SessionKey};

use crate::app::App;
use crate::tokens::{Scope, Tokens};

/// The source of each request's [`Caller`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Auth {
    /// Bearer tokens and tickets, as `recount serve` checks them.
    ///
    /// While no tokens are [required](Tokens::are_required), every request is accepted with the scope `admin` in the
    /// tenant `""`. So [`Tokens::none`] turns authentication off.
    Tokens(Tokens),
    /// A middleware of the embedding program.
    ///
    /// It inserts a [`Caller`] into the extensions of each request. A request without one is rejected with 401, except on
    /// `/healthz`, `/readyz` and `/openapi.json`.
    Extension,
}

/// An authenticated client: the tenant whose sessions it can access, and its permissions.
///
/// An embedding program inserts one into the extensions of each request; see [`Auth::Extension`].
///
/// ```
/// use axum::extract::Request;
/// use axum::middleware::Next;
/// use axum::response::{IntoResponse, Response};
/// use http::StatusCode;
/// use recount_server::{Caller, Scope};
///
/// async fn authenticate(mut request: Request, next: Next) -> Response {
///     let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
///     let Some(Ok(caller)) = user.map(|user| Caller::new(user, Scope::Write)) else {
///         return StatusCode::UNAUTHORIZED.into_response();
///     };
///     request.extensions_mut().insert(caller);
///     next.run(request).await
/// }
/// # let _ = authenticate;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub(crate) tenant: String,
    pub(crate) scope: Scope,
    /// The id of the token that the request was authenticated with, if any.
    pub(crate) token: Option<String>,
}

impl Caller {
    /// Creates a caller that can access the sessions of one tenant. The empty tenant is valid.
    ///
    /// # Errors
    ///
    /// Returns an error if `tenant` is not a valid name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub fn new(tenant: &str, scope: Scope) -> Result<Self, KeyError> {
        SessionKey::of_tenant(tenant, "any")?;
        Ok(Self { tenant: tenant.to_owned(), scope, token: None })
    }

    /// Returns the tenant whose sessions the caller can access.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Returns the caller's scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The caller of a route that needs no authentication. It has no access to sessions of a named tenant.
    pub(crate) fn anonymous() -> Self {
        Self { tenant: String::new(), scope: Scope::Read, token: None }
    }

    /// Whether the caller's token is still valid. Connections last for hours, and tokens are revoked in the meantime.
    pub(crate) fn is_authorized(&self, app: &App) -> bool {
        app.tokens().is_valid(self.token.as_deref())
    }
}
