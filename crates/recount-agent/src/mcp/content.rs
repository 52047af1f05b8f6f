//! Conversion of MCP results to tool output.

use recount_message::{Base64Source, DataBlock, Json, MediaBlock, Object, Payload, TextBlock};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

use crate::tool::ToolOutput;

/// The ratio of the limit for base64 data to the limit for text. Images are much longer than text.
const DATA_PER_TEXT: usize = 10;

/// Converts a result to output, truncated to the limits.
pub(super) fn output(result: CallToolResult, max_output: usize) -> ToolOutput {
    let mut collector = ContentCollector {
        blocks: Vec::new(),
        remaining_text: max_output,
        remaining_data: max_output.saturating_mul(DATA_PER_TEXT),
        omitted: 0,
    };
    let structured = result.structured_content.map(Json::from);
    for block in result.content {
        collector.block(block);
    }
    // The protocol recommends to return structured content as text too. Some servers do not.
    if let Some(structured) = structured.as_ref().filter(|_| !collector.has_text()) {
        collector.text(structured.as_raw().to_owned());
    }
    let mut metadata = Object::new();
    if let Some(structured) = structured.filter(|structured| structured.as_raw().len() <= max_output) {
        metadata.insert("structured_content", structured);
    }
    if let Some(meta) =
        result.meta.and_then(|meta| Json::from_serialize(&meta).ok()).filter(|meta| meta.as_raw().len() <= max_output)
    {
        metadata.insert("_meta", meta);
    }
    let content = collector.payload();
    let output = if result.is_error == Some(true) { ToolOutput::failed(content) } else { ToolOutput::new(content) };
    output.with_metadata(metadata)
}

struct ContentCollector {
    blocks: Vec<MediaBlock>,
    remaining_text: usize,
    remaining_data: usize,
    /// The number of omitted characters.
    omitted: usize,
}

impl ContentCollector {
    fn block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(text.text),
            ContentBlock::Image(image) => self.data(image.data, &image.mime_type, None),
            ContentBlock::Audio(audio) => self.data(audio.data, &audio.mime_type, None),
            ContentBlock::Resource(resource) => self.resource(resource.resource),
            ContentBlock::ResourceLink(link) => self.text(described(&link)),
            _ => self.text("(unsupported content)".to_owned()),
        }
    }

    fn resource(&mut self, resource: ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => self.text(format!("{uri}:\n{text}")),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                self.data(blob, &media_type, Some(uri));
            }
            _ => self.text("(unsupported resource)".to_owned()),
        }
    }

    fn text(&mut self, text: String) {
        let length = text.chars().count();
        let kept = length.min(self.remaining_text);
        self.remaining_text -= kept;
        self.omitted += length - kept;
        if kept > 0 {
            let text: String = if kept < length { text.chars().take(kept).collect() } else { text };
            // Adjacent texts are merged into one block, separated by a newline.
            match self.blocks.last_mut() {
                Some(MediaBlock::Text(before)) => {
                    if !before.text.is_empty() && !before.text.ends_with('\n') {
                        before.text.push('\n');
                    }
                    before.text.push_str(&text);
                }
                _ => self.blocks.push(MediaBlock::Text(TextBlock::new(text))),
            }
        }
    }

    fn data(&mut self, base64: String, media_type: &str, name: Option<String>) {
        if base64.len() > self.remaining_data {
            self.omitted += base64.len();
            return;
        }
        let source = Base64Source::from_base64(base64, media_type);
        // Providers would reject every later request that contains an invalid block.
        let Ok(bytes) = source.bytes() else {
            return self.text(format!("({media_type} with invalid base64)"));
        };
        let source = match actual_media_type(media_type, &bytes) {
            Ok(found) => Base64Source::from_base64(source.data, found),
            Err(()) => {
                return match String::from_utf8(bytes) {
                    Ok(text) if !text.is_empty() => {
                        self.text(format!("(declared as {media_type}, but is text)\n{text}"));
                    }
                    Ok(_) | Err(_) => self.text(format!("(declared as {media_type}, but is not an image; omitted)")),
                };
            }
        };
        self.remaining_data -= source.data.len();
        let block = DataBlock::new(source);
        self.blocks.push(MediaBlock::Data(match name {
            Some(name) => block.with_name(name),
            None => block,
        }));
    }

    fn has_text(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, MediaBlock::Text(text) if !text.text.is_empty()))
    }

    fn payload(mut self) -> Payload {
        if self.omitted > 0 {
            let note = format!("({} more characters omitted: the result is too long)", self.omitted);
            self.blocks.push(MediaBlock::from(note));
        }
        match self.blocks.as_mut_slice() {
            [] => Payload::from("done"),
            [MediaBlock::Text(only)] => Payload::from(std::mem::take(&mut only.text)),
            _ => Payload::from(self.blocks),
        }
    }
}

