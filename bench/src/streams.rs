//! Streams of events, the same ones in every run, line by line as AgentScope Python 2.0.10 writes them.

use std::fmt;

/// A stream of events as JSON lines.
#[derive(Debug, Clone)]
pub struct Stream {
    /// What the stream is called in the table.
    pub name: String,
    /// The lines, each with a line break.
    pub text: String,
    /// How many events there are.
    pub events: usize,
}

impl Stream {
    /// The lines without their line breaks.
    pub fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }

    /// The same lines as bytes, as they come from a socket or a file.
    pub fn byte_lines(&self) -> Vec<&[u8]> {
        self.text.lines().map(str::as_bytes).collect()
    }
}

/// One text block that grows by twelve characters at a time.
pub fn text(deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    writer.reply(|writer| {
        let block = writer.start_text();
        for _ in 0..deltas {
            writer.text_delta(&block, &prose.take(12));
        }
        writer.end_text(&block);
    });
    writer.into_stream("text")
}

/// How many blocks the messages have in which growth is measured.
pub const BLOCKS: [usize; 4] = [10, 100, 1_000, 5_000];

/// How many data deltas the messages have in which growth is measured.
pub const DATA_DELTAS: [usize; 3] = [100, 1_000, 4_000];

/// 5,000 text blocks with ten deltas each, in messages of so many blocks.
pub fn blocks_of_size(size: usize) -> Stream {
    blocks_of_messages(5_000 / size, size, 10)
}

/// The same with all blocks of a message open at once.
pub fn open_blocks_of_size(size: usize) -> Stream {
    open_blocks_of_messages(5_000 / size, size, 10)
}

/// 4,000 data deltas of 4,800 bytes each, in messages of so many deltas.
pub fn data_of_size(size: usize) -> Stream {
    data_of_messages(4_000 / size, size, 4_800)
}

/// Many text blocks of one message, one after the other.
pub fn blocks(blocks: usize, deltas: usize) -> Stream {
    blocks_of_messages(1, blocks, deltas)
}

/// The same in several messages.
pub fn blocks_of_messages(messages: usize, blocks: usize, deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    for _ in 0..messages {
        writer.reply(|writer| {
            for _ in 0..blocks {
                let block = writer.start_text();
                for _ in 0..deltas {
                    writer.text_delta(&block, &prose.take(12));
                }
                writer.end_text(&block);
            }
        });
    }
    writer.into_stream("blocks")
}

/// Messages whose text blocks are all open at once. Every delta is for another block than the one before it.
pub fn open_blocks_of_messages(messages: usize, blocks: usize, deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    for _ in 0..messages {
        writer.reply(|writer| {
            let mut open: Vec<String> = (0..blocks).map(|_| writer.start_text()).collect();
            for _ in 0..deltas {
                writer.random.shuffle(&mut open);
                for block in &open {
                    writer.text_delta(block, &prose.take(12));
                }
            }
            for block in &open {
                writer.end_text(block);
            }
        });
    }
    writer.into_stream("open blocks")
}

/// One tool call whose arguments come in many pieces.
pub fn arguments(deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut json = Source::new(ARGUMENTS);
    writer.reply(|writer| {
        let call = writer.start_call("write_file");
        for _ in 0..deltas {
            writer.call_delta(&call, &json.take(12));
        }
        writer.end_call(&call);
    });
    writer.into_stream("arguments")
}

/// An image of so many bytes, in so many pieces of base64.
pub fn data(bytes: usize, deltas: usize) -> Stream {
    data_of_messages(1, deltas, bytes / deltas.max(1))
}

/// Messages with an image each, in pieces of so many bytes.
pub fn data_of_messages(messages: usize, deltas: usize, piece: usize) -> Stream {
    let mut writer = Writer::new();
    for _ in 0..messages {
        writer.reply(|writer| {
            let block = writer.start_data();
            for _ in 0..deltas {
                let base64 = writer.random.base64(piece);
                writer.data_delta(&block, &base64);
            }
            writer.end_data(&block);
        });
    }
    writer.into_stream("data")
}

/// A session as it happens: replies with thinking, text, parallel tool calls, their results, confirmations, tools that
/// run elsewhere, hints, images and usage. It ends with the first reply after so many events.
pub fn mixed(events: usize) -> Stream {
    let mut writer = Writer::new();
    let mut session = Session {
        prose: Source::new(PROSE),
        foreign: Source::new(FOREIGN),
        json: Source::new(ARGUMENTS),
        output: Source::new(OUTPUT),
    };
    while writer.events < events {
        session.reply(&mut writer);
    }
    writer.into_stream("mixed")
}

