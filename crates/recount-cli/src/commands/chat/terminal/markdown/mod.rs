//! Renders Markdown as terminal lines.

mod page;
mod table;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::paint::{BOLD, CODE, DIMMED, PLAIN, Paint};
use super::wrap::Span;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Returns the offset of the last block. Later text never changes the blocks before it.
pub(super) fn last_block(source: &str) -> usize {
    // An incomplete line may still continue the block before it: the first character of a table row does not look like
    // a table yet. After an empty line it cannot.
    let complete = source.rfind('\n').map_or(0, |at| at + 1);
    let is_certain = source.get(..complete).is_none_or(|lines| lines.is_empty() || lines.ends_with("\n\n"));
    let certain = if is_certain { source } else { source.get(..complete).unwrap_or(source) };
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(certain, OPTIONS).into_offset_iter() {
        if depth == 0 {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // Include the indentation of an indented block.
    source.get(..last).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Renders the text as lines of at most `width` columns.
pub(super) fn render(source: &str, width: usize, paint: Paint) -> Vec<String> {
    let mut page = Page::new(width, paint);
    for event in Parser::new_ext(source, OPTIONS) {
        page.take(event);
    }
    page.break_block();
    page.lines
}

/// A container block.
enum Container {
    Quote,
    /// A list item. Its marker is shown before the first line only.
    Item {
        marker: String,
        is_used: bool,
    },
}

struct Page {
    width: usize,
    paint: Paint,
    lines: Vec<String>,
    containers: Vec<Container>,
    /// The next number of each open list. `None` for a bullet list.
    lists: Vec<Option<u64>>,
    spans: Vec<Span>,
    styles: Vec<Style>,
    /// The URL of each open link, and the index of its first span.
    links: Vec<(String, usize)>,
    /// The language of the open code block. `None` outside of a code block.
    code: Option<String>,
    table: Option<Table>,
    /// A block has ended, so the next one needs an empty line before it.
    needs_gap: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<Vec<Span>>>,
}

impl Page {
    fn new(width: usize, paint: Paint) -> Self {
        Self {
            width,
            paint,
            lines: Vec::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            needs_gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.spans.push(Span::new(CODE, text.as_ref())),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            // Keep the backticks: without colours they are the only mark of code.
            Event::Code(code) => self.spans.push(Span::new(CODE, format!("`{code}`"))),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.begin_block();
                let rule = "─".repeat(self.width.min(40));
                self.lines.push(self.paint.on(DIMMED, &rule));
                self.needs_gap = true;
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.styles.push(BOLD);
                self.text(&format!("{} ", "#".repeat(depth(level))));
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(language);
            }
            Tag::List(number) => {
                if self.lists.is_empty() {
                    self.begin_block();
                } else {
                    self.break_line();
                }
                self.lists.push(number);
            }
            Tag::Item => {
                self.break_line();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number += 1;
                        marker
                    }
                    Some(None) | None => "- ".to_owned(),
                };
                self.containers.push(Container::Item { marker, is_used: false });
                self.needs_gap = false;
            }
            Tag::Emphasis => self.open(Style::new().italic(), "*"),
            Tag::Strong => self.open(BOLD, "**"),
            Tag::Strikethrough => self.open(Style::new().strikethrough(), "~~"),
            Tag::Link { dest_url, .. } => self.links.push((dest_url.to_string(), self.spans.len())),
            Tag::Image { dest_url, .. } => {
                self.text("image: ");
                self.links.push((dest_url.to_string(), self.spans.len()));
            }
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.break_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.break_block();
            }
            TagEnd::BlockQuote(_) => {
                self.break_block();
                self.containers.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.break_line();
                self.lists.pop();
                self.needs_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.break_line();
                if let Some(Container::Item { is_used: false, .. }) = self.containers.last() {
                    // The item is empty.
                    self.spans.push(Span::new(PLAIN, ""));
                    self.break_line();
                }
                self.containers.pop();
            }
            TagEnd::Emphasis => self.close("*"),
            TagEnd::Strong => self.close("**"),
            TagEnd::Strikethrough => self.close("~~"),
            TagEnd::Link | TagEnd::Image => {
                let Some((url, begin)) = self.links.pop() else { return };
                let shown: String = self.spans.iter().skip(begin).map(|span| span.text.as_str()).collect();
                if shown != url {
                    self.spans.push(Span::new(DIMMED, format!(" ({url})")));
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests;
