//! Exports a conversation to a file.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use recount_log::Session;
use recount_log::storage::Visibility;
use recount_message::{ContentBlock, DataBlock, Json, MediaBlock, Msg, Object, Payload, Source};

/// The number of messages per page.
const PAGE: usize = 200;

/// Writes the conversation, or its last image for an image extension, to a new file. Returns a description of what was
/// written. Fails if the file exists.
pub(super) async fn save(session: &Session, file: &Path) -> Result<String> {
    let messages = all_messages(session).await?;
    let extension =
        file.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).unwrap_or_default();
    let (bytes, description) = match extension.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => (last_image(&messages)?, "the last image".to_owned()),
        "md" => (markdown(&messages).into_bytes(), conversation_of(messages.len())),
        _ => {
            let lines: String = messages.iter().map(|message| format!("{}\n", message.to_json())).collect();
            (lines.into_bytes(), conversation_of(messages.len()))
        }
    };
    // Never overwrite an existing file.
    let mut out = match File::create_new(file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("{} is there already", file.display()),
        created => created.with_context(|| format!("cannot write {}", file.display()))?,
    };
    out.write_all(&bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(format!("{description} is in {}", file.display()))
}

fn conversation_of(count: usize) -> String {
    format!("the conversation of {count} messages")
}

async fn all_messages(session: &Session) -> Result<Vec<Msg>> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let page = session.messages(before.as_deref(), Visibility::All, PAGE).await?;
        let Some(page) = page else { break };
        before.clone_from(&page.before);
        pages.push(page.messages);
        if before.is_none() {
            break;
        }
    }
    pages.into_iter().rev().flatten().map(|message| Ok(message.decode()?)).collect()
}

fn last_image(messages: &[Msg]) -> Result<Vec<u8>> {
    let images = messages.iter().flat_map(|message| message.blocks::<DataBlock>().filter(|block| block.is_image()));
    let Some(image) = images.last() else { bail!("there is no image in this conversation") };
    match &image.source {
        Source::Base64(source) => source.bytes().context("the image cannot be read"),
        Source::Url(source) => bail!("the image is at {}", source.url()),
        _ => bail!("the image is elsewhere"),
    }
}

fn markdown(messages: &[Msg]) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(&format!("## {}\n\n", message.name()));
        for block in message.content() {
            text.push_str(&block_to_markdown(block));
        }
    }
    text
}

fn block_to_markdown(block: &ContentBlock) -> String {
    let fenced = |text: &str| {
        let fence = if text.contains("```") { "~~~~~~" } else { "```" };
        format!("{fence}\n{}\n{fence}\n\n", text.trim_end())
    };
    match block {
        ContentBlock::Text(block) => format!("{}\n\n", block.text.trim_end()),
        ContentBlock::Thinking(block) => {
            let quoted: Vec<String> = block.thinking.lines().map(|line| format!("> {line}\n")).collect();
            format!("{}\n", quoted.concat())
        }
        ContentBlock::Data(block) => format!("*{}*\n\n", data_label(block)),
        ContentBlock::ToolCall(call) => {
            let command = Object::parse(&call.input)
                .ok()
                .and_then(|input| input.get("command").and_then(Json::as_str).map(str::to_owned));
            format!("**{}**\n\n{}", call.name, fenced(&command.unwrap_or_else(|| call.input.clone())))
        }
        ContentBlock::ToolResult(result) => {
            let output = match &result.output {
                Payload::Text(text) => text.clone(),
                output => output.blocks().iter().map(media_to_text).collect(),
            };
            format!("*{}: {}*\n\n{}", result.name, result.state, fenced(&output))
        }
        _ => String::new(),
    }
}

fn media_to_text(block: &MediaBlock) -> String {
    match block {
        MediaBlock::Text(block) => block.text.clone(),
        MediaBlock::Data(block) => format!("[{}]\n", data_label(block)),
        _ => String::new(),
    }
}

fn data_label(block: &DataBlock) -> String {
    match &block.name {
        Some(name) => format!("{}: {name}", block.media_type()),
        None => block.media_type().to_owned(),
    }
}
