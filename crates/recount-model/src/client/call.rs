//! One model call: attempts, retries, fallbacks, and the events about them.

use std::iter;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use jiff::Timestamp;
use recount_message::{AgentEvent, CustomName, ErrorType, FinishedReason, Msg, Object, ReplyEnd, ReplyWriter, Usage};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::endpoint::{BaseUrl, auth_headers, origin, required_headers};
use super::error_response::{redirect_error, response_error};
use super::key::ApiKey;
use super::media::MediaCollector;
use super::model::Model;
use super::options::{CallOptions, CallOutcome};
use super::retry::{Failure, RetryHints};
use super::transport::{Body, TransportError};
use crate::decode::{CallEnd, CallError, CallErrorKind, Decoder};
use crate::format::FormatWarning;

/// The maximum number of bytes read from the body of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

impl Model {
    /// Sends messages to the model and writes its response to a reply, as one model call.
    ///
    /// The reply stays open: an agent runs the requested tools, writes their results and calls again. The
    /// [outcome](CallOutcome) holds the error, if any. All blocks are closed, whether the call succeeded or not.
    ///
    /// A call that fails before it has written any block is [retried](super::Retries), then sent to the
    /// [fallbacks](Model::fallback). The reply gets a `recount.retry {attempt, model, class}` or `recount.fallback
    /// {from, to}` event for each. After the first block nothing is retried.
    ///
    /// Structured output ([`CallOptions::structured`]) uses the best method of the provider. If the provider rejects it
    /// for this model, the call is retried with the [next method](crate::format::StructuredMethod::fallback_order).
    ///
    /// Dropping the future closes the connection, but leaves the model call open in the reply.
    /// [`ReplyWriter::interrupt_model_call`] or the end of the reply closes it. A [cancellation
    /// token](CallOptions::cancelled_by) does both.
    ///
    /// ```no_run
    /// use recount_message::{Msg, ReplyEnd, ReplyWriter, Stamps};
    /// use recount_model::client::{CallOptions, Model};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let model: Model = "anthropic/claude-opus-4-5".parse()?;
    /// let mut reply = ReplyWriter::start(|event| println!("{}", event.to_json()), Stamps::default(), "s1", "Friday");
    /// let outcome = model.call(&[Msg::user("Alice", "Hello")], &CallOptions::new(), &mut reply).await;
    /// match outcome.end.error {
    ///     None => reply.end(ReplyEnd::completed()),
    ///     Some(error) => reply.end(ReplyEnd::failed(error.info())),
    /// };
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call<S: FnMut(AgentEvent)>(
        &self,
        messages: &[Msg],
        options: &CallOptions,
        reply: &mut ReplyWriter<S>,
    ) -> CallOutcome {
        let mut call = Call { options, media: MediaCollector::default(), delays: self.retries.delays(), requests: 0 };
        let models: Vec<&Self> = iter::once(self).chain(&self.fallbacks).collect();
        let mut warnings = Vec::new();
        let mut end =
            CallEnd::failed(CallError::new(CallErrorKind::Setup, ErrorType::Setup, "no model is configured"), false);
        let mut id = self.id();
        for (index, model) in models.iter().enumerate() {
            id = model.id();
            reply.model_call(model.name());
            warnings.clear();
            end = match call.call_model(self, model, messages, &mut warnings, reply).await {
                Ok(end) => end,
                Err(failure) => CallEnd { usage: failure.usage, ..CallEnd::failed(failure.error, false) },
            };
            end.error = end.error.map(|error| error.with_message(|message| model.redact_secrets(message)));
            end.end_model_call(reply);
            let is_over =
                end.has_output || end.error.as_ref().is_none_or(|error| error.kind() == CallErrorKind::Cancelled);
            if is_over {
                break;
            }
            if let Some(next) = models.get(index + 1) {
                reply.signal(CustomName::Fallback.as_str(), [("from", id.clone()), ("to", next.id())]);
            }
        }
        CallOutcome { end, model: id, requests: call.requests, warnings, media_errors: call.media.errors }
    }

