//! Writing of blocks.

use recount_message::{ContentBlock, MediaBlock, Object, Payload, PermissionRule, Source, ToolResultBlock};

use super::{BlockContext, is_from_java, is_written_as_text, item_context, legacy_of, text_block};
use crate::java::fields::without_nulls;
use crate::java::{Version, block};
use crate::json::{self, ObjectWriter};
use crate::{data_url, preserved};

pub(in crate::java) fn write_rule(rule: &PermissionRule, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    object.text("tool_name", &rule.tool_name);
    object.text_or_null("rule_content", rule.rule_content.as_deref());
    object.text("behavior", rule.behavior.as_str());
    object.text("source", &rule.source);
    rule.extra.iter().for_each(|(name, value)| object.json(name, value));
    object.end();
}

/// Serializes a block.
pub(in crate::java) fn write_block(block: &ContentBlock, version: Version, out: &mut String) {
    if let ContentBlock::Unknown(block) = block
        && is_from_java(block, version)
    {
        let mut fields = block.fields.clone();
        preserved::take(&mut fields, version.name());
        return json::jackson_object(out, &fields);
    }
    let mut object = ObjectWriter::jackson(out);
    match block {
        ContentBlock::Data(block) if is_written_as_text(block, version) => {
            object.text("type", "text");
            object.text("text", &data_url::from_source(&block.source));
        }
        ContentBlock::Hint(block) if version == Version::One => {
            object.text("type", "text");
            object.text("text", &block.hint.text().unwrap_or_default());
        }
        ContentBlock::Text(block) => {
            object.text("type", "text");
            object.text("text", &block.text);
        }
        ContentBlock::Thinking(block) => {
            object.text("type", "thinking");
            object.text("thinking", &block.thinking);
            match metadata_of(&block.extra) {
                metadata if metadata.is_empty() => object.raw("metadata", "null"),
                metadata => object.object("metadata", &metadata),
            }
        }
        ContentBlock::Data(block) => {
            let legacy = legacy_of(block, version);
            object.text("type", legacy.map_or("data", |legacy| legacy.as_str()));
            write_source(&block.source, version, object.key("source"));
            if legacy.is_none() {
                object.text("id", &block.id);
                object.text_if_any("name", block.name.as_deref());
            }
        }
        ContentBlock::Hint(block) => {
            object.text("type", "hint");
            object.text("id", &block.id);
            object.text("hint", &block.hint.text().unwrap_or_default());
            object.text_or_null("source", block.source.as_deref());
        }
        ContentBlock::ToolCall(block) => {
            object.text("type", "tool_use");
            object.text("id", &block.id);
            object.text_or_null("name", block.has_name().then_some(&block.name));
            object.object("input", &Object::parse(&block.input).unwrap_or_default());
            object.text("content", &block.input);
            object.object("metadata", &metadata_of(&block.extra));
            if version == Version::Two {
                object.text("state", block.state.as_str());
            }
        }
        ContentBlock::ToolResult(block) => {
            object.text("type", "tool_result");
            object.text("id", &block.id);
            object.text_or_null("name", block.has_name().then_some(&block.name));
            write_output(block, version, object.key("output"));
            // Java rejects `null` values here.
            object.object("metadata", &without_nulls(&block.metadata));
            if version == Version::Two {
                object.text("state", block.state.as_str());
            }
        }
        // Java rejects unknown blocks.
        other => {
            object.text("type", "text");
            object.text("text", &other.to_json());
        }
    }
    object.end();
}

fn write_output(result: &ToolResultBlock, version: Version, out: &mut String) {
    let text;
    let items = match &result.output {
        Payload::Blocks(items) => items,
        other => {
            text = [MediaBlock::from(text_block(other.text().unwrap_or_default(), BlockContext::default()))];
            text.as_slice()
        }
    };
    json::write_list(out, items, |index, item, out| {
        block::write(&item.clone().into(), item_context(&result.id, index, &result.created_at, version), out);
    });
}

fn write_source(source: &Source, version: Version, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    match source {
        Source::Url(source) => {
            object.text("type", "url");
            object.text("url", source.url());
            if version == Version::Two {
                object.text("mime_type", &source.media_type);
            }
        }
        Source::Base64(source) => {
            object.text("type", "base64");
            object.text("media_type", &source.media_type);
            object.text("data", &source.data);
        }
        _ => {}
    }
    object.end();
}

/// Returns the undeclared fields of a block, which are Java's metadata.
fn metadata_of(extra: &Object) -> Object {
    extra.iter().filter(|(name, _)| *name != preserved::KEY).map(|(name, value)| (name, value.clone())).collect()
}