/// What the parts of a session are made of.
struct Session {
    prose: Source,
    foreign: Source,
    json: Source,
    output: Source,
}

impl Session {
    fn reply(&mut self, writer: &mut Writer) {
        writer.start_reply();
        if writer.random.one_in(4) {
            let hint = self.prose.take(160);
            writer.hint(&hint);
        }
        for _ in 0..writer.random.between(0, 4) {
            self.round(writer);
        }
        writer.start_model_call();
        self.thinking(writer);
        self.answer(writer);
        writer.end_model_call();
        writer.end_reply();
    }

    /// A call of the model that asks for tools, and the tools.
    fn round(&mut self, writer: &mut Writer) {
        writer.start_model_call();
        self.thinking(writer);
        if writer.random.one_in(2) {
            self.answer(writer);
        }
        let calls: Vec<Call> = (0..writer.random.between(1, 3)).map(|_| self.call(writer)).collect();
        writer.end_model_call();
        if writer.random.one_in(8) {
            let output = self.output.take(400);
            writer.run_elsewhere(&calls, &output);
            return;
        }
        let confirmed = !writer.random.one_in(3) || {
            let confirmed = !writer.random.one_in(5);
            writer.confirm(&calls, confirmed);
            confirmed
        };
        self.results(writer, &calls, confirmed);
    }

    fn thinking(&mut self, writer: &mut Writer) {
        let block = writer.start_thinking();
        for _ in 0..writer.random.between(10, 60) {
            let length = writer.random.between(3, 20);
            writer.thinking_delta(&block, &self.prose.take(length));
        }
        writer.end_thinking(&block);
    }

    fn answer(&mut self, writer: &mut Writer) {
        let source = if writer.random.one_in(5) { &mut self.foreign } else { &mut self.prose };
        let block = writer.start_text();
        for _ in 0..writer.random.between(5, 80) {
            let length = writer.random.between(3, 20);
            writer.text_delta(&block, &source.take(length));
        }
        writer.end_text(&block);
    }

    fn call(&mut self, writer: &mut Writer) -> Call {
        let mut call = writer.start_call("write_file");
        for _ in 0..writer.random.between(3, 20) {
            let length = writer.random.between(3, 20);
            let piece = self.json.take(length);
            writer.call_delta(&call, &piece);
            call.input.push_str(&piece);
        }
        writer.end_call(&call);
        call
    }

    /// The tools answer side by side.
    fn results(&mut self, writer: &mut Writer, calls: &[Call], confirmed: bool) {
        for call in calls {
            writer.start_result(call);
        }
        for _ in 0..writer.random.between(1, 12) {
            for call in calls {
                let length = writer.random.between(20, 200);
                writer.result_text(call, &self.output.take(length));
            }
        }
        for call in calls {
            if writer.random.one_in(10) {
                let image = writer.random.base64(3_000);
                writer.result_data(call, &image);
            }
            writer.end_result(call, if confirmed { "success" } else { "denied" });
        }
    }
}

/// A tool call that has been written.
struct Call {
    id: String,
    name: &'static str,
    input: String,
}

/// Writes events one after the other, each with an id and a time of its own.
struct Writer {
    text: String,
    events: usize,
    random: Random,
    session: String,
    reply: String,
}

impl Writer {
    fn new() -> Self {
        let mut random = Random(0x5eed);
        let session = random.id();
        Self { text: String::new(), events: 0, random, session, reply: String::new() }
    }

    fn into_stream(self, name: &str) -> Stream {
        Stream { name: name.to_owned(), text: self.text, events: self.events }
    }

    fn event(&mut self, kind: &str, fields: fmt::Arguments<'_>) {
        let (id, time) = (self.random.id(), self.time());
        self.text.push_str(&format!(
            "{{\"id\":\"{id}\",\"created_at\":\"{time}\",\"metadata\":{{}},\"type\":\"{kind}\",{fields}}}\n"
        ));
        self.events += 1;
    }

