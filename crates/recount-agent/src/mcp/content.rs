//! What a server's tool answers, as the output of a tool.

use recount_message::{Base64Source, DataBlock, Json, MediaBlock, Object, Payload, TextBlock};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

use crate::tool::ToolOutput;

/// So many characters of data a result may have for each one of text: an image is long, and says little as text.
const DATA_PER_TEXT: usize = 10;

/// The output that a result is, with no more text and data than it may have.
pub(super) fn output(result: CallToolResult, max_output: usize) -> ToolOutput {
    let mut gathered = Gathered {
        blocks: Vec::new(),
        text_left: max_output,
        data_left: max_output.saturating_mul(DATA_PER_TEXT),
        left_out: 0,
    };
    let structured = result.structured_content.map(Json::from);
    for block in result.content {
        gathered.block(block);
    }
    // A server is asked to say what is structured as text too. Not every one does.
    if let Some(structured) = structured.as_ref().filter(|_| !gathered.has_text()) {
        gathered.text(structured.as_raw().to_owned());
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
    let content = gathered.payload();
    let output = if result.is_error == Some(true) { ToolOutput::failed(content) } else { ToolOutput::new(content) };
    output.with_metadata(metadata)
}

struct Gathered {
    blocks: Vec<MediaBlock>,
    text_left: usize,
    data_left: usize,
    /// How many characters had to be left out.
    left_out: usize,
}

impl Gathered {
    fn block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(text.text),
            ContentBlock::Image(image) => self.data(image.data, &image.mime_type, None),
            ContentBlock::Audio(audio) => self.data(audio.data, &audio.mime_type, None),
            ContentBlock::Resource(resource) => self.resource(resource.resource),
            ContentBlock::ResourceLink(link) => self.text(described(&link)),
            _ => self.text("(something that this version does not know)".to_owned()),
        }
    }

    fn resource(&mut self, resource: ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => self.text(format!("{uri}:\n{text}")),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                self.data(blob, &media_type, Some(uri));
            }
            _ => self.text("(a resource that this version does not know)".to_owned()),
        }
    }

    fn text(&mut self, text: String) {
        let length = text.chars().count();
        let kept = length.min(self.text_left);
        self.text_left -= kept;
        self.left_out += length - kept;
        if kept > 0 {
            let text: String = if kept < length { text.chars().take(kept).collect() } else { text };
            // What is written one after the other becomes one text, in which two of them would not be told apart.
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
        if base64.len() > self.data_left {
            self.left_out += base64.len();
            return;
        }
        let source = Base64Source::from_base64(base64, media_type);
        // A block that nobody can read would only be found out about where nothing can be done about it: each later request
        // would have it in it.
        let Ok(bytes) = source.bytes() else {
            return self.text(format!("({media_type} that is no base64)"));
        };
        let source = match said_and_found(media_type, &bytes) {
            Ok(found) => Base64Source::from_base64(source.data, found),
            Err(()) => {
                return match String::from_utf8(bytes) {
                    Ok(text) if !text.is_empty() => {
                        self.text(format!("(what is said to be {media_type} is text)\n{text}"));
                    }
                    Ok(_) | Err(_) => self.text(format!("(what is said to be {media_type} is none, and left out)")),
                };
            }
        };
        self.data_left -= source.data.len();
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
        if self.left_out > 0 {
            let note = format!("({} more characters were too long and are left out)", self.left_out);
            self.blocks.push(MediaBlock::from(note));
        }
        match self.blocks.as_mut_slice() {
            [] => Payload::from("done"),
            [MediaBlock::Text(only)] => Payload::from(std::mem::take(&mut only.text)),
            _ => Payload::from(self.blocks),
        }
    }
}

/// The images that models are shown. What they are is seen at their first bytes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The media type of bytes that a server has given one. An image that is another one is that; one that is none is an error.
fn said_and_found<'a>(said: &'a str, bytes: &[u8]) -> Result<std::borrow::Cow<'a, str>, ()> {
    let plain = said.split(';').next().unwrap_or_default().trim();
    if !IMAGES.iter().any(|image| image.eq_ignore_ascii_case(plain)) && !plain.eq_ignore_ascii_case("image/jpg") {
        return Ok(said.into());
    }
    let found = DataBlock::from_bytes(bytes);
    if found.is_image() { Ok(found.media_type().to_owned().into()) } else { Err(()) }
}

/// A link to a resource, which the model may read or pass on.
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
        let told: Vec<String> = blocks
            .iter()
            .map(|block| match block {
                MediaBlock::Text(text) => text.text.clone(),
                MediaBlock::Data(data) => format!("{} {}", data.media_type(), data.name.as_deref().unwrap_or("-")),
                _ => panic!(),
            })
            .collect();
        assert_eq!(
            told,
            [
                "image/gif -",
                "audio/wav -",
                "application/pdf demo://1",
                "demo://2:\nhello\nresource three <demo://3> (text/plain): The third."
            ]
        );
    }

    #[test]
    fn what_is_too_long_is_left_out_and_told() {
        let json = r#"{"content":[{"type":"text","text":"123456"},{"type":"text","text":"789"},
            {"type":"image","data":"R0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lGODlhR0lG","mimeType":"image/gif"}]}"#;
        let text = read(json, 8).content.text().unwrap();
        assert_eq!(text, "123456\n78\n(85 more characters were too long and are left out)");
    }

    #[test]
    fn texts_stand_apart() {
        let text = |json: &str| match read(json, 100).content {
            Payload::Text(text) => text,
            other => panic!("{other:?}"),
        };
        let json = r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two\n"},{"type":"text","text":"three"}]}"#;
        assert_eq!(text(json), "one\ntwo\nthree");
    }

    #[test]
    fn an_image_is_what_its_bytes_say() {
        let told = |data: &str, media_type: &str| {
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
        assert_eq!(told("R0lGODlh", "image/png"), "image/gif");
        assert_eq!(told("aGVsbG8=", "image/png"), "(what is said to be image/png is text)\nhello");
        assert_eq!(told("/////w==", "image/jpg"), "(what is said to be image/jpg is none, and left out)");
        assert_eq!(told("", "image/png"), "(what is said to be image/png is none, and left out)");
        assert_eq!(told("aGVsbG8=", "image/svg+xml"), "image/svg+xml");
    }

    #[test]
    fn errors_and_odd_things_are_told() {
        let failed = read(r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#, 100);
        assert_eq!(failed, ToolOutput::failed("no such file"));
        let odd = read(r#"{"content":[{"type":"image","data":"???","mimeType":"image/png"}]}"#, 100);
        assert_eq!(odd.content.text().as_deref(), Some("(image/png that is no base64)"));
        assert_eq!(read(r#"{"content":[]}"#, 100).content.text().as_deref(), Some("done"));
    }
}
