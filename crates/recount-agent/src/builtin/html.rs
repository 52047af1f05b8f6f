//! Conversion of HTML to text.
//!
//! The converter is not a complete parser. It makes one pass with constant state, so that its run time is linear in the
//! length of the page for any nesting. Small differences to a browser do not matter to a model.

/// Elements that are removed with their content.
const REMOVED: [&str; 7] = ["script", "style", "noscript", "template", "svg", "head", "iframe"];

/// Elements that begin on a new line.
const BLOCKS: [&str; 27] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "option",
    "pre",
    "section",
    "table",
    "tbody",
    "thead",
    "tr",
    "ul",
    "video",
];

/// Supported character references. Others are kept as they are.
const CHARACTERS: [(&str, &str); 24] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("euro", "€"),
    ("middot", "·"),
    ("bull", "•"),
    ("times", "×"),
    ("deg", "°"),
    ("sect", "§"),
];

/// Converts a page to text: headings with `#`, list items with `*`, links with their URLs.
pub(super) fn text_from_html(html: &str) -> String {
    let mut writer = TextWriter::default();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        writer.text(before);
        rest = writer.tag(tag);
    }
    writer.text(rest);
    writer.finish()
}

#[derive(Debug, Default)]
struct TextWriter {
    output: String,
    /// The pending newlines before the next word.
    newlines: usize,
    /// Whether a space is pending before the next word.
    space: bool,
    /// Whether white space is preserved.
    preformatted: bool,
    /// The URL of the open link.
    link: Option<String>,
}

impl TextWriter {
    /// Writes the text between two tags.
    fn text(&mut self, html: &str) {
        let text = decoded(html);
        if self.preformatted {
            self.flush_space();
            self.output.push_str(&text);
            return;
        }
        for (index, word) in text.split([' ', '\n', '\t', '\r']).enumerate() {
            self.space |= index > 0;
            if !word.is_empty() {
                self.flush_space();
                self.output.push_str(word);
            }
        }
    }

    /// Writes pending white space.
    fn flush_space(&mut self) {
        if self.output.is_empty() {
            self.newlines = 0;
        }
        if self.newlines > 0 {
            self.output.truncate(self.output.trim_end_matches(' ').len());
            self.output.extend(std::iter::repeat_n('\n', self.newlines));
        } else if self.space && !self.output.is_empty() && !self.output.ends_with([' ', '\n']) {
            self.output.push(' ');
        }
        (self.newlines, self.space) = (0, false);
    }

    fn break_line(&mut self, newlines: usize) {
        self.newlines = self.newlines.max(newlines);
        self.space = false;
    }

    /// Processes a tag, given without its `<`. Returns the rest of the page.
    fn tag<'a>(&mut self, html: &'a str) -> &'a str {
        if let Some(comment) = html.strip_prefix("!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        if !html.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            self.text("<");
            return html;
        }
        let (inside, rest) = html.split_at(tag_end(html));
        let rest = rest.strip_prefix('>').unwrap_or(rest);
        let name =
            inside.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let closes = inside.starts_with('/');
        if REMOVED.contains(&name.as_str()) && !closes && !inside.ends_with('/') {
            return skip_element(rest, &name);
        }
        self.element(&name, inside, closes);
        rest
    }

    fn element(&mut self, name: &str, inside: &str, closes: bool) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_line(2);
                if !closes {
                    self.flush_space();
                    let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                    self.output.extend(std::iter::repeat_n('#', level));
                    self.space = true;
                }
            }
            "p" => self.break_line(2),
            "li" => {
                self.break_line(1);
                if !closes {
                    self.flush_space();
                    self.output.push('*');
                    self.space = true;
                }
            }
            "td" | "th" if closes => {
                self.space = true;
                self.text("|");
                self.space = true;
            }
            "pre" => {
                self.break_line(2);
                self.preformatted = !closes;
            }
            "a" if closes => {
                if let Some(link) = self.link.take() {
                    self.text(&format!(" ({link})"));
                }
            }
            "a" => self.link = attribute(inside, "href").filter(|link| link.starts_with("http")),
            "img" => {
                if let Some(alt) = attribute(inside, "alt").filter(|alt| !alt.is_empty()) {
                    self.text(&format!(" [image: {alt}] "));
                }
            }
            name if BLOCKS.contains(&name) => self.break_line(1),
            _ => {}
        }
    }

    fn finish(mut self) -> String {
        self.output.truncate(self.output.trim_end().len());
        if !self.output.is_empty() {
            self.output.push('\n');
        }
        self.output
    }
}

