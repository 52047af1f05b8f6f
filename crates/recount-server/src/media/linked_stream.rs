//! Events with URLs in place of base64 data.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, Base64Source, Checkpoint, ContentBlock, CustomEvent, CustomName, DataBlock, DataBlockDeltaEvent, Event,
    EventKind, Fold, Json, MediaBlock, Msg, Object, ToolResultBlock, ToolResultDataDeltaEvent,
};

use super::BlobUpload;
use super::linker::{Growth, Linker, base64_of, has_base64};

/// The replacement of an event.
#[derive(Debug)]
pub(crate) enum Linked {
    /// The event itself.
    Same,
    /// These events; empty if the data is not complete yet.
    Events(Vec<AgentEvent>),
}

/// Replaces base64 data in a stream of events.
#[derive(Debug)]
pub(crate) struct LinkedStream {
    /// The open replies with their base64 data.
    fold: Fold,
    linker: Linker,
}

impl LinkedStream {
    /// Creates a stream that continues open replies.
    pub(crate) fn after(fold: Fold) -> Self {
        Self { fold, linker: Linker::default() }
    }

    /// Returns the open replies with linked media.
    pub(crate) fn linked_fold(&mut self) -> Fold {
        let checkpoint = self.fold.checkpoint();
        let replies = checkpoint.replies.into_iter().map(|reply| self.linker.reply(reply)).collect();
        Fold::resume(Checkpoint { replies, ..checkpoint })
    }

    /// The linker, for data outside of the stream.
    pub(crate) fn linker(&mut self) -> &mut Linker {
        &mut self.linker
    }

    /// Returns the blobs linked since the last call.
    pub(crate) fn take_uploads(&mut self) -> Vec<BlobUpload> {
        std::mem::take(&mut self.linker.uploads)
    }

    /// Applies the next event and returns its replacement. `text` is the event as JSON.
    pub(crate) fn take(&mut self, event: &Event<'_>, text: &str) -> Linked {
        let linked = self.linked(event, text);
        let count = self.item_count(event);
        let _ = self.fold.apply(event);
        let is_new_item = self.item_count(event) > count;
        if !self.fold.take_ended().is_empty() {
            // Drops the ids of ended messages, which would accumulate.
            let checkpoint = Checkpoint { taken: Vec::new(), ..self.fold.checkpoint() };
            self.fold = Fold::resume(checkpoint);
        }
        match (&event.kind, linked) {
            // An empty delta keeps the position of the new item among the others.
            (EventKind::ToolResultDataDelta(kind), Linked::Events(_)) if is_new_item => {
                let mut kind = kind.clone();
                kind.data = Some("".into());
                Linked::Events(vec![event.clone().with_kind(kind).into_owned()])
            }
            (_, linked) => linked,
        }
    }

    fn linked(&mut self, event: &Event<'_>, text: &str) -> Linked {
        match &event.kind {
            EventKind::DataBlockDelta(kind) if kind.data.is_some() && kind.url.is_none() => Linked::Events(Vec::new()),
            EventKind::ToolResultDataDelta(kind) if kind.data.is_some() && kind.url.is_none() => {
                Linked::Events(Vec::new())
            }
            EventKind::DataBlockEnd(kind) => {
                self.ending(event, |block| matches!(block, ContentBlock::Data(_)) && block.id() == kind.block_id)
            }
            EventKind::ToolResultEnd(kind) => self
                .ending(event, |block| matches!(block, ContentBlock::ToolResult(_)) && block.id() == kind.tool_call_id),
            EventKind::ReplyEnd(_) => self.ending(event, |_| true),
            EventKind::HintBlock(kind) if has_base64(text) => {
                let mut kind = kind.clone();
                self.linker.payload(&mut kind.hint, Growth::Complete);
                Linked::Events(vec![event.clone().with_kind(kind).into_owned()])
            }
            EventKind::ExternalExecutionResult(kind) if has_base64(text) => {
                let mut kind = kind.clone();
                for result in &mut kind.execution_results {
                    self.linker.payload(&mut result.output, Growth::Complete);
                }
                Linked::Events(vec![event.clone().with_kind(kind).into_owned()])
            }
            EventKind::Custom(kind) if has_base64(text) => match self.signal(kind) {
                Some(kind) => Linked::Events(vec![event.clone().with_kind(kind).into_owned()]),
                None => Linked::Same,
            },
            _ => Linked::Same,
        }
    }