    /// Local time without a zone and with microseconds, as Python's `datetime.now().isoformat()` writes it.
    fn time(&self) -> String {
        let microseconds = self.events as u64 * 7_919 + 123_457;
        let seconds = microseconds / 1_000_000;
        let (day, hour, minute) = (1 + seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        format!("2026-03-{day:02}T{hour:02}:{minute:02}:{:02}.{:06}", seconds % 60, microseconds % 1_000_000)
    }

    /// A whole reply with one call of the model.
    fn reply(&mut self, content: impl FnOnce(&mut Self)) {
        self.start_reply();
        self.start_model_call();
        content(self);
        self.end_model_call();
        self.end_reply();
    }

    fn start_reply(&mut self) {
        self.reply = self.random.id();
        let (session, reply) = (self.session.clone(), self.reply.clone());
        self.event(
            "REPLY_START",
            format_args!(
                "\"session_id\":\"{session}\",\"reply_id\":\"{reply}\",\"name\":\"Friday\",\"role\":\"assistant\""
            ),
        );
    }

    fn end_reply(&mut self) {
        let (session, reply) = (self.session.clone(), self.reply.clone());
        self.event(
            "REPLY_END",
            format_args!(
                "\"session_id\":\"{session}\",\"reply_id\":\"{reply}\",\"finished_reason\":\"completed\",\"error\":null"
            ),
        );
    }

    /// An event whose first field is the reply's id.
    fn reply_event(&mut self, kind: &str, fields: fmt::Arguments<'_>) {
        let reply = self.reply.clone();
        self.event(kind, format_args!("\"reply_id\":\"{reply}\",{fields}"));
    }

    fn start_model_call(&mut self) {
        self.reply_event("MODEL_CALL_START", format_args!("\"model_name\":\"qwen3-max\""));
    }

    fn end_model_call(&mut self) {
        let (input, output) = (self.random.between(500, 20_000), self.random.between(20, 2_000));
        self.reply_event(
            "MODEL_CALL_END",
            format_args!(
                "\"input_tokens\":{input},\"output_tokens\":{output},\"cache_input_tokens\":{},\
                 \"cache_creation_input_tokens\":0,\"finished_reason\":\"completed\"",
                input / 2
            ),
        );
    }

    fn block_event(&mut self, kind: &str, block: &str, fields: fmt::Arguments<'_>) {
        self.reply_event(kind, format_args!("\"block_id\":\"{block}\"{fields}"));
    }

    fn start_text(&mut self) -> String {
        let block = self.random.id();
        self.block_event("TEXT_BLOCK_START", &block, format_args!(""));
        block
    }

    fn text_delta(&mut self, block: &str, delta: &str) {
        self.block_event("TEXT_BLOCK_DELTA", block, format_args!(",\"delta\":{}", quoted(delta)));
    }

    fn end_text(&mut self, block: &str) {
        self.block_event("TEXT_BLOCK_END", block, format_args!(",\"text\":null"));
    }

    fn start_thinking(&mut self) -> String {
        let block = self.random.id();
        self.block_event("THINKING_BLOCK_START", &block, format_args!(""));
        block
    }

    fn thinking_delta(&mut self, block: &str, delta: &str) {
        self.block_event("THINKING_BLOCK_DELTA", block, format_args!(",\"delta\":{}", quoted(delta)));
    }

    fn end_thinking(&mut self, block: &str) {
        self.block_event("THINKING_BLOCK_END", block, format_args!(""));
    }

    fn start_data(&mut self) -> String {
        let block = self.random.id();
        self.block_event("DATA_BLOCK_START", &block, format_args!(",\"media_type\":\"image/png\",\"name\":null"));
        block
    }

    fn data_delta(&mut self, block: &str, base64: &str) {
        self.block_event(
            "DATA_BLOCK_DELTA",
            block,
            format_args!(",\"media_type\":\"image/png\",\"data\":\"{base64}\",\"url\":null"),
        );
    }

    fn end_data(&mut self, block: &str) {
        self.block_event("DATA_BLOCK_END", block, format_args!(""));
    }

    fn hint(&mut self, hint: &str) {
        let block = self.random.id();
        self.block_event("HINT_BLOCK", &block, format_args!(",\"source\":\"alice\",\"hint\":{}", quoted(hint)));
    }

    fn call_event(&mut self, kind: &str, call: &str, fields: fmt::Arguments<'_>) {
        self.reply_event(kind, format_args!("\"tool_call_id\":\"{call}\"{fields}"));
    }

    fn start_call(&mut self, name: &'static str) -> Call {
        let id = format!("call_{}", self.random.id());
        self.call_event("TOOL_CALL_START", &id, format_args!(",\"tool_call_name\":\"{name}\""));
        Call { id, name, input: String::new() }
    }

    fn call_delta(&mut self, call: &Call, delta: &str) {
        self.call_event("TOOL_CALL_DELTA", &call.id, format_args!(",\"delta\":{}", quoted(delta)));
    }

    fn end_call(&mut self, call: &Call) {
        self.call_event("TOOL_CALL_END", &call.id, format_args!(""));
    }

    fn start_result(&mut self, call: &Call) {
        self.call_event("TOOL_RESULT_START", &call.id, format_args!(",\"tool_call_name\":\"{}\"", call.name));
    }

    fn result_text(&mut self, call: &Call, delta: &str) {
        self.call_event("TOOL_RESULT_TEXT_DELTA", &call.id, format_args!(",\"delta\":{}", quoted(delta)));
    }

    fn result_data(&mut self, call: &Call, base64: &str) {
        let block = self.random.id();
        self.call_event(
            "TOOL_RESULT_DATA_DELTA",
            &call.id,
            format_args!(",\"block_id\":\"{block}\",\"media_type\":\"image/png\",\"data\":\"{base64}\",\"url\":null"),
        );
    }

    fn end_result(&mut self, call: &Call, state: &str) {
        self.call_event("TOOL_RESULT_END", &call.id, format_args!(",\"state\":\"{state}\""));
    }

    /// The agent asks for permission, and the user gives or refuses it.
    fn confirm(&mut self, calls: &[Call], confirmed: bool) {
        let asked: Vec<String> = calls.iter().map(|call| self.call_block(call, "asking")).collect();
        self.reply_event("REQUIRE_USER_CONFIRM", format_args!("\"tool_calls\":[{}]", asked.join(",")));
        let answers: Vec<String> = asked
            .iter()
            .map(|call| format!("{{\"confirmed\":{confirmed},\"tool_call\":{call},\"rules\":null}}"))
            .collect();
        self.reply_event("USER_CONFIRM_RESULT", format_args!("\"confirm_results\":[{}]", answers.join(",")));
    }

    /// The calls are handed out, and their results come back whole.
    fn run_elsewhere(&mut self, calls: &[Call], output: &str) {
        let handed_out: Vec<String> = calls.iter().map(|call| self.call_block(call, "submitted")).collect();
        self.reply_event("REQUIRE_EXTERNAL_EXECUTION", format_args!("\"tool_calls\":[{}]", handed_out.join(",")));
        let results: Vec<String> = calls
            .iter()
            .map(|Call { id, name, .. }| {
                let (time, output) = (self.time(), quoted(output));
                format!(
                    "{{\"type\":\"tool_result\",\"id\":\"{id}\",\"name\":\"{name}\",\"output\":{output},\
                     \"state\":\"success\",\"metadata\":{{}},\"created_at\":\"{time}\",\"finished_at\":\"{time}\"}}"
                )
            })
            .collect();
        self.reply_event("EXTERNAL_EXECUTION_RESULT", format_args!("\"execution_results\":[{}]", results.join(",")));
    }

    fn call_block(&self, Call { id, name, input }: &Call, state: &str) -> String {
        let (time, input) = (self.time(), quoted(input));
        format!(
            "{{\"type\":\"tool_call\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input},\"state\":\"{state}\",\
             \"suggested_rules\":[{{\"tool_name\":\"{name}\",\"rule_content\":\"reports/*\",\"behavior\":\"allow\",\
             \"source\":\"suggested\"}}],\"created_at\":\"{time}\",\"finished_at\":\"{time}\"}}"
        )
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text without end, taken piece by piece.
struct Source {
    characters: std::iter::Cycle<std::str::Chars<'static>>,
}

impl Source {
    fn new(text: &'static str) -> Self {
        Self { characters: text.chars().cycle() }
    }

    fn take(&mut self, length: usize) -> String {
        self.characters.by_ref().take(length).collect()
    }
}

/// The generator SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 32 hexadecimal digits.
    fn id(&mut self) -> String {
        format!("{:016x}{:016x}", self.next(), self.next())
    }

    /// A number from `low` to `high`, both included.
    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.next().is_multiple_of(number)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.between(0, last));
        }
    }

    /// The base64 of so many random bytes, padded as the end of a text is.
    fn base64(&mut self, bytes: usize) -> String {
        const DIGITS: [char; 64] = digits();
        let mut digit = |group_bits: u32| DIGITS[(self.next() % 64) as usize & !((1 << group_bits) - 1)];
        let mut text: String = (0..bytes / 3 * 4).map(|_| digit(0)).collect();
        match bytes % 3 {
            1 => text.extend([digit(0), digit(4), '=', '=']),
            2 => text.extend([digit(0), digit(0), digit(2), '=']),
            _ => {}
        }
        text
    }
}