    /// Sends messages to the model and writes its response as a complete reply. Returns the message and the outcome.
    ///
    /// The reply ends as completed, as failed with the error of the call, or as interrupted if the call was cancelled.
    ///
    /// ```no_run
    /// use recount_message::{Msg, ReplyWriter, Stamps};
    /// use recount_model::client::{CallOptions, Model};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let model: Model = "openai/gpt-5".parse()?;
    /// // A sink may be a channel, so that another task receives the events as they arrive.
    /// let (events, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    /// let sink = move |event| {
    ///     let _ = events.send(event);
    /// };
    /// let reply = ReplyWriter::start(sink, Stamps::default(), "s1", "Friday");
    /// let call = tokio::spawn(async move { model.reply(&[Msg::user("Alice", "Hello")], &CallOptions::new(), reply).await });
    /// while let Some(event) = receiver.recv().await {
    ///     println!("{}", event.to_json());
    /// }
    /// let (message, outcome) = call.await?;
    /// println!("{:?}, {:?}", message.text(), outcome.end.usage);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reply<S: FnMut(AgentEvent)>(
        &self,
        messages: &[Msg],
        options: &CallOptions,
        mut reply: ReplyWriter<S>,
    ) -> (Msg, CallOutcome) {
        let outcome = self.call(messages, options, &mut reply).await;
        let end = match &outcome.end.error {
            None => ReplyEnd::completed(),
            Some(_) if outcome.is_cancelled() => ReplyEnd::new(FinishedReason::Interrupted),
            Some(error) => ReplyEnd::failed(error.info()),
        };
        (reply.end(end), outcome)
    }

    /// Builds the HTTP request.
    fn request(
        &self,
        messages: &[Msg],
        options: &CallOptions,
        media: &MediaCollector,
        warnings: &mut Vec<FormatWarning>,
    ) -> Result<http::Request<Bytes>, CallError> {
        let wanted = options.request(self.provider, &self.settings);
        let formatted = self
            .formatter
            .request(messages, &media.media, &wanted)
            .map_err(|error| CallError::new(CallErrorKind::Setup, ErrorType::InvalidRequest, error.to_string()))?;
        warnings.extend(formatted.warnings);
        let base_url = match &self.base_url {
            Some(base_url) => base_url.clone(),
            None => BaseUrl::of(self.provider),
        };
        let base_url = base_url.map_err(|error| setup(&error))?;
        let url = base_url.request(self.provider, self.name(), options.stream);
        let mut request = http::Request::post(url.as_str())
            .body(Bytes::from(formatted.body.as_raw().to_owned()))
            .map_err(|error| setup(&error))?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = if options.stream { "text/event-stream, application/x-ndjson, */*" } else { "application/json" };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.extend(required_headers(self.provider));
        if let Some(key) = &self.key {
            let invalid_key = || {
                CallError::new(
                    CallErrorKind::Setup,
                    ErrorType::Authentication,
                    "the API key contains characters that are not allowed in a header",
                )
            };
            headers.extend(auth_headers(self.provider, key).map_err(|_| invalid_key())?);
        }
        headers.extend(self.headers.clone());
        Ok(request)
    }

    /// Removes the API key and header values from a text. Providers and proxies may echo what they received.
    fn redact_secrets(&self, text: &str) -> String {
        let of_headers = self.headers.values().filter_map(|value| value.to_str().ok()).map(ApiKey::new);
        self.key.iter().cloned().chain(of_headers).fold(text.to_owned(), |text, secret| secret.redact(&text))
    }

    fn check_key(&self) -> Result<(), CallError> {
        if self.has_key() {
            return Ok(());
        }
        let variables = self.provider.api_key_env_vars().join(" or ");
        let message = format!("no API key for `{}`: set {variables}", self.provider);
        Err(CallError::new(CallErrorKind::Setup, ErrorType::Authentication, message))
    }
}

/// The state shared by all attempts of one call.
struct Call<'a, D> {
    options: &'a CallOptions,
    media: MediaCollector,
    /// The delays before the remaining retries.
    delays: D,
    requests: u32,
}

