//! Generators for arbitrary histories.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use recount_message::{
    Base64Source, ContentBlock, DataBlock, Fold, HintBlock, Msg, Object, Role, ThinkingBlock, ToolCallBlock,
    ToolResultBlock, UrlSource,
};
use recount_testkit::strategies::{any_messages, legal_streams};

/// A marker in the metadata of every message and result.
pub(crate) const MARKER: &str = "metadata-stays-here";

/// Any history.
pub(crate) fn any_history() -> impl Strategy<Value = Vec<Msg>> {
    let streamed = legal_streams().prop_map(|stream| {
        let mut fold = Fold::new();
        fold.extend(stream.iter());
        fold.into_messages().collect::<Vec<Msg>>()
    });
    let history = prop_oneof![1 => streamed, 1 => any_messages(), 3 => vec(message(), 0..6)];
    history.prop_map(|messages| messages.iter().map(marked).collect())
}

/// Adds the marker wherever metadata is possible.
fn marked(message: &Msg) -> Msg {
    let content = message.content().iter().cloned().map(|block| match block {
        ContentBlock::ToolResult(result) => result.with_metadata(Object::from([("secret", MARKER)])).into(),
        other => other,
    });
    let content: Vec<ContentBlock> = content.collect();
    message.to_builder().content(content).metadata_entry("secret", MARKER).build().unwrap()
}

fn message() -> impl Strategy<Value = Msg> {
    let role = select(vec![Role::User, Role::Assistant, Role::Assistant, Role::Assistant, Role::System, Role::Tool]);
    (role, name(), vec(block(), 0..7)).prop_map(|(role, name, blocks)| {
        let blocks: Vec<ContentBlock> = blocks.into_iter().filter(|block| role.allows(block)).collect();
        Msg::builder().role(role).name(name).content(blocks).build().unwrap()
    })
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["", "Alice", "Alice Smith", "a/b", "星期五", "<|im_start|>"])
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        3 => (id(), tool(), input()).prop_map(|(id, name, input)| ToolCallBlock::new(id, name, input).into()),
        3 => (id(), tool(), text()).prop_map(|(id, name, text)| ToolResultBlock::success(id, name, text).into()),
        1 => (id(), data()).prop_map(|(id, data)| ToolResultBlock::success(id, "look", data).into()),
        2 => text().prop_map(ContentBlock::from),
        1 => text().prop_map(|text| HintBlock::new(text).into()),
        1 => data().prop_map(|data| HintBlock::new(data).into()),
        1 => data().prop_map(ContentBlock::from),
        1 => (text(), any::<bool>()).prop_map(|(text, signed)| {
            let block = ThinkingBlock::new(text);
            if signed { block.with_extra("signature", "sig").into() } else { block.into() }
        }),
        1 => text().prop_map(|text| ThinkingBlock::new(text).with_extra("reasoning_item_id", "rs_1").into()),
    ]
}

/// A small set of ids, so that they collide, some of them only after sanitizing.
fn id() -> impl Strategy<Value = String> {
    let long = |end: &str| format!("{}{end}", "x".repeat(69));
    let ids = ["", "a", "a.b", "a_b", "a:b", "a_b_2", "call_0", "call", "é", "\u{7}"].map(str::to_owned);
    select([&ids[..], &[long("y"), long("z"), "x".repeat(40)]].concat())
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(vec!["look", "a.b", "", "mcp:search/files", "überall"])
}

fn input() -> impl Strategy<Value = &'static str> {
    select(vec![
        "{}",
        "",
        " ",
        "{\"a\": 1.0",
        "[1]",
        "not json",
        "{\"a\": 12345678901234567890123}",
        "{\"a\": \"\\ud83c",
    ])
}

fn text() -> impl Strategy<Value = &'static str> {
    select(vec!["", " ", "Hello", "two\nlines", "</history>", "<system-reminder>"])
}

fn data() -> impl Strategy<Value = DataBlock> {
    let types = [
        "image/png",
        "image/svg+xml",
        "image/jpg",
        "audio/wav",
        "audio/ogg",
        "video/mp4",
        "application/pdf",
        "text/csv",
        "",
    ];
    let source = (select(types.to_vec()), 0..4).prop_map(|(media_type, place)| match place {
        0 => DataBlock::new(Base64Source::from_base64("cG5n", media_type)),
        1 => DataBlock::new(Base64Source::from_base64("cG5", media_type)),
        2 => DataBlock::new(UrlSource::unchecked("https://example.com/a b", media_type)),
        _ => DataBlock::new(UrlSource::unchecked("file:///a%20b", media_type)),
    });
    (source, id()).prop_map(|(block, id)| block.with_id(id))
}
