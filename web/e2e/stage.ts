import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launch, open, type Watched } from "./browser";
import { type Service, startService } from "./service";

/** What the tests of a file have in common: a browser and a service. */
export interface Stage {
  readonly service: Service;
  /** Opens the page in a browser that has never been there. It is closed after the test. */
  open(path: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Watched>;
}

/** Sets up what the tests of a file need. */
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

/** The conversation. */
export const log = (page: Page): Locator => page.getByRole("log");

/** Waits until the page has seen all that there is. */
export const live = (page: Page): Promise<void> => page.getByText("Live", { exact: true }).waitFor();

/** What the conversation looks like but for what is another time, or another name, when all is said again. */
export const timeless = (page: Page): Promise<string> =>
  log(page).evaluate((box) => {
    const copy = box.cloneNode(true) as HTMLElement;
    for (const element of copy.querySelectorAll("time")) element.remove();
    for (const element of copy.querySelectorAll("*")) {
      for (const name of ["id", "data-id", "aria-labelledby"]) element.removeAttribute(name);
    }
    return copy.innerHTML;
  });

/** What the conversation looks like, to the last element. */
export const shown = (page: Page): Promise<string> => log(page).innerHTML();
