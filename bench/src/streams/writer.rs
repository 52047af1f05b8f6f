//! Writes events in the JSON of AgentScope for Python 2.0.10, with deterministic ids and times.

use std::fmt;

use super::Stream;

/// A tool call in the stream.
pub(super) struct Call {
    pub(super) input: String,
    id: String,
    name: &'static str,
}

/// Writes consecutive events, each with an id and a time.
pub(super) struct Writer {
    pub(super) events: usize,
    pub(super) random: Random,
    text: String,
    session: String,
    reply: String,
}

impl Writer {
    pub(super) fn new() -> Self {
        let mut random = Random(0x5eed);
        let session = random.id();
        Self { text: String::new(), events: 0, random, session, reply: String::new() }
    }

    pub(super) fn into_stream(self, name: &str) -> Stream {
        Stream { name: name.to_owned(), text: self.text, events: self.events }
    }

    fn event(&mut self, kind: &str, fields: fmt::Arguments<'_>) {
        let (id, time) = (self.random.id(), self.time());
        self.text.push_str(&format!(
            "{{\"id\":\"{id}\",\"created_at\":\"{time}\",\"metadata\":{{}},\"type\":\"{kind}\",{fields}}}\n"
        ));
        self.events += 1;
    }

    /// Returns the local time without a zone and with microseconds, as Python's `datetime.now().isoformat()` writes it.
    fn time(&self) -> String {
        let microseconds = self.events as u64 * 7_919 + 123_457;
        let seconds = microseconds / 1_000_000;
        let (day, hour, minute) = (1 + seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        format!("2026-03-{day:02}T{hour:02}:{minute:02}:{:02}.{:06}", seconds % 60, microseconds % 1_000_000)
    }

    /// Writes a reply with one model call.
    pub(super) fn reply(&mut self, content: impl FnOnce(&mut Self)) {
        self.start_reply();
        self.start_model_call();
        content(self);
        self.end_model_call();
        self.end_reply();
    }

    pub(super) fn start_reply(&mut self) {
        self.reply = self.random.id();
        let (session, reply) = (self.session.clone(), self.reply.clone());
        self.event(
            "REPLY_START",
            format_args!(
                "\"session_id\":\"{session}\",\"reply_id\":\"{reply}\",\"name\":\"Friday\",\"role\":\"assistant\""
            ),
        );
    }

    pub(super) fn end_reply(&mut self) {
        let (session, reply) = (self.session.clone(), self.reply.clone());
        self.event(
            "REPLY_END",
            format_args!(
                "\"session_id\":\"{session}\",\"reply_id\":\"{reply}\",\"finished_reason\":\"completed\",\"error\":null"
            ),
        );
    }

    /// Writes an event whose first field is the reply's id.
    fn reply_event(&mut self, kind: &str, fields: fmt::Arguments<'_>) {
        let reply = self.reply.clone();
        self.event(kind, format_args!("\"reply_id\":\"{reply}\",{fields}"));
    }

    pub(super) fn start_model_call(&mut self) {
        self.reply_event("MODEL_CALL_START", format_args!("\"model_name\":\"qwen3-max\""));
    }

    pub(super) fn end_model_call(&mut self) {
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

    pub(super) fn start_text(&mut self) -> String {
        let block = self.random.id();
        self.block_event("TEXT_BLOCK_START", &block, format_args!(""));
        block
    }

    pub(super) fn text_delta(&mut self, block: &str, delta: &str) {
        self.block_event("TEXT_BLOCK_DELTA", block, format_args!(",\"delta\":{}", json_string(delta)));
    }

    pub(super) fn end_text(&mut self, block: &str) {
        self.block_event("TEXT_BLOCK_END", block, format_args!(",\"text\":null"));
    }

    pub(super) fn start_thinking(&mut self) -> String {
        let block = self.random.id();
        self.block_event("THINKING_BLOCK_START", &block, format_args!(""));
        block
    }

    pub(super) fn thinking_delta(&mut self, block: &str, delta: &str) {
        self.block_event("THINKING_BLOCK_DELTA", block, format_args!(",\"delta\":{}", json_string(delta)));
    }

    pub(super) fn end_thinking(&mut self, block: &str) {
        self.block_event("THINKING_BLOCK_END", block, format_args!(""));
    }

    pub(super) fn start_data(&mut self) -> String {
        let block = self.random.id();
        self.block_event("DATA_BLOCK_START", &block, format_args!(",\"media_type\":\"image/png\",\"name\":null"));
        block
    }

    pub(super) fn data_delta(&mut self, block: &str, base64: &str) {
        self.block_event(
            "DATA_BLOCK_DELTA",
            block,
            format_args!(",\"media_type\":\"image/png\",\"data\":\"{base64}\",\"url\":null"),
        );
    }

    pub(super) fn end_data(&mut self, block: &str) {
        self.block_event("DATA_BLOCK_END", block, format_args!(""));
    }

    pub(super) fn hint(&mut self, hint: &str) {
        let block = self.random.id();
        self.block_event("HINT_BLOCK", &block, format_args!(",\"source\":\"alice\",\"hint\":{}", json_string(hint)));
    }

    fn call_event(&mut self, kind: &str, call: &str, fields: fmt::Arguments<'_>) {
        self.reply_event(kind, format_args!("\"tool_call_id\":\"{call}\"{fields}"));
    }

    pub(super) fn start_call(&mut self, name: &'static str) -> Call {
        let id = format!("call_{}", self.random.id());
        self.call_event("TOOL_CALL_START", &id, format_args!(",\"tool_call_name\":\"{name}\""));
        Call { id, name, input: String::new() }
    }

    pub(super) fn call_delta(&mut self, call: &Call, delta: &str) {
        self.call_event("TOOL_CALL_DELTA", &call.id, format_args!(",\"delta\":{}", json_string(delta)));
    }

    pub(super) fn end_call(&mut self, call: &Call) {
        self.call_event("TOOL_CALL_END", &call.id, format_args!(""));
    }

    pub(super) fn start_result(&mut self, call: &Call) {
        self.call_event("TOOL_RESULT_START", &call.id, format_args!(",\"tool_call_name\":\"{}\"", call.name));
    }

    pub(super) fn result_text(&mut self, call: &Call, delta: &str) {
        self.call_event("TOOL_RESULT_TEXT_DELTA", &call.id, format_args!(",\"delta\":{}", json_string(delta)));
    }

    pub(super) fn result_data(&mut self, call: &Call, base64: &str) {
        let block = self.random.id();
        self.call_event(
            "TOOL_RESULT_DATA_DELTA",
            &call.id,
            format_args!(",\"block_id\":\"{block}\",\"media_type\":\"image/png\",\"data\":\"{base64}\",\"url\":null"),
        );
    }

    pub(super) fn end_result(&mut self, call: &Call, state: &str) {
        self.call_event("TOOL_RESULT_END", &call.id, format_args!(",\"state\":\"{state}\""));
    }

    /// Writes a confirmation request and its result.
    pub(super) fn confirm(&mut self, calls: &[Call], confirmed: bool) {
        let asked: Vec<String> = calls.iter().map(|call| self.call_block(call, "asking")).collect();
        self.reply_event("REQUIRE_USER_CONFIRM", format_args!("\"tool_calls\":[{}]", asked.join(",")));
        let answers: Vec<String> = asked
            .iter()
            .map(|call| format!("{{\"confirmed\":{confirmed},\"tool_call\":{call},\"rules\":null}}"))
            .collect();
        self.reply_event("USER_CONFIRM_RESULT", format_args!("\"confirm_results\":[{}]", answers.join(",")));
    }

    /// Writes calls of external tools and their complete results.
    pub(super) fn run_elsewhere(&mut self, calls: &[Call], output: &str) {
        let handed_out: Vec<String> = calls.iter().map(|call| self.call_block(call, "submitted")).collect();
        self.reply_event("REQUIRE_EXTERNAL_EXECUTION", format_args!("\"tool_calls\":[{}]", handed_out.join(",")));
        let results: Vec<String> = calls
            .iter()
            .map(|Call { id, name, .. }| {
                let (time, output) = (self.time(), json_string(output));
                format!(
                    "{{\"type\":\"tool_result\",\"id\":\"{id}\",\"name\":\"{name}\",\"output\":{output},\
                     \"state\":\"success\",\"metadata\":{{}},\"created_at\":\"{time}\",\"finished_at\":\"{time}\"}}"
                )
            })
            .collect();
        self.reply_event("EXTERNAL_EXECUTION_RESULT", format_args!("\"execution_results\":[{}]", results.join(",")));
    }

    fn call_block(&self, Call { id, name, input }: &Call, state: &str) -> String {
        let (time, input) = (self.time(), json_string(input));
        format!(
            "{{\"type\":\"tool_call\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input},\"state\":\"{state}\",\
             \"suggested_rules\":[{{\"tool_name\":\"{name}\",\"rule_content\":\"reports/*\",\"behavior\":\"allow\",\
             \"source\":\"suggested\"}}],\"created_at\":\"{time}\",\"finished_at\":\"{time}\"}}"
        )
    }
}

/// Returns a text as a JSON string.
fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The random number generator SplitMix64, which is deterministic.
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns 32 hexadecimal digits.
    pub(super) fn id(&mut self) -> String {
        format!("{:016x}{:016x}", self.next(), self.next())
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    pub(super) fn one_in(&mut self, number: u64) -> bool {
        self.next().is_multiple_of(number)
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.between(0, last));
        }
    }

    /// Returns the padded base64 of random bytes.
    pub(super) fn base64(&mut self, bytes: usize) -> String {
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
