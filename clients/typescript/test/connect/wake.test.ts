/** Computers after sleep, and networks after an outage. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { keepConnected } from "../../src/connect/keep.js";
import { connect } from "../../src/index.js";
import { BadNetwork } from "../support/network.js";
import { Service } from "../support/service.js";
import { until } from "../support/until.js";

/** The source of the events that a browser sends to a page. */
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
/** Delays that are longer than a test, so that only events cause a retry. */
const PATIENT = { minDelay: 500_000, maxDelay: 500_000, silence: 500_000 };

test.each(transports)("reconnects as soon as the network is back (%s)", async (transport) => {
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

test.each(transports)("a lost network is reported immediately (%s)", async (transport) => {
  const network = await BadNetwork.before(() => service.port);
  const session = connect({ url: network.url, transport, ...PATIENT }, "chat");
  await until(session, ({ state }) => state === "live");
  // The connection is silent, without any error.
  network.stall();
  page.dispatchEvent(new Event("offline"));
  await until(session, ({ state }) => state === "offline");
  session.close();
  network.close();
});

test("reconnects soon after the network is back, after any number of failures", async () => {
  vi.useFakeTimers();
  let attempts = 0;
  const isOver = (signal: AbortSignal) => new Promise((end) => signal.addEventListener("abort", end));
  const stop = keepConnected(
    { minDelay: 1_000, maxDelay: 1e9, silence: 40_000 },
    async (signal) => {
      // The eleventh attempt is not refused, but gets no response.
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

test.each(transports)("a connection from before a long sleep is replaced (%s)", async (transport) => {
  const network = await BadNetwork.before(() => service.port);
  const session = connect({ url: network.url, transport, ...PATIENT, minDelay: 5, maxDelay: 50 }, "chat");
  await until(session, ({ state }) => state === "live");

  // A connection with recent data is kept.
  const { made } = network;
  page.dispatchEvent(new Event("visibilitychange"));
  expect(session.getSnapshot().state).toBe("live");
  expect(network.made).toBe(made);

  // Hours have passed on the clock, and the connection is silent.
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
