//! Keeping requests within the context window: offloading parts and summarising old messages.

use std::sync::Arc;

use recount_message::{CustomName, ErrorType, Json, Msg, Object, Role, Usage};
use recount_model::{estimate_block_tokens, estimate_tokens};

use super::active_reply::{ActiveReply, Failure};
use crate::compress::{Compression, RequestMessage, Summary, SummaryPrompt, find_cut, request_summary, transcript};
use crate::middleware::{ModelRequest, Next, SummaryRequest};
use crate::offload::{Offload, file_name};
use crate::state::{Compressed, CutPoint, Offloaded, TokenCount};
use crate::view::{self, Excess, RequestView};

/// Why a conversation is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompressionReason {
    /// The request exceeds the configured part of the context window.
    Full,
    /// The application requested it.
    Requested,
    /// The provider rejected the request as too long.
    RejectedByProvider,
}

impl CompressionReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Requested => "wanted",
            Self::RejectedByProvider => "refused",
        }
    }
}

impl ActiveReply {
    pub(super) fn view(&self) -> RequestView {
        let inner = self.shared.lock();
        RequestView {
            limit: self.shared.config.result_limit,
            compressed: inner.state.compressed.clone(),
            offloaded: inner.state.offloaded.clone(),
            reply_id: self.message().id().to_owned(),
        }
    }

    /// Offloads the parts that requests must not contain in full: results that are too long, and images beyond the
    /// limit.
    pub(super) async fn offload_excess(&mut self) {
        for found in self.find_excess() {
            let Excess { key, message_id, block_id, kind, tokens, file } = found;
            let kept = match (&self.shared.config.offload, file) {
                (Some(offload), Some((name, content))) => offload.write(name, content).await.map(Some),
                _ => Ok(None),
            };
            let mut fields = Object::from([("reply_id", self.message().id())]);
            fields.insert("message_id", message_id);
            fields.insert("block_id", block_id);
            fields.insert("kind", kind);
            if let Some(tokens) = tokens {
                fields.insert("tokens", tokens as u64);
                fields.insert("limit", self.shared.config.result_limit.tokens as u64);
            }
            let path = match kept {
                Ok(path) => path,
                Err(error) => {
                    fields.insert("error", error.to_string());
                    None
                }
            };
            fields.insert("path", path.as_deref().map_or_else(Json::null, Json::from));
            self.shared.change(|state| state.offloaded.insert(key, Offloaded { path }));
            self.signal(CustomName::Offloaded.as_str(), fields);
        }
    }

    fn find_excess(&self) -> Vec<Excess> {
        let config = &self.shared.config;
        let inner = self.shared.lock();
        let before = inner.conversation.iter().take(self.position);
        let after = inner.conversation.iter().skip(self.position);
        let messages: Vec<&Msg> = before.chain([self.message()]).chain(after).collect();
        let mark = inner.state.compressed.as_ref().map(|compressed| &compressed.until);
        let start = mark.and_then(|mark| messages.iter().position(|message| message.id() == mark.message_id));
        let shown = messages.get(start.unwrap_or(0)..).unwrap_or_default();
        let limit = config.offload.is_some().then_some(config.result_limit);
        view::find_excess(shown.iter().copied(), limit, config.max_images, &inner.state.offloaded)
    }

    /// Summarises the oldest part of the conversation if the request is too long or a summary was requested. Returns
    /// whether the request has changed.
    pub(super) async fn fit_context(&mut self, request: &ModelRequest) -> Result<bool, Failure> {
        let wanted = self.shared.lock().state.compress;
        if wanted {
            self.shared.change(|state| state.compress = false);
            return self.compress(request, CompressionReason::Requested).await;
        }
        self.compress(request, CompressionReason::Full).await
    }