    /// Links the media of a complete message or block in a CUSTOM event. Returns `None` for any other.
    fn signal<'e>(&mut self, kind: &CustomEvent<'e>) -> Option<CustomEvent<'e>> {
        let value = match kind.recount_name()? {
            CustomName::Message => {
                let message = self.linker.complete(&kind.value.to_json());
                CustomEvent::message(&Msg::from_json(&message).ok()?).value
            }
            CustomName::Block => {
                let mut value = kind.value.clone();
                let reply_id = value.get("reply_id").and_then(Json::as_str).map(str::to_owned)?;
                value.insert("block", self.block(value.get("block")?, &reply_id)?);
                value
            }
            _ => return None,
        };
        Some(kind.clone().with_value(value))
    }

    /// Links the media of a block in a CUSTOM event. All other fields are copied.
    fn block(&mut self, given: &Json, reply_id: &str) -> Option<Object> {
        let mut block = ContentBlock::from_json(given.as_raw(), reply_id, "").ok()?;
        self.linker.block(&mut block);
        let (mut fields, linked) = (given.to_object()?, Object::parse(&block.to_json()).ok()?);
        for name in ["source", "output", "hint"] {
            if let Some(value) = linked.get(name).filter(|_| fields.contains_key(name)) {
                fields.insert(name, value.clone());
            }
        }
        Some(fields)
    }

    /// Returns an event that ends blocks, preceded by deltas with the URLs of their data.
    fn ending(&mut self, event: &Event<'_>, is_ended: impl Fn(&ContentBlock) -> bool) -> Linked {
        let Some(reply_id) = event.reply_id() else { return Linked::Same };
        let Some(reply) = self.fold.open_reply(reply_id) else { return Linked::Same };
        let mut deltas = Vec::new();
        let open = reply.message().content().iter().filter(|block| block.finished_at().is_none() && is_ended(block));
        for block in open {
            match block {
                ContentBlock::Data(block) => deltas.extend(data_delta(&mut self.linker, reply_id, block)),
                ContentBlock::ToolResult(result) => deltas.extend(result_deltas(&mut self.linker, reply_id, result)),
                _ => {}
            }
        }
        if deltas.is_empty() {
            return Linked::Same;
        }
        let (id, time) = (&event.id, &event.created_at);
        let deltas = deltas.into_iter().zip(1..).map(|(kind, number)| {
            let id = if id.is_empty() { String::new() } else { format!("{id}.{number}") };
            Event::stamped(id, time.to_string(), kind)
        });
        Linked::Events(deltas.chain([event.clone().into_owned()]).collect())
    }

    /// Returns the number of items of the tool result that a delta belongs to.
    fn item_count(&self, event: &Event<'_>) -> usize {
        let EventKind::ToolResultDataDelta(kind) = &event.kind else { return 0 };
        let Some(reply) = self.fold.open_reply(&kind.reply_id) else { return 0 };
        let mut results = reply.message().content().iter().rev().filter_map(|block| match block {
            ContentBlock::ToolResult(result) if result.id == kind.tool_call_id => Some(result.output.blocks().len()),
            _ => None,
        });
        results.next().unwrap_or(0)
    }
}

fn data_delta(linker: &mut Linker, reply_id: &str, block: &DataBlock) -> Option<EventKind<'static>> {
    let source = base64_of(block)?;
    let (data, url) = data_or_url(linker, source);
    let mut delta = DataBlockDeltaEvent::new(reply_id.to_owned(), block.id.clone(), source.media_type.clone());
    delta.data = data;
    delta.url = url;
    Some(delta.into())
}

fn result_deltas(linker: &mut Linker, reply_id: &str, result: &ToolResultBlock) -> Vec<EventKind<'static>> {
    let delta = |item: &MediaBlock| {
        let MediaBlock::Data(block) = item else { return None };
        let source = base64_of(block)?;
        let (data, url) = data_or_url(linker, source);
        let (reply_id, media_type) = (reply_id.to_owned(), source.media_type.clone());
        let mut delta =
            ToolResultDataDeltaEvent::new(reply_id, result.id.clone(), media_type).with_block_id(block.id.clone());
        delta.data = data;
        delta.url = url;
        Some(delta.into())
    };
    result.output.blocks().iter().filter_map(delta).collect()
}

type OptionalText = Option<Cow<'static, str>>;

/// Returns the fields `data` and `url` of a delta.
fn data_or_url(linker: &mut Linker, source: &Base64Source) -> (OptionalText, OptionalText) {
    match linker.link(source) {
        Some(link) => (None, Some(link.url().to_owned().into())),
        None => (Some(source.data.clone().into()), None),
    }
}
