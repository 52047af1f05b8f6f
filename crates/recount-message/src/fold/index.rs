//! Lookup of blocks by id.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::block::{Block, ContentBlock, DataBlock, MediaBlock, Payload, TextBlock, ThinkingBlock};
use crate::{ToolCallBlock, ToolResultBlock};

/// A block that is streamed as start, delta and end events.
pub(super) trait Streamed: Block {
    const KIND: Kind;
    fn of_mut(block: &mut ContentBlock) -> Option<&mut Self>;
    fn finished_at_mut(&mut self) -> &mut Option<String>;
}

/// The kind of a streamed block. Ids are unique per kind: a call and its result have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Text,
    Thinking,
    Data,
    ToolCall,
    ToolResult,
}

macro_rules! streamed {
    ($($variant:ident($block:ident),)+) => {
        $(
            impl Streamed for $block {
                const KIND: Kind = Kind::$variant;

                #[inline]
                fn of_mut(block: &mut ContentBlock) -> Option<&mut Self> {
                    match block {
                        ContentBlock::$variant(block) => Some(block),
                        _ => None,
                    }
                }

                fn finished_at_mut(&mut self) -> &mut Option<String> {
                    &mut self.finished_at
                }
            }
        )+

        #[inline]
        fn key(block: &ContentBlock) -> Option<(Kind, &str)> {
            match block {
                $( ContentBlock::$variant(block) => Some((Kind::$variant, &block.id)), )+
                ContentBlock::Hint(_) | ContentBlock::Unknown(_) => None,
            }
        }
    };
}
streamed! {
    Text(TextBlock),
    Thinking(ThinkingBlock),
    Data(DataBlock),
    ToolCall(ToolCallBlock),
    ToolResult(ToolResultBlock),
}

/// Lookup of blocks. If an id occurs twice, the newest block is returned.
pub(super) trait Lookup {
    fn find(&mut self, content: &[ContentBlock], kind: Kind, id: &str) -> Option<usize>;
    /// Returns the index of the data with an id in the tool result at an index.
    fn find_item(&mut self, content: &[ContentBlock], result: usize, id: &str) -> Option<usize>;
    /// Adds the last block to the index.
    fn block_added(&mut self, content: &[ContentBlock]);
    /// Adds the last data of the tool result at an index.
    fn item_added(&mut self, content: &[ContentBlock], result: usize);
}

/// Lookup without an index: searches all blocks, starting with the newest.
#[derive(Debug)]
pub(super) struct Scan;

impl Lookup for Scan {
    fn find(&mut self, content: &[ContentBlock], kind: Kind, id: &str) -> Option<usize> {
        content.iter().rposition(|block| key(block) == Some((kind, id)))
    }

    fn find_item(&mut self, content: &[ContentBlock], result: usize, id: &str) -> Option<usize> {
        items(content, result).iter().rposition(|item| item_id(item) == Some(id))
    }

    fn block_added(&mut self, _: &[ContentBlock]) {}

    fn item_added(&mut self, _: &[ContentBlock], _: usize) {}
}

/// Lookup in constant time. The index is derived from the message and can be rebuilt at any time.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    hasher: DefaultHashBuilder,
    /// Index of the block that the last event changed, which the next event most likely changes too.
    recent: usize,
    blocks: HashTable<Slot>,
    items: HashTable<ItemSlot>,
}

#[derive(Debug, Clone)]
struct Slot {
    hash: u64,
    block: usize,
}

#[derive(Debug, Clone)]
struct ItemSlot {
    hash: u64,
    result: usize,
    item: usize,
}

impl Index {
    pub(super) fn of(content: &[ContentBlock]) -> Self {
        let mut index = Self::default();
        for end in 1..=content.len() {
            index.block_added(&content[..end]);
        }
        index
    }

    fn note_item(&mut self, content: &[ContentBlock], result: usize, item: usize) {
        let Some(id) = items(content, result).get(item).and_then(item_id) else { return };
        let hash = self.hasher.hash_one((result, id));
        let same = |slot: &ItemSlot| {
            slot.result == result && items(content, result).get(slot.item).and_then(item_id) == Some(id)
        };
        match self.items.find_mut(hash, same) {
            Some(slot) => slot.item = item,
            None => {
                self.items.insert_unique(hash, ItemSlot { hash, result, item }, |slot| slot.hash);
            }
        }
    }
}

impl Lookup for Index {
    #[inline]
    fn find(&mut self, content: &[ContentBlock], kind: Kind, id: &str) -> Option<usize> {
        // `recent` always points to the newest block of its id, because adding a block sets it.
        if content.get(self.recent).and_then(key) == Some((kind, id)) {
            return Some(self.recent);
        }
        let hash = self.hasher.hash_one((kind, id));
        let slot = self.blocks.find(hash, |slot| content.get(slot.block).and_then(key) == Some((kind, id)))?;
        self.recent = slot.block;
        Some(slot.block)
    }

    fn find_item(&mut self, content: &[ContentBlock], result: usize, id: &str) -> Option<usize> {
        let hash = self.hasher.hash_one((result, id));
        let same = |slot: &ItemSlot| {
            slot.result == result && items(content, result).get(slot.item).and_then(item_id) == Some(id)
        };
        self.items.find(hash, same).map(|slot| slot.item)
    }

    fn block_added(&mut self, content: &[ContentBlock]) {
        let Some((kind, id)) = content.last().and_then(key) else { return };
        let block = content.len() - 1;
        let hash = self.hasher.hash_one((kind, id));
        match self.blocks.find_mut(hash, |slot| content.get(slot.block).and_then(key) == Some((kind, id))) {
            Some(slot) => slot.block = block,
            None => {
                self.blocks.insert_unique(hash, Slot { hash, block }, |slot| slot.hash);
            }
        }
        self.recent = block;
        for item in 0..items(content, block).len() {
            self.note_item(content, block, item);
        }
    }

    fn item_added(&mut self, content: &[ContentBlock], result: usize) {
        let last = items(content, result).len().saturating_sub(1);
        self.note_item(content, result, last);
    }
}

fn items(content: &[ContentBlock], result: usize) -> &[MediaBlock] {
    match content.get(result) {
        Some(ContentBlock::ToolResult(result)) => match &result.output {
            Payload::Blocks(items) => items,
            Payload::Text(_) => &[],
        },
        _ => &[],
    }
}

fn item_id(item: &MediaBlock) -> Option<&str> {
    match item {
        MediaBlock::Data(data) => Some(&data.id),
        MediaBlock::Text(_) | MediaBlock::Unknown(_) => None,
    }
}