    /// Summarises the oldest part of the conversation. Returns whether the request has changed.
    pub(super) async fn compress(
        &mut self,
        request: &ModelRequest,
        reason: CompressionReason,
    ) -> Result<bool, Failure> {
        let configured = self.shared.config.compression.clone();
        // A requested summary is made even if compression is turned off.
        let Some(compression) =
            configured.or_else(|| (reason == CompressionReason::Requested).then(Compression::default))
        else {
            return Ok(false);
        };
        let budget = compression.budget(&*request.model);
        let estimate = estimate_tokens(&request.messages, &request.options.tools).max(1);
        let tokens = self.shared.lock().state.token_count.map_or(estimate, |token_count| token_count.now(estimate));
        if reason == CompressionReason::Full && tokens < budget.trigger {
            return Ok(false);
        }
        // The cut is found with estimates, so limits in the provider's tokens are converted.
        let scaled = |limit: u64| limit.saturating_mul(estimate) / tokens.max(1);
        let said = request.messages.iter().filter(|message| message.role() != Role::System);
        let said: u64 = said.flat_map(Msg::content).map(estimate_block_tokens).sum();
        let (keep, trigger, window) = match reason {
            CompressionReason::Full => (scaled(budget.keep), scaled(budget.trigger), budget.window),
            CompressionReason::Requested => (scaled(budget.keep).min(said / 5), said, budget.window),
            // The context window is smaller than configured or reported.
            CompressionReason::RejectedByProvider => {
                (scaled(budget.keep).min(said / 4), said / 2, budget.window.min(tokens / 2).max(1))
            }
        };
        let Some((until, messages)) = self.choose_cut(keep, trigger, reason) else { return Ok(false) };
        let layers = Arc::clone(&self.shared.config.middleware);
        let compress = SummaryRequest {
            agent: self.shared.config.name.clone(),
            model: compression.model.clone().unwrap_or_else(|| Arc::clone(&request.model)),
            messages: messages.clone(),
            earlier: self.shared.lock().state.compressed.as_ref().and_then(|earlier| earlier.summary.clone()),
            instructions: compression.instructions.clone(),
            tokens,
            window,
            cancel: self.cancel.clone(),
        };
        let summary = Next::of(&layers).compress(compress).await;
        if self.cancel.is_cancelled() {
            return Ok(false);
        }
        if let Err(failure) = &summary
            && compression.fail_on_error
        {
            return Err(Failure::internal(format!("the conversation cannot be summarised: {failure}")));
        }
        let mut fields = Object::from([("reply_id", self.message().id()), ("because", reason.as_str())]);
        fields.insert("tokens", tokens);
        fields.insert("window", window);
        if let (Err(failure), CompressionReason::Requested) = (&summary, reason) {
            // The request fits, so nothing has to be left out.
            fields.insert("how", "nothing");
            fields.insert("error", failure.to_string());
            self.signal(CustomName::Compressed.as_str(), fields);
            return Ok(false);
        }
        let transcript_files = match &self.shared.config.offload {
            Some(offload) => write_transcript(offload, &until, &messages).await,
            None => None,
        };
        self.apply_compression(until, summary, transcript_files, fields);
        Ok(true)
    }

    /// Returns where the conversation is cut, and the messages before the cut that were not left out before.
    fn choose_cut(&self, keep: u64, trigger: u64, reason: CompressionReason) -> Option<(CutPoint, Vec<Msg>)> {
        let view = self.view();
        let mark = view.compressed.as_ref().map(|compressed| &compressed.until);
        let inner = self.shared.lock();
        let messages = view::from_cut_point(&inner.conversation, self.position, self.message().clone(), mark);
        drop(inner);
        let reply_id = self.message().id();
        let shown: Vec<RequestMessage<'_>> =
            messages.iter().map(|message| RequestMessage { message, is_open: message.id() == reply_id }).collect();
        let mut until = find_cut(&shown, keep, trigger, |message, block| view.tokens(message, block))?;
        let end = messages.iter().position(|message| message.id() == until.message_id)?;
        // A requested summary must not consist of the user's latest message alone.
        let asked_last = messages.iter().rposition(|message| message.role() == Role::User);
        if reason == CompressionReason::Requested && asked_last == Some(end) {
            return None;
        }
        let mut left_out: Vec<Msg> = messages.into_iter().take(end + 1).collect();
        if let Some(last) = left_out.pop() {
            let mut parts = last.into_parts();
            parts.content.truncate(until.blocks);
            left_out.push(Msg::from_parts_lenient(parts));
        }
        // The first message may have been cut before, so its blocks are counted from its beginning.
        if let Some(mark) = mark.filter(|mark| mark.message_id == until.message_id) {
            until.blocks += mark.blocks;
        }
        Some((until, view.messages(left_out).collect()))
    }

