/** Computers that sleep, and networks that come back. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { keepConnected } from "../../src/connect/keep.js";
import { connect } from "../../src/index.js";
import { BadNetwork } from "../support/network.js";
import { Service } from "../support/service.js";
import { until } from "../support/until.js";

/** What a page would be told by its browser. */
const page = new EventTarget();
vi.stubGlobal("addEventListener", page.addEventListener.bind(page));

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.session("chat");
});
afterAll(() => service.stop());
afterEach(() => vi.useRealTimers());

const transports = ["ws", "sse"] as const;
/** Nobody would come back by themselves while a test runs. */
const PATIENT = { minDelay: 500_000, maxDelay: 500_000, silence: 500_000 };

test.each(transports)("it comes back as soon as the network does (%s)", async (transport) => {
  const network = await BadNetwork.before(() => service.port);
  const session = connect({ url: network.url, transport, ...PATIENT }, "chat");
  await until(session, ({ state }) => state === "live");
  network.cut();
  await until(session, ({ state }) => state === "offline");
  page.dispatchEvent(new Event("online"));
  await until(session, ({ state }) => state === "live");
  session.close();
  network.close();
});

test.each(transports)("it tells at once that there is no network (%s)", async (transport) => {
  const network = await BadNetwork.before(() => service.port);
  const session = connect({ url: network.url, transport, ...PATIENT }, "chat");
  await until(session, ({ state }) => state === "live");
  // Nothing comes over the connection any more, and nobody else says so.
  network.stall();
  page.dispatchEvent(new Event("offline"));
  await until(session, ({ state }) => state === "offline");
  session.close();
  network.close();
});

test("it does not wait long when the network is back, however often it has tried in vain", async () => {
  vi.useFakeTimers();
  let attempts = 0;
  const isOver = (signal: AbortSignal) => new Promise((end) => signal.addEventListener("abort", end));
  const stop = keepConnected(
    { minDelay: 1_000, maxDelay: 1e9, silence: 40_000 },
    async (signal) => {
      // The eleventh is not refused: nobody answers.
      if (++attempts < 11) throw new TypeError("fetch failed");
      await isOver(signal);
    },
    () => {},
  );
  while (attempts < 11) await vi.advanceTimersToNextTimerAsync();
  page.dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(attempts).toBe(12);
  stop();
});

test.each(transports)("it does not trust a connection from before a long sleep (%s)", async (transport) => {
  const network = await BadNetwork.before(() => service.port);
  const session = connect({ url: network.url, transport, ...PATIENT, minDelay: 5, maxDelay: 50 }, "chat");
  await until(session, ({ state }) => state === "live");

  // A connection that was heard a moment ago is kept.
  const { made } = network;
  page.dispatchEvent(new Event("visibilitychange"));
  expect(session.getSnapshot().state).toBe("live");
  expect(network.made).toBe(made);

  // The clock says that hours have passed, and nothing comes over the connection any more.
  network.stall();
  network.isDown = true;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  page.dispatchEvent(new Event("visibilitychange"));
  await until(session, ({ state }) => state !== "live");
  network.isDown = false;
  network.cut();
  await until(session, ({ state }) => state === "live");
  session.close();
  network.close();
});