/// Returns the position of the first `>` that is not in quotes.
fn tag_end(html: &str) -> usize {
    let mut quote = None;
    let mut after_equals = false;
    for (at, c) in html.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '"' | '\'') if after_equals => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        after_equals = c == '=' || (after_equals && c.is_ascii_whitespace());
    }
    // An unclosed quote does not extend to the end of the page.
    html.find('>').unwrap_or(html.len())
}

/// Returns the rest of the page after the closing tag of an element.
fn skip_element<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some((_, closing)) = rest.split_once("</") {
        let is_it = closing.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if is_it {
            return closing.split_once('>').map_or("", |(_, rest)| rest);
        }
        rest = closing;
    }
    ""
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().match_indices(name).map(|(at, _)| at).find(|at| {
        let before = tag.get(..*at).and_then(|before| before.chars().last());
        before.is_some_and(|c| c.is_ascii_whitespace() || matches!(c, '"' | '\''))
    })?;
    let value = tag.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split_ascii_whitespace().next()?,
    };
    Some(decoded(value))
}

/// Decodes character references.
fn decoded(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let end = after.bytes().take(12).position(|byte| byte == b';');
        let found = end.and_then(|end| Some((character(after.get(..end)?)?, after.get(end + 1..)?)));
        rest = match found {
            Some((character, after)) => {
                text.push_str(&character);
                after
            }
            None => {
                text.push('&');
                after
            }
        };
    }
    text.push_str(rest);
    text
}

fn character(name: &str) -> Option<String> {
    let number = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        },
        None => return CHARACTERS.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()),
    };
    number.and_then(char::from_u32).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::text_from_html;

    #[test]
    fn html_is_converted_to_text() {
        let check =
            |html: &str, expected: &str| pretty_assertions::assert_eq!(text_from_html(html), expected, "{html}");
        check("<p>one  two\n three</p><p>four", "one two three\n\nfour\n");
        check("<h2>Head</h2>text<br>more", "## Head\n\ntext\nmore\n");
        check("<ul><li>a<li>b</ul>c", "* a\n* b\nc\n");
        check("a <b>bold</b>, b", "a bold, b\n");
        check("<a href=\"https://x.org/?a=1&amp;b\">there</a>", "there (https://x.org/?a=1&b)\n");
        check("<a href='#top'>up</a>", "up\n");
        check("x<script>if (a < b) { '</scrip>' }</script>y<style>p{}</style>", "xy\n");
        check("<head><title>t</title></head>body", "body\n");
        check("a<!-- <p>hidden --> b", "a b\n");
        check("1 < 2 &amp;&amp; 3 &gt; 2 &#228;&#xe4; &unknown; &", "1 < 2 && 3 > 2 ää &unknown; &\n");
        check("<pre>a\n  b</pre>c", "a\n  b\n\nc\n");
        check("<img alt='a cat' src=x>", "[image: a cat]\n");
        check("<tr><td>a</td><td>b</td></tr><tr><td>c</td></tr>", "a | b |\nc |\n");
        check("<p title='a > b'>x</p>", "x\n");
        check("<p title=\"never closed>x</p>", "x\n");
        check("", "");
        check("<", "<\n");
        check("<script>", "");
    }

    #[test]
    fn run_time_is_linear_for_repeated_tags() {
        for html in ["<div><b>", "<", "<script>", "&", "<a href=\"", "<!--", "</"] {
            assert!(text_from_html(&html.repeat(200_000)).len() <= html.len() * 200_000 + 1);
        }
    }
}
