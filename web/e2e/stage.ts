import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launch, open, type Watched } from "./browser";
import { type Service, startService } from "./service";

/** The browser and the service that the tests of a file share. */
export interface Stage {
  readonly service: Service;
  /** Opens the page in a new browser context. It is closed after the test. */
  open(path: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Watched>;
}

/** Sets up the browser and the service for a file. */
export function stage(options?: Parameters<typeof startService>[0]): Stage {
  let browser: Browser;
  let service: Service;
  let opened: Watched[] = [];
  beforeAll(async () => {
    [browser, service] = await Promise.all([launch(), startService(options)]);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });
  beforeEach(() => service.line.mend());
  afterEach(async () => {
    for (const { context } of opened) await context.close();
    opened = [];
  });
  return {
    get service() {
      return service;
    },
    async open(path, options) {
      const watched = await open(browser, service.page + path, options);
      opened.push(watched);
      return watched;
    },
  };
}

/** Returns the list of messages. */
export const log = (page: Page): Locator => page.getByRole("log");

/** Waits until the page has caught up. */
export const live = (page: Page): Promise<void> => page.getByText("Live", { exact: true }).waitFor();

/** Returns the HTML of the conversation without times and names that differ between runs. */
export const timeless = (page: Page): Promise<string> =>
  log(page).evaluate((box) => {
    const copy = box.cloneNode(true) as HTMLElement;
    for (const element of copy.querySelectorAll("time")) element.remove();
    for (const element of copy.querySelectorAll("*")) {
      for (const name of ["id", "data-id", "aria-labelledby"]) element.removeAttribute(name);
    }
    return copy.innerHTML;
  });

/** Returns the HTML of the conversation. */
export const shown = (page: Page): Promise<string> => log(page).innerHTML();
