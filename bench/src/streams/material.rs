//! The content of texts, arguments and results.

/// An endless text, taken in pieces.
pub(super) struct Source {
    characters: std::iter::Cycle<std::str::Chars<'static>>,
}

impl Source {
    pub(super) fn new(text: &'static str) -> Self {
        Self { characters: text.chars().cycle() }
    }

    pub(super) fn take(&mut self, length: usize) -> String {
        self.characters.by_ref().take(length).collect()
    }
}

/// A reply in Markdown, with a line break about every hundred characters.
pub(super) const PROSE: &str = "\
The report has three parts. First the figures of the last quarter, then what has changed since, and last
what to do about it. Sales in the north grew by 4.2 %, which is more than \"the best case\" of the plan.

- **North**: two new customers, one of them with an order for the whole year.
- **South**: no change; the old contract runs until June and will then be negotiated anew.
- **West**: lower than expected, because the delivery of 12 March came a week late.

To see the details, open `reports/quarter.csv` and filter by region. The column `delta` is the difference
to the plan, in percent. It would be worth looking at the west again once the next delivery is there.

";

/// A reply in languages with non-ASCII characters.
pub(super) const FOREIGN: &str = "\
Der Bericht hat drei Teile: die Zahlen des letzten Quartals, was sich seither geändert hat, und was zu tun wäre.
报告分为三部分：上一季度的数据、此后的变化，以及建议的措施。北区增长了百分之四点二。
Отчёт состоит из трёх частей: показатели за квартал, изменения и предложения. 🌍
";

/// Arguments of a tool call: JSON with the content of a file.
pub(super) const ARGUMENTS: &str = "\
{\"path\": \"reports/quarter.csv\", \"content\": \"region,plan,actual,delta\\nnorth,120000,125040,4.2\\n\
south,98000,98000,0.0\\nwest,76000,71440,-6.0\\n\", \"mode\": \"overwrite\", \"encoding\": \"utf-8\"}";

/// The output of a tool.
pub(super) const OUTPUT: &str = "\
-rw-r--r-- 1 friday staff   4096 Mar 12 09:26 reports/quarter.csv\n\
-rw-r--r-- 1 friday staff  18211 Mar 12 09:31 reports/quarter.md\n\
\tmodified: src/main.rs | 12 ++++++------\n\
2 files changed, 6 insertions(+), 6 deletions(-)\n";
