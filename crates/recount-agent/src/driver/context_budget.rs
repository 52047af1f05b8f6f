//! Room for the next request: what is put aside, and what is summarised.

use std::sync::Arc;

use recount_message::{CustomName, ErrorType, Json, Msg, Object, Role, Usage};
use recount_model::{estimate_block_tokens, estimate_tokens};

use super::active_reply::{ActiveReply, Failure};
use crate::compress::{Compression, Shown, Summary, SummaryPrompt, best_cut, summarise, transcript};
use crate::middleware::{ModelRequest, Next, SummaryRequest};
use crate::offload::{Offload, file_name};
use crate::state::{Compressed, CutPoint, Offloaded, TokenCount};
use crate::view::{self, TooMuch, View};

/// Why a conversation is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompressionReason {
    /// The window is nearly full.
    Full,
    /// Somebody wants it.
    Wanted,
    /// The provider says that it is too long.
    Refused,
}

impl CompressionReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Wanted => "wanted",
            Self::Refused => "refused",
        }
    }
}

impl ActiveReply {
    pub(super) fn view(&self) -> View {
        let inner = self.shared.lock();
        View {
            limit: self.shared.config.result_limit,
            compressed: inner.state.compressed.clone(),
            aside: inner.state.offloaded.clone(),
            reply_id: self.message().id().to_owned(),
        }
    }

    /// Puts aside what requests have too much of: results that are too long, and images beyond those that are sent.
    pub(super) async fn put_aside(&mut self) {
        for found in self.too_much() {
            let TooMuch { key, message_id, block_id, kind, tokens, file } = found;
            let kept = match (&self.shared.config.offload, file) {
                (Some(offload), Some((name, content))) => offload.keep(name, content).await.map(Some),
                _ => Ok(None),
            };
            let mut told = Object::from([("reply_id", self.message().id())]);
            told.insert("message_id", message_id);
            told.insert("block_id", block_id);
            told.insert("kind", kind);
            if let Some(tokens) = tokens {
                told.insert("tokens", tokens as u64);
                told.insert("limit", self.shared.config.result_limit.tokens as u64);
            }
            let path = match kept {
                Ok(path) => path,
                Err(error) => {
                    told.insert("error", error.to_string());
                    None
                }
            };
            told.insert("path", path.as_deref().map_or_else(Json::null, Json::from));
            self.shared.change(|state| state.offloaded.insert(key, Offloaded { path }));
            self.signal(CustomName::Offloaded.as_str(), told);
        }
    }

    fn too_much(&self) -> Vec<TooMuch> {
        let config = &self.shared.config;
        let inner = self.shared.lock();
        let before = inner.conversation.iter().take(self.place);
        let after = inner.conversation.iter().skip(self.place);
        let messages: Vec<&Msg> = before.chain([self.message()]).chain(after).collect();
        let mark = inner.state.compressed.as_ref().map(|compressed| &compressed.until);
        let start = mark.and_then(|mark| messages.iter().position(|message| message.id() == mark.message_id));
        let shown = messages.get(start.unwrap_or(0)..).unwrap_or_default();
        let limit = config.offload.is_some().then_some(config.result_limit);
        view::too_much(shown.iter().copied(), limit, config.max_images, &inner.state.offloaded)
    }

    /// Summarises the oldest part of the conversation if the request is too long, or if somebody wants it. Says whether the
    /// request is another one now.
    pub(super) async fn fit_context(&mut self, request: &ModelRequest) -> Result<bool, Failure> {
        let wanted = self.shared.lock().state.compress;
        if wanted {
            self.shared.change(|state| state.compress = false);
            return self.compress(request, CompressionReason::Wanted).await;
        }
        self.compress(request, CompressionReason::Full).await
    }

    /// Summarises, for a reason, the oldest part of the conversation. Says whether the request is another one now.
    pub(super) async fn compress(
        &mut self,
        request: &ModelRequest,
        because: CompressionReason,
    ) -> Result<bool, Failure> {
        let configured = self.shared.config.compression.clone();
        // Who wants a summary gets one, also where nobody else would make one.
        let Some(compression) =
            configured.or_else(|| (because == CompressionReason::Wanted).then(Compression::default))
        else {
            return Ok(false);
        };
        let budget = compression.budget(&*request.model);
        let estimate = estimate_tokens(&request.messages, &request.options.tools).max(1);
        let tokens = self.shared.lock().state.token_count.map_or(estimate, |token_count| token_count.now(estimate));
        if because == CompressionReason::Full && tokens < budget.trigger {
            return Ok(false);
        }
        // The cut is found by estimates, so what the provider counts is brought to their measure.
        let measured = |limit: u64| limit.saturating_mul(estimate) / tokens.max(1);
        let said = request.messages.iter().filter(|message| message.role() != Role::System);
        let said: u64 = said.flat_map(Msg::content).map(estimate_block_tokens).sum();
        let (keep, trigger, window) = match because {
            CompressionReason::Full => (measured(budget.keep), measured(budget.trigger), budget.window),
            CompressionReason::Wanted => (measured(budget.keep).min(said / 5), said, budget.window),
            // How much the model reads is less than was thought.
            CompressionReason::Refused => {
                (measured(budget.keep).min(said / 4), said / 2, budget.window.min(tokens / 2).max(1))
            }
        };
        let Some((until, messages)) = self.cut(keep, trigger, because) else { return Ok(false) };
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
        let mut told = Object::from([("reply_id", self.message().id()), ("because", because.as_str())]);
        told.insert("tokens", tokens);
        told.insert("window", window);
        if let (Err(failure), CompressionReason::Wanted) = (&summary, because) {
            // There was room for all of it, so all of it stays.
            told.insert("how", "nothing");
            told.insert("error", failure.to_string());
            self.signal(CustomName::Compressed.as_str(), told);
            return Ok(false);
        }
        let transcript_files = match &self.shared.config.offload {
            Some(offload) => keep_transcript(offload, &until, &messages).await,
            None => None,
        };
        self.leave_out(until, summary, transcript_files, told);
        Ok(true)
    }