const fn digits() -> [char; 64] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digits = ['A'; 64];
    let mut index = 0;
    while index < 64 {
        digits[index] = alphabet[index] as char;
        index += 1;
    }
    digits
}

/// An answer in Markdown, with a line break every hundred characters or so.
const PROSE: &str = "\
The report has three parts. First the figures of the last quarter, then what has changed since, and last
what to do about it. Sales in the north grew by 4.2 %, which is more than \"the best case\" of the plan.

- **North**: two new customers, one of them with an order for the whole year.
- **South**: no change; the old contract runs until June and will then be negotiated anew.
- **West**: lower than expected, because the delivery of 12 March came a week late.

To see the details, open `reports/quarter.csv` and filter by region. The column `delta` is the difference
to the plan, in percent. It would be worth looking at the west again once the next delivery is there.

";

/// The same in languages that do not fit into ASCII.
const FOREIGN: &str = "\
Der Bericht hat drei Teile: die Zahlen des letzten Quartals, was sich seither geändert hat, und was zu tun wäre.
报告分为三部分：上一季度的数据、此后的变化，以及建议的措施。北区增长了百分之四点二。
Отчёт состоит из трёх частей: показатели за квартал, изменения и предложения. 🌍
";

/// What a model writes when it calls a tool: JSON that holds a file.
const ARGUMENTS: &str = "\
{\"path\": \"reports/quarter.csv\", \"content\": \"region,plan,actual,delta\\nnorth,120000,125040,4.2\\n\
south,98000,98000,0.0\\nwest,76000,71440,-6.0\\n\", \"mode\": \"overwrite\", \"encoding\": \"utf-8\"}";

