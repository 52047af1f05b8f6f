import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Launches Debian's Chromium, without background requests. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** A page and the errors in it. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The errors and warnings of the page. */
  readonly complaints: string[];
}

/** Opens a page in a new browser context, and records its errors. */
export async function open(
  browser: Browser,
  address: string,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  return watch(context, address);
}

/** Opens another page in an existing context. */
export async function watch(context: BrowserContext, address: string): Promise<Watched> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address);
  return { page, context, complaints };
}
