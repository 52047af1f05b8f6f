//! A page of HTML as text that reads well.
//!
//! It goes through the page once and remembers only whether it is inside of something, so that no page, however it is nested,
//! takes longer than its length. It need not know more: a model reads over what a browser would have shown differently.

/// What is left out with everything in it.
const SILENT: [&str; 7] = ["script", "style", "noscript", "template", "svg", "head", "iframe"];

/// What begins a new line.
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

/// Named characters; all others are left as they are written.
const NAMED: [(&str, &str); 24] = [
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

/// The text of a page: headings with `#`, items with `*`, links with their addresses.
pub(super) fn text_of(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        page.say(before);
        rest = page.tag(tag);
    }
    page.say(rest);
    page.finish()
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    /// Line ends that are owed before the next word.
    lines: usize,
    /// A space is owed before the next word.
    space: bool,
    /// White space counts.
    verbatim: bool,
    /// Where the link leads that is open.
    link: Option<String>,
}

impl Page {
    /// Text between tags.
    fn say(&mut self, html: &str) {
        let text = decoded(html);
        if self.verbatim {
            self.settle();
            self.text.push_str(&text);
            return;
        }
        for (index, word) in text.split([' ', '\n', '\t', '\r']).enumerate() {
            self.space |= index > 0;
            if !word.is_empty() {
                self.settle();
                self.text.push_str(word);
            }
        }
    }

    /// Writes the white space that is owed.
    fn settle(&mut self) {
        if self.text.is_empty() {
            self.lines = 0;
        }
        if self.lines > 0 {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.extend(std::iter::repeat_n('\n', self.lines));
        } else if self.space && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
        (self.lines, self.space) = (0, false);
    }

    fn owe(&mut self, lines: usize) {
        self.lines = self.lines.max(lines);
        self.space = false;
    }

    /// A tag, after its `<`. Gives back what follows it.
    fn tag<'a>(&mut self, html: &'a str) -> &'a str {
        if let Some(comment) = html.strip_prefix("!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        if !html.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            self.say("<");
            return html;
        }
        let (inside, rest) = html.split_at(tag_end(html));
        let rest = rest.strip_prefix('>').unwrap_or(rest);
        let name =
            inside.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let closes = inside.starts_with('/');
        if SILENT.contains(&name.as_str()) && !closes && !inside.ends_with('/') {
            return after(rest, &name);
        }
        self.mark(&name, inside, closes);
        rest
    }

    fn mark(&mut self, name: &str, inside: &str, closes: bool) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.owe(2);
                if !closes {
                    self.settle();
                    let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                    self.text.extend(std::iter::repeat_n('#', level));
                    self.space = true;
                }
            }
            "p" => self.owe(2),
            "li" => {
                self.owe(1);
                if !closes {
                    self.settle();
                    self.text.push('*');
                    self.space = true;
                }
            }
            "td" | "th" if closes => {
                self.space = true;
                self.say("|");
                self.space = true;
            }
            "pre" => {
                self.owe(2);
                self.verbatim = !closes;
            }
            "a" if closes => {
                if let Some(link) = self.link.take() {
                    self.say(&format!(" ({link})"));
                }
            }
            "a" => self.link = attribute(inside, "href").filter(|link| link.starts_with("http")),
            "img" => {
                if let Some(alt) = attribute(inside, "alt").filter(|alt| !alt.is_empty()) {
                    self.say(&format!(" [image: {alt}] "));
                }
            }
            name if BLOCKS.contains(&name) => self.owe(1),
            _ => {}
        }
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
    }
}

/// Where a tag ends: at the first `>` that is not in quotes.
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
    // A quote that is never closed would swallow the rest of the page.
    html.find('>').unwrap_or(html.len())
}

/// What follows the closing tag of an element in which nothing is shown.
fn after<'a>(html: &'a str, name: &str) -> &'a str {
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

/// Characters that are written by name or number.
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
        None => return NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()),
    };
    number.and_then(char::from_u32).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn pages_become_text() {
        let check = |html: &str, expected: &str| pretty_assertions::assert_eq!(text_of(html), expected, "{html}");
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
    fn any_page_takes_time_as_its_length_only() {
        for html in ["<div><b>", "<", "<script>", "&", "<a href=\"", "<!--", "</"] {
            assert!(text_of(&html.repeat(200_000)).len() <= html.len() * 200_000 + 1);
        }
    }
}