    fn apply_compression(
        &mut self,
        until: CutPoint,
        summary: Result<Summary, Failure>,
        transcript_files: Option<String>,
        mut fields: Object,
    ) {
        fields.insert("how", if summary.is_ok() { "summary" } else { "truncation" });
        let mut mark = Object::from([("message_id", until.message_id.as_str())]);
        mark.insert("blocks", until.blocks as u64);
        fields.insert("until", mark);
        fields.insert("path", transcript_files.as_deref().map_or_else(Json::null, Json::from));
        match &summary {
            Ok(summary) => {
                fields.insert("summary", summary.text.as_str());
                if let Some(usage) = &summary.usage {
                    let usage = [("input_tokens", usage.input_tokens), ("output_tokens", usage.output_tokens)];
                    fields.insert("usage", Object::from(usage));
                }
            }
            Err(failure) => fields.insert("error", failure.to_string()),
        }
        let shown = self.ids_from(&until);
        self.shared.change(|state| {
            let earlier = state.compressed.take();
            let (earlier_summary, mut files, was_truncated) = earlier
                .map(|earlier| (earlier.summary, earlier.transcript_files, earlier.is_truncated))
                .unwrap_or_default();
            files.extend(transcript_files);
            let (summary, is_truncated) = match summary {
                Ok(summary) => (Some(summary.text), was_truncated),
                Err(_) => (earlier_summary, true),
            };
            state.compressed = Some(Compressed { until, summary, is_truncated, transcript_files: files });
            state.token_count = None;
            state.offloaded.retain(|key, _| shown.iter().any(|id| key.starts_with(id.as_str())));
        });
        self.signal(CustomName::Compressed.as_str(), fields);
    }

    /// Returns the key prefixes of the messages that requests still contain.
    fn ids_from(&self, until: &CutPoint) -> Vec<String> {
        let inner = self.shared.lock();
        let messages = view::from_cut_point(&inner.conversation, self.position, self.message().clone(), Some(until));
        messages.into_iter().map(|message| format!("{}/", message.id())).collect()
    }

    /// Records the provider's token count, which improves the estimate for the next request.
    pub(super) fn record_token_count(&self, input_tokens: u64, estimate: u64) {
        let token_count = (input_tokens > 0).then_some(TokenCount { tokens: input_tokens, estimate });
        self.shared.change(|state| state.token_count = token_count);
    }
}

/// Writes the summarised messages to a file. Returns its path.
async fn write_transcript(offload: &Offload, until: &CutPoint, messages: &[Msg]) -> Option<String> {
    let name = file_name("conversation", &[&until.message_id, &until.blocks.to_string()], "txt");
    // A failure is ignored, because the summary is enough to continue.
    offload.write(name, transcript(messages).into_bytes()).await.ok()
}

/// Summarises the messages. On failure, retries once with the newer half, which may fit.
pub(crate) async fn summarise_with_retry(compress: SummaryRequest) -> Result<Summary, Failure> {
    let mut messages = compress.messages.as_slice();
    let mut first_failure = None;
    for _ in 0..2 {
        let failure = match summarise_in_chunks(&compress, &transcript(messages)).await {
            Ok(summary) => return Ok(summary),
            Err(failure) => failure,
        };
        let may_pass =
            !matches!(failure.error.kind, ErrorType::Authentication | ErrorType::Permission | ErrorType::Setup);
        first_failure.get_or_insert(failure);
        messages = messages.get(messages.len() / 2..).unwrap_or_default();
        if messages.is_empty() || compress.cancel.is_cancelled() || !may_pass {
            break;
        }
    }
    Err(first_failure.unwrap_or_else(|| Failure::internal("the conversation to summarise is empty")))
}

/// The minimum length of a chunk, in bytes.
const MIN_CHUNK_BYTES: u64 = 8_192;

/// Summarises text that may exceed the model's context window: in chunks, each together with the summary so far.
async fn summarise_in_chunks(compress: &SummaryRequest, mut rest: &str) -> Result<Summary, Failure> {
    // Assumes four bytes per token, and reserves a fifth for the instructions, the summary so far and the output.
    let most = (compress.window.saturating_mul(4) / 5 * 4).max(MIN_CHUNK_BYTES);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut earlier = compress.earlier.clone();
    let mut usage: Option<Usage> = None;
    loop {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(most));
        let ask = SummaryPrompt {
            agent: &compress.agent,
            earlier: earlier.as_deref(),
            transcript: piece,
            instructions: compress.instructions.as_deref(),
        };
        let summary = request_summary(&*compress.model, &ask, &compress.cancel).await?;
        usage = match (usage, summary.usage) {
            (Some(before), Some(now)) => Some([before, now].into_iter().sum()),
            (before, now) => before.or(now),
        };
        if after.is_empty() {
            return Ok(Summary { text: summary.text, usage });
        }
        (earlier, rest) = (Some(summary.text), after);
    }
}