/// The image types that models accept. They are detected by their first bytes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns the media type of data with a declared media type. The type of an image is detected from its bytes.
///
/// # Errors
///
/// The data is declared as an image and is not one.
fn actual_media_type<'a>(declared: &'a str, bytes: &[u8]) -> Result<std::borrow::Cow<'a, str>, ()> {
    let plain = declared.split(';').next().unwrap_or_default().trim();
    if !IMAGES.iter().any(|image| image.eq_ignore_ascii_case(plain)) && !plain.eq_ignore_ascii_case("image/jpg") {
        return Ok(declared.into());
    }
    let found = DataBlock::from_bytes(bytes);
    if found.is_image() { Ok(found.media_type().to_owned().into()) } else { Err(()) }
}

/// Describes a link to a resource.
fn described(link: &Resource) -> String {
    let media_type = link.mime_type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let description = link.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("resource {} <{}>{media_type}{description}", link.name, link.uri)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(json: &str, max_output: usize) -> ToolOutput {
        output(serde_json::from_str(json).unwrap(), max_output)
    }

    #[test]
    fn structured_content_is_text_and_metadata() {
        let only = read(r#"{"content":[],"structuredContent":{"celsius":25.5}}"#, 100);
        assert_eq!(only.content.text().as_deref(), Some(r#"{"celsius":25.5}"#));
        assert_eq!(only.metadata.to_json(), r#"{"structured_content":{"celsius":25.5}}"#);
        let both = read(r#"{"content":[{"type":"text","text":"warm"}],"structuredContent":{"celsius":25.5}}"#, 100);
        assert_eq!(both.content.text().as_deref(), Some("warm"));
    }

    #[test]
    fn media_are_data_blocks() {
        let json = r#"{"content":[
            {"type":"image","data":"R0lGODlh","mimeType":"image/gif"},{"type":"audio","data":"R0lG","mimeType":"audio/wav"},
            {"type":"resource","resource":{"uri":"demo://1","mimeType":"application/pdf","blob":"R0lG"}},
            {"type":"resource","resource":{"uri":"demo://2","text":"hello"}},
            {"type":"resource_link","uri":"demo://3","name":"three","mimeType":"text/plain","description":"The third."}]}"#;
        let blocks = read(json, 1000).content.blocks().to_vec();
        let described: Vec<String> = blocks
            .iter()
            .map(|block| match block {
                MediaBlock::Text(text) => text.text.clone(),
                MediaBlock::Data(data) => format!("{} {}", data.media_type(), data.name.as_deref().unwrap_or("-")),
                _ => panic!(),
            })
            .collect();
        assert_eq!(
            described,
            [
                "image/gif -",
                "audio/wav -",
                "application/pdf demo://1",
                "demo://2:\nhello\nresource three <demo://3> (text/plain): The third."
            ]
        );
    }

    #[test]
    fn long_content_is_omitted_with_note() {
        let json = r#"{"content":[{"type":"text","text":"123456"},{"type":"text","text":"789"},
            {"type":"image","data":"R0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lG","mimeType":"image/gif"}]}"#;
        let text = read(json, 8).content.text().unwrap();
        assert_eq!(text, "123456\n78\n(85 more characters omitted: the result is too long)");
    }

    #[test]
    fn texts_are_separated_by_newlines() {
        let text = |json: &str| match read(json, 100).content {
            Payload::Text(text) => text,
            other => panic!("{other:?}"),
        };
        let json = r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two\n"},{"type":"text","text":"three"}]}"#;
        assert_eq!(text(json), "one\ntwo\nthree");
    }

    #[test]
    fn image_type_is_detected_from_bytes() {
        let media_type_of = |data: &str, media_type: &str| {
            let json = format!(r#"{{"content":[{{"type":"image","data":"{data}","mimeType":"{media_type}"}}]}}"#);
            match read(&json, 100).content {
                Payload::Text(text) => text,
                Payload::Blocks(blocks) => match blocks.as_slice() {
                    [MediaBlock::Data(data)] => data.media_type().to_owned(),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(media_type_of("R0lGODlh", "image/png"), "image/gif");
        assert_eq!(media_type_of("aGVsbG8=", "image/png"), "(declared as image/png, but is text)\nhello");
        assert_eq!(media_type_of("/////w==", "image/jpg"), "(declared as image/jpg, but is not an image; omitted)");
        assert_eq!(media_type_of("", "image/png"), "(declared as image/png, but is not an image; omitted)");
        assert_eq!(media_type_of("aGVsbG8=", "image/svg+xml"), "image/svg+xml");
    }

    #[test]
    fn errors_and_invalid_content_become_text() {
        let failed = read(r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#, 100);
        assert_eq!(failed, ToolOutput::failed("no such file"));
        let invalid = read(r#"{"content":[{"type":"image","data":"???","mimeType":"image/png"}]}"#, 100);
        assert_eq!(invalid.content.text().as_deref(), Some("(image/png with invalid base64)"));
        assert_eq!(read(r#"{"content":[]}"#, 100).content.text().as_deref(), Some("done"));
    }
}
