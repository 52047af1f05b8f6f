//! Markdown as lines of a terminal.

mod page;
mod table;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::paint::{BOLD, CODE, DIMMED, PLAIN, Paint};
use super::wrap::Span;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Where the last block of a text begins. What is before it does not change by what comes after it.
pub(super) fn last_block(source: &str) -> usize {
    // Whether a line that is not complete goes on with the block before it may be seen only when it is: the first character of
    // a table's row is none of a table yet. After an empty line it does not.
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
    // An indented block begins after its indentation, which belongs to it.
    source.get(..last).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// The text as lines of a width.
pub(super) fn render(source: &str, width: usize, paint: Paint) -> Vec<String> {
    let mut page = Page::new(width, paint);
    for event in Parser::new_ext(source, OPTIONS) {
        page.take(event);
    }
    page.break_block();
    page.lines
}

/// What stands around a block.
enum Around {
    Quote,
    /// Its marker, which stands before the first line alone.
    Item {
        marker: String,
        is_used: bool,
    },
}

struct Page {
    width: usize,
    paint: Paint,
    lines: Vec<String>,
    around: Vec<Around>,
    /// The numbers of the lists; nothing is a list without.
    lists: Vec<Option<u64>>,
    spans: Vec<Span>,
    styles: Vec<Style>,
    /// Where the links lead, and where their text begins.
    links: Vec<(String, usize)>,
    /// The code block's language, if it is one.
    code: Option<String>,
    table: Option<Table>,
    /// A block has ended, so that an empty line comes before the next.
    is_apart: bool,
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
            around: Vec::new(),
            lists: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            is_apart: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.spans.push(Span::new(CODE, text.as_ref())),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            // The marks stay, so that code is told from text without colours too.
            Event::Code(code) => self.spans.push(Span::new(CODE, format!("`{code}`"))),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.begin_block();
                let rule = "─".repeat(self.width.min(40));
                self.lines.push(self.paint.on(DIMMED, &rule));
                self.is_apart = true;
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
                self.around.push(Around::Quote);
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
                self.around.push(Around::Item { marker, is_used: false });
                self.is_apart = false;
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
                self.around.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.break_line();
                self.lists.pop();
                self.is_apart = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.break_line();
                if let Some(Around::Item { is_used: false, .. }) = self.around.last() {
                    // Nothing is in it yet.
                    self.spans.push(Span::new(PLAIN, ""));
                    self.break_line();
                }
                self.around.pop();
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