    /// Where the conversation is cut, and what lies before that and has not been left out yet.
    fn cut(&self, keep: u64, trigger: u64, because: CompressionReason) -> Option<(CutPoint, Vec<Msg>)> {
        let view = self.view();
        let mark = view.compressed.as_ref().map(|compressed| &compressed.until);
        let inner = self.shared.lock();
        let messages = view::from_mark(&inner.conversation, self.place, self.message().clone(), mark);
        drop(inner);
        let reply_id = self.message().id();
        let shown: Vec<Shown<'_>> =
            messages.iter().map(|message| Shown { message, is_open: message.id() == reply_id }).collect();
        let mut until = best_cut(&shown, keep, trigger, |message, block| view.tokens(message, block))?;
        let end = messages.iter().position(|message| message.id() == until.message_id)?;
        // There is room for what was asked last, so there has to be something before it.
        let asked_last = messages.iter().rposition(|message| message.role() == Role::User);
        if because == CompressionReason::Wanted && asked_last == Some(end) {
            return None;
        }
        let mut left_out: Vec<Msg> = messages.into_iter().take(end + 1).collect();
        if let Some(last) = left_out.pop() {
            let mut parts = last.into_parts();
            parts.content.truncate(until.blocks);
            left_out.push(Msg::from_parts_lenient(parts));
        }
        // The first message may have lost blocks before.
        if let Some(mark) = mark.filter(|mark| mark.message_id == until.message_id) {
            until.blocks += mark.blocks;
        }
        Some((until, view.messages(left_out).collect()))
    }

    fn leave_out(
        &mut self,
        until: CutPoint,
        summary: Result<Summary, Failure>,
        transcript_files: Option<String>,
        mut told: Object,
    ) {
        told.insert("how", if summary.is_ok() { "summary" } else { "truncation" });
        let mut mark = Object::from([("message_id", until.message_id.as_str())]);
        mark.insert("blocks", until.blocks as u64);
        told.insert("until", mark);
        told.insert("path", transcript_files.as_deref().map_or_else(Json::null, Json::from));
        match &summary {
            Ok(summary) => {
                told.insert("summary", summary.text.as_str());
                if let Some(usage) = &summary.usage {
                    let usage = [("input_tokens", usage.input_tokens), ("output_tokens", usage.output_tokens)];
                    told.insert("usage", Object::from(usage));
                }
            }
            Err(failure) => told.insert("error", failure.to_string()),
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
        self.signal(CustomName::Compressed.as_str(), told);
    }

    /// The messages that requests still have.
    fn ids_from(&self, until: &CutPoint) -> Vec<String> {
        let inner = self.shared.lock();
        let messages = view::from_mark(&inner.conversation, self.place, self.message().clone(), Some(until));
        messages.into_iter().map(|message| format!("{}/", message.id())).collect()
    }

    /// Notes what the provider has counted, to judge the next request by.
    pub(super) fn note_count(&self, input_tokens: u64, estimate: u64) {
        let token_count = (input_tokens > 0).then_some(TokenCount { tokens: input_tokens, estimate });
        self.shared.change(|state| state.token_count = token_count);
    }
}

/// Keeps what is left out where the model can read it.
async fn keep_transcript(offload: &Offload, until: &CutPoint, messages: &[Msg]) -> Option<String> {
    let name = file_name("conversation", &[&until.message_id, &until.blocks.to_string()], "txt");
    // Without the file the summary is still there.
    offload.keep(name, transcript(messages).into_bytes()).await.ok()
}

/// Summarises, and where that fails once more without the older half: what was too long may fit then.
pub(crate) async fn summarised(compress: SummaryRequest) -> Result<Summary, Failure> {
    let mut messages = compress.messages.as_slice();
    let mut first_failure = None;
    for _ in 0..2 {
        let failure = match in_pieces(&compress, &transcript(messages)).await {
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
    Err(first_failure.unwrap_or_else(|| Failure::internal("there is nothing to summarise")))
}

/// A piece is never shorter than this, in bytes.
const LEAST_PIECE: u64 = 8_192;

/// Summarises what may be longer than the model can read: piece by piece, each with the summary of those before it.
async fn in_pieces(compress: &SummaryRequest, mut rest: &str) -> Result<Summary, Failure> {
    // Four bytes make a token, roughly, and a fifth is for the question, the summary so far and the answer.
    let most = (compress.window.saturating_mul(4) / 5 * 4).max(LEAST_PIECE);
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
        let summary = summarise(&*compress.model, &ask, &compress.cancel).await?;
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