impl<D: Iterator<Item = Duration>> Call<'_, D> {
    /// Calls one model, with retries. The error is that of the last attempt, none of which has written a block.
    async fn call_model<S: FnMut(AgentEvent)>(
        &mut self,
        first: &Model,
        model: &Model,
        messages: &[Msg],
        warnings: &mut Vec<FormatWarning>,
        reply: &mut ReplyWriter<S>,
    ) -> Result<CallEnd, Failure> {
        let cancel = &self.options.cancel;
        model.check_key()?;
        let wanted = model.formatter.required_media(messages);
        cancel.run_until_cancelled(self.media.fetch_all(wanted, &first.media)).await.ok_or_else(cancelled)?;
        let mut request = model.request(messages, self.options, &self.media, warnings)?;
        let mut other_methods = self.options.other_methods(model.provider, &model.settings).into_iter();
        let mut attempt = 1_u32;
        let mut spent = None;
        loop {
            self.requests += 1;
            let mut failure = match self.attempt(model, request.clone(), reply).await {
                Ok(end) => return Ok(CallEnd { usage: add_usage(spent, end.usage), ..end }),
                Err(failure) => failure,
            };
            spent = add_usage(spent, failure.usage.take());
            let other_method = failure.may_accept_other_method().then(|| other_methods.next()).flatten();
            if let Some(method) = other_method {
                warnings.clear();
                request = model.request(messages, &self.options.with_method(method), &self.media, warnings)?;
                attempt += 1;
                signal_retry(reply, attempt, model, &failure.error);
                continue;
            }
            let max_retry_after = first.retries.max_retry_after;
            let may_wait = failure.hints.retry_after.is_none_or(|wait| wait <= max_retry_after);
            let Some(delay) = (failure.is_retryable() && may_wait).then(|| self.delays.next()).flatten() else {
                return Err(Failure { usage: spent, ..failure });
            };
            attempt += 1;
            signal_retry(reply, attempt, model, &failure.error);
            let wait = tokio::time::sleep(failure.hints.retry_after.unwrap_or(delay));
            cancel.run_until_cancelled(wait).await.ok_or_else(cancelled)?;
        }
    }

    /// Sends the request once and writes the response. Returns an error only if no block was written.
    async fn attempt<S: FnMut(AgentEvent)>(
        &self,
        model: &Model,
        request: http::Request<Bytes>,
        reply: &mut ReplyWriter<S>,
    ) -> Result<CallEnd, Failure> {
        let timeouts = model.timeouts;
        let first_byte = if self.options.stream { timeouts.first_byte } else { timeouts.unstreamed_response };
        let transport = model.transport_or_default().map_err(|error| setup(&error))?;
        let origin = origin(request.uri());
        let mut deadline = Deadline {
            cancel: &self.options.cancel,
            until: Instant::now() + first_byte,
            limit: first_byte,
            origin: &origin,
        };
        let response = deadline.wait(transport.send(request)).await?;
        let (head, mut body) = response.into_parts();
        if !head.status.is_success() {
            let hints = RetryHints::of(head.status, &head.headers, Timestamp::now());
            let body = deadline.error_body(body.as_mut()).await?;
            let location = head.headers.get(LOCATION).and_then(|location| location.to_str().ok());
            let error = match location.filter(|_| head.status.is_redirection()) {
                Some(location) => redirect_error(head.status, location),
                None => response_error(head.status, &body),
            };
            return Err(Failure { hints, ..error.into() });
        }
        let mut decoder = Decoder::new(model.provider, model.decoding);
        let mut broke = None;
        while !decoder.is_done() {
            match deadline.wait(body.chunk()).await {
                Ok(Some(bytes)) => {
                    if decoder.push(&bytes, reply).is_err() {
                        break;
                    }
                    deadline.restart(timeouts.between_chunks);
                }
                Ok(None) => break,
                Err(error) => {
                    broke = Some(error);
                    break;
                }
            }
        }
        drop(body);
        match broke {
            // Text that the decoder still buffers is not written, because the next attempt produces the response again.
            Some(error) if !decoder.has_output() => Err(error.into()),
            broke => {
                let end = match broke {
                    Some(error) => decoder.abort(error, reply),
                    None => decoder.finish(reply),
                };
                match end.error {
                    Some(error) if !end.has_output => Err(Failure { usage: end.usage, ..error.into() }),
                    _ => Ok(end),
                }
            }
        }
    }
}

fn signal_retry<S: FnMut(AgentEvent)>(reply: &mut ReplyWriter<S>, attempt: u32, model: &Model, error: &CallError) {
    let mut value = Object::from([("attempt", attempt)]);
    value.insert("model", model.id());
    value.insert("class", error.class().as_str());
    reply.signal(CustomName::Retry.as_str(), value);
}

/// Waits for the provider until a deadline or until the call is cancelled.
struct Deadline<'a> {
    cancel: &'a CancellationToken,
    until: Instant,
    limit: Duration,
    /// The scheme, host and port of the provider, for errors.
    origin: &'a str,
}

impl Deadline<'_> {
    fn restart(&mut self, limit: Duration) {
        (self.until, self.limit) = (Instant::now() + limit, limit);
    }

    async fn wait<T>(&self, future: impl Future<Output = Result<T, TransportError>>) -> Result<T, CallError> {
        let in_time = self.cancel.run_until_cancelled(timeout_at(self.until, future)).await.ok_or_else(cancelled)?;
        match in_time {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                let kind = if error.is_timeout() { CallErrorKind::TimedOut } else { CallErrorKind::Unreachable };
                Err(CallError::new(kind, ErrorType::Connection, error.to_string()))
            }
            Err(_) => {
                let message = format!("no data from {} for {:?}", self.origin, self.limit);
                Err(CallError::new(CallErrorKind::TimedOut, ErrorType::Connection, message))
            }
        }
    }

    /// Reads the body of an error response, as much of it as arrives in time.
    async fn error_body(&self, body: &mut dyn Body) -> Result<Vec<u8>, CallError> {
        let mut read = Vec::new();
        while read.len() < MAX_ERROR_BODY_BYTES {
            match self.wait(body.chunk()).await {
                Ok(Some(bytes)) => read.extend_from_slice(&bytes),
                Err(error) if error.kind() == CallErrorKind::Cancelled => return Err(error),
                // The status is enough for an error message.
                Ok(None) | Err(_) => break,
            }
        }
        read.truncate(MAX_ERROR_BODY_BYTES);
        Ok(read)
    }
}

/// Adds the usage of several attempts. `None` if no attempt reported any.
fn add_usage(spent: Option<Usage>, more: Option<Usage>) -> Option<Usage> {
    match (spent, more) {
        (Some(spent), Some(more)) => Some(spent + more),
        (spent, more) => spent.or(more),
    }
}

fn cancelled() -> CallError {
    CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled")
}

fn setup(error: &dyn std::error::Error) -> CallError {
    CallError::new(CallErrorKind::Setup, ErrorType::Setup, error.to_string())
}