/// What a tool prints.
const OUTPUT: &str = "\
-rw-r--r-- 1 friday staff   4096 Mar 12 09:26 reports/quarter.csv\n\
-rw-r--r-- 1 friday staff  18211 Mar 12 09:31 reports/quarter.md\n\
\tmodified: src/main.rs | 12 ++++++------\n\
2 files changed, 6 insertions(+), 6 deletions(-)\n";

#[cfg(test)]
mod tests {
    use recount_message::{DecodeError, Event, Fold, Msg, Outcome};

    use super::*;
    use crate::steps;

    #[track_caller]
    fn check(stream: &Stream, events: usize, messages: usize) -> Result<(), DecodeError> {
        let lines = stream.lines();
        assert_eq!((lines.len(), stream.events), (events, events));
        let mut fold = Fold::new();
        for line in lines {
            let event = Event::from_json(line)?;
            assert_eq!(event.to_json(), line);
            assert_eq!(fold.apply(&event), Outcome::Applied);
        }
        assert_eq!(fold.messages().count(), messages);
        assert_eq!(fold.open_replies().count(), 0);
        Ok(())
    }

    #[test]
    fn every_event_is_canonical_and_applies() -> Result<(), DecodeError> {
        check(&text(100), 106, 1)?;
        check(&blocks(5, 10), 64, 1)?;
        check(&blocks_of_messages(3, 5, 10), 192, 3)?;
        check(&open_blocks_of_messages(2, 5, 10), 128, 2)?;
        check(&arguments(100), 106, 1)?;
        check(&data(10_000, 10), 16, 1)?;
        check(&data_of_messages(2, 10, 3_600), 32, 2)?;
        let session = mixed(2_000);
        check(&session, session.events, session.text.matches("REPLY_START").count())
    }

    #[test]
    fn data_that_is_padded_in_every_piece_is_joined_as_bytes() -> Result<(), DecodeError> {
        let stream = data(1_000, 10);
        let fold = steps::bytes_to_message(&stream.byte_lines())?;
        let message: String = fold.messages().map(Msg::to_json).collect();
        assert_eq!(message.matches('=').count(), 2);
        Ok(())
    }
}
