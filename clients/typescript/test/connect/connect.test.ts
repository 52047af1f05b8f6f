/** Follows sessions of the real service, over both transports. */

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type AgentEvent,
  connect,
  connectSessions,
  RecountError,
  request,
  type ServerOptions,
  type Session,
  type ToolCallBlock,
} from "../../src/index.js";
import { BadNetwork } from "../support/network.js";
import { Service } from "../support/service.js";
import { until } from "../support/until.js";

let service: Service;
let network: BadNetwork;
beforeAll(async () => {
  service = await Service.start();
  network = await BadNetwork.before(() => service.port);
});
afterAll(async () => {
  network.close();
  await service.stop();
});

/** Connections to close after a test. */
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  network.isDown = false;
  network.portal = undefined;
  network.release();
});

let sessions = 0;
const newSession = () => service.session(`session-${sessions++}`);

const start = (reply_id: string) => ({
  type: "REPLY_START",
  id: `${reply_id}-start`,
  session_id: "s",
  reply_id,
  name: "Friday",
});
const end = (reply_id: string) => ({ type: "REPLY_END", id: `${reply_id}-end`, session_id: "s", reply_id });
const text = (reply_id: string, ...deltas: string[]) => [
  { type: "TEXT_BLOCK_START", reply_id, block_id: "b" },
  ...deltas.map((delta) => ({ type: "TEXT_BLOCK_DELTA", reply_id, block_id: "b", delta })),
];
const userMessage = (id: string) => ({
  type: "CUSTOM",
  id,
  name: "recount.message",
  value: { id, name: "user", role: "user", content: [{ type: "text", text: id }], created_at: "2026-01-01T00:00:00" },
});

const textOf = (session: Session) => session.getSnapshot().messages.map((message) => message.getTextContent());

describe.each(["ws", "sse"] as const)("over %s", (transport) => {
  const hasty = (): ServerOptions => ({ url: network.url, transport, minDelay: 5, maxDelay: 50, silence: 30_000 });
  const follow = (name: string, options = hasty()) => {
    const session = connect(options, name);
    opened.push(session);
    return session;
  };

  test("a session is followed from its current state", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("hello"), start("r"), ...text("r", "Good ")]);
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    expect(textOf(session)).toEqual(["hello", "Good "]);

    await service.append(name, [{ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "b", delta: "day" }, end("r")]);
    const { messages } = await until(session, ({ messages }) => messages[1]?.finished_at != null);
    expect(JSON.stringify(messages)).toBe(`[${await service.folded(name)}]`);
  });

  test("unchanged messages are the same objects", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("one"), start("r"), ...text("r", "a")]);
    const session = follow(name);
    const before = await until(session, ({ state }) => state === "live");
    await service.append(name, [{ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "b", delta: "b" }]);
    const after = await until(session, ({ messages }) => messages[1]?.getTextContent() === "ab");
    expect(after.messages[0]).toBe(before.messages[0]);
    expect(before.messages[1]?.getTextContent()).toBe("a");
    expect(session.getSnapshot()).toBe(after);
  });

  test("a queued message is placed after the reply that it waits for", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("one"), start("r")]);
    await service.append(name, [
      { ...userMessage("two"), value: { ...userMessage("two").value, created_at: "2126-01-01T00:00:00" } },
    ]);
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    expect(session.getSnapshot().messages.map(({ id }) => id)).toEqual(["one", "r", "two"]);
  });

  test("events are read from the start and live", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("one"), userMessage("two")]);
    const session = follow(name);
    const seen: (string | undefined)[] = [];
    for await (const event of session.events("start")) {
      seen.push(event.id);
      if (event.id === "two") await service.append(name, [userMessage("three")]);
      if (event.id === "three") break;
    }
    expect(seen).toEqual(["one", "two", "three"]);
  });

  test("a slow reader misses no event and blocks no other reader", async () => {
    const name = await newSession();
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    const events = session[Symbol.asyncIterator]();
    const count = 4_000;
    for (let at = 0; at < count; at += 500) {
      await service.append(
        name,
        Array.from({ length: 500 }, (_, index) => userMessage(`m${at + index}`)),
      );
    }
    await until(session, ({ messages }) => messages.length === count);
    for (let at = 0; at < count; at++) expect((await events.next()).value?.id).toBe(`m${at}`);
    await service.append(name, [userMessage("last")]);
    expect((await events.next()).value?.id).toBe("last");
  });

  test("returning while waiting for an event ends the iteration", async () => {
    const session = follow(await newSession());
    await until(session, ({ state }) => state === "live");
    const events = session.events();
    const next = events.next();
    await events.return?.();
    expect((await next).done).toBe(true);
    expect((await events.next()).done).toBe(true);
  });

  test("reconnects after a cut and resumes at its cursor", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("one")]);
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    network.isDown = true;
    network.cut();
    await until(session, ({ state }) => state === "offline");
    await service.append(name, [userMessage("two")]);
    network.isDown = false;
    await until(session, ({ state }) => state === "live");
    expect(textOf(session)).toEqual(["one", "two"]);
  });

  test.each(["200 OK", "404 Not Found", "503 Service Unavailable"])(
    "responses of other servers are ignored: %s",
    async (status) => {
      const name = await newSession();
      const session = follow(name);
      await until(session, ({ state }) => state === "live");
      network.portal = status;
      network.cut();
      const posting = session.post([userMessage("one") as AgentEvent]);
      await until(session, ({ state }) => state === "offline");
      network.portal = undefined;
      expect(await posting).toMatchObject({ written: 1 });
      await until(session, ({ messages, state }) => state === "live" && messages.length === 1);
    },
  );

  test("a silent connection is replaced", async () => {
    const name = await newSession();
    const own = await BadNetwork.before(() => service.port);
    opened.push(own);
    const session = follow(name, { ...hasty(), url: own.url, silence: 300 });
    await until(session, ({ state }) => state === "live");
    own.stall();
    await service.append(name, [userMessage("one")]);
    await until(session, ({ messages }) => messages.length === 1);
    expect(textOf(session)).toEqual(["one"]);
  });

  test("a reader survives a killed service", async () => {
    const name = await newSession();
    await service.append(name, [start("r"), ...text("r", "a")]);
    const session = follow(name);
    const events = session.events("start");
    await until(session, ({ state }) => state === "live");
    await service.kill();
    await until(session, ({ state }) => state === "offline");
    await service.start();
    await service.append(name, [
      { type: "TEXT_BLOCK_DELTA", id: "more", reply_id: "r", block_id: "b", delta: "b" },
      end("r"),
    ]);
    await until(session, ({ messages }) => messages[0]?.finished_at != null);
    expect(JSON.stringify(session.getSnapshot().messages)).toBe(`[${await service.folded(name)}]`);
    const log = await service.log(name);
    for (const { id } of log) expect((await events.next()).value?.id).toBe(id);
  });

  test("a changed epoch starts from a new snapshot", async () => {
    const name = await newSession();
    await service.append(name, [userMessage("old")]);
    const session = follow(name);
    const events = session.events("start");
    await until(session, ({ state }) => state === "live");
    expect((await events.next()).value?.id).toBe("old");
    network.isDown = true;
    await service.forget();
    await service.session(name);
    await service.append(name, [userMessage("new")]);
    network.isDown = false;
    await until(session, ({ messages }) => messages[0]?.id === "new");
    expect(textOf(session)).toEqual(["new"]);
    await expect(events.next()).rejects.toMatchObject({ status: 410, kind: "gap" });
  });

  test("older messages are loaded on request", async () => {
    const name = await newSession();
    const ids = Array.from({ length: 120 }, (_, index) => `m${index}`);
    await service.append(name, ids.map(userMessage));
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    const shown = () => session.getSnapshot().messages.map(({ id }) => id);
    expect(shown()).toEqual(ids.slice(-50));
    await Promise.all([session.loadOlder(), session.loadOlder()]);
    expect(shown()).toEqual(ids.slice(-100));
    expect(session.getSnapshot().hasOlder).toBe(true);
    await session.loadOlder();
    expect(shown()).toEqual(ids);
    expect(session.getSnapshot().hasOlder).toBe(false);
    await session.loadOlder();
    expect(shown()).toEqual(ids);
  });

  test("a reply that was open on joining is shown once", async () => {
    const name = await newSession();
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
    await service.append(name, [
      userMessage("first"),
      { ...start("r"), created_at: "2026-01-01T00:00:00" },
      ...ids.map(userMessage),
    ]);
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    await service.append(name, [end("r")]);
    await until(session, ({ messages }) => messages.some(({ id, finished_at }) => id === "r" && finished_at));
    await session.loadOlder();
    const shown = session.getSnapshot().messages.map(({ id }) => id);
    expect([...shown].sort()).toEqual(["first", "r", ...ids].sort());
  });

  test("a missing session is an error", async () => {
    const session = follow("nowhere");
    const events = session.events();
    const { error } = await until(session, ({ error }) => !!error);
    expect(error).toBeInstanceOf(RecountError);
    expect(error).toMatchObject({ status: 404, kind: "not_found" });
    await expect(events.next()).rejects.toBe(error);
    // The name must not resolve to another path.
    const elsewhere = follow(`nowhere/../${await newSession()}`);
    expect((await until(elsewhere, ({ error }) => !!error)).error?.kind).toMatch(/bad_request|not_found/);
    // It can be joined once it exists.
    await service.session("nowhere");
    session.close();
    await until(follow("nowhere"), ({ state }) => state === "live");
    await request(service.url, "DELETE", "sessions/nowhere");
  });

  test("a missing session is created on request", async () => {
    const name = `created-${transport}`;
    for (let attempt = 0; attempt < 2; attempt++) {
      const session = connect(hasty(), name, { create: true });
      opened.push(session);
      await session.post([userMessage(`from-${attempt}`)] as AgentEvent[]);
      await until(session, ({ state, messages }) => state === "live" && messages.length === attempt + 1);
      session.close();
    }
    // The name is invalid, so the session cannot be created.
    const invalid = connect(hasty(), "sessions", { create: true });
    opened.push(invalid);
    expect((await until(invalid, ({ error }) => !!error)).error?.status).toBe(400);
    await expect(invalid.send("Hello")).rejects.toThrow(RecountError);
  });

  test("a session that is closed before it exists is not followed", async () => {
    network.isDown = true;
    const name = `left-${transport}`;
    const session = connect(hasty(), name, { create: true });
    session.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    network.isDown = false;
    await vi.waitUntil(
      async () => (await request(service.url, "GET", `sessions/${name}`).catch(() => {})) !== undefined,
    );
    expect(session.getSnapshot().state).toBe("connecting");
  });

  test("created, changed and deleted sessions are reported", async () => {
    const list = connectSessions(hasty());
    opened.push(list);
    await until(list, ({ state }) => state === "live");
    const name = await newSession();
    const find = () => list.getSnapshot().sessions.find(({ id }) => id === name);
    await until(list, () => find()?.status === "idle");
    await service.append(name, [start("r")]);
    await until(list, () => find()?.status === "running");
    await request(service.url, "PATCH", `sessions/${name}`, { title: "A title" });
    await until(list, () => find()?.title === "A title");
    await request(service.url, "DELETE", `sessions/${name}`);
    await until(list, () => !find());
  });

  test("no session name collides with the list, and an empty name is not a session", async () => {
    const list = connectSessions(hasty());
    opened.push(list);
    await until(list, ({ state }) => state === "live");
    for (const name of ["sessions", ""]) {
      expect((await until(follow(name), ({ error }) => !!error)).messages).toEqual([]);
    }
    const name = await newSession();
    await until(list, ({ sessions }) => sessions.some(({ id }) => id === name));
  });
});

test("the WebSocket transport without WebSocket support is an error", async () => {
  vi.stubGlobal("WebSocket", undefined);
  const session = connect({ url: service.url, transport: "ws" }, await newSession());
  opened.push(session);
  const { error } = await until(session, ({ error }) => !!error);
  vi.unstubAllGlobals();
  expect(error).toMatchObject({ status: 426, kind: "upgrade_required" });
});

describe("requests", () => {
  const follow = (name: string) => {
    const session = connect({ url: network.url, minDelay: 5, maxDelay: 50 }, name);
    opened.push(session);
    return session;
  };
  const call = { type: "tool_call", id: "c", name: "shell", input: "{}", state: "asking" } as ToolCallBlock;

  test("a request counts once if its response was lost", async () => {
    const name = await newSession();
    const session = follow(name);
    await until(session, ({ state }) => state === "live");
    await service.append(name, [start("r")]);
    await until(session, ({ messages }) => messages.length === 1);
    network.cutAfter = 0;
    const cuts = network.done.cuts;
    const answer = await session.post([{ type: "TEXT_BLOCK_START", reply_id: "r", block_id: "b" } as AgentEvent]);
    // The event may have reached the reader before the response.
    expect(network.done.cuts).toBe(cuts + 1);
    expect(answer.written + answer.duplicates).toBe(1);
    const log = await service.log(name);
    expect(log.filter(({ type }) => type === "TEXT_BLOCK_START")).toHaveLength(1);
  });

  test("a request waits until the service is back", async () => {
    const name = await newSession();
    const session = follow(name);
    network.isDown = true;
    network.cut();
    const posting = session.post([userMessage("late") as AgentEvent]);
    await until(session, ({ state }) => state === "offline");
    network.isDown = false;
    expect(await posting).toMatchObject({ written: 1 });
  });

  test("larger requests have a longer timeout", async () => {
    const session = follow(await newSession());
    const timeout = vi.spyOn(AbortSignal, "timeout");
    const event = (text: string) => ({ type: "CUSTOM", name: "long", value: { text } }) as AgentEvent;
    await session.post([event("short")]);
    await session.post([event("x".repeat(3 << 20))]);
    const [short, long] = timeout.mock.calls.map(([milliseconds]) => milliseconds);
    timeout.mockRestore();
    expect(long! - short!).toBe(3_072);
  });

  test("a request can be cancelled", async () => {
    const session = follow(await newSession());
    network.isDown = true;
    network.cut();
    const giveUp = new AbortController();
    const posting = session.post([userMessage("never") as AgentEvent], giveUp);
    giveUp.abort();
    await expect(posting).rejects.toThrow();
  });

  test("confirmations reach the call that asks, and the second is rejected", async () => {
    const name = await newSession();
    const session = follow(name);
    await service.append(name, [
      start("r"),
      { type: "TOOL_CALL_START", reply_id: "r", tool_call_id: "c", tool_call_name: "shell" },
      { type: "TOOL_CALL_END", reply_id: "r", tool_call_id: "c" },
      { type: "REQUIRE_USER_CONFIRM", reply_id: "r", tool_calls: [call] },
    ]);
    const state = () => session.getSnapshot().messages[0]?.getFirstContentBlock("tool_call")?.state;
    await until(session, () => state() === "asking");
    expect(await session.confirm("r", [{ confirmed: true, tool_call: call }])).toMatchObject({ written: 1 });
    await until(session, () => state() === "allowed");
    const refused = session.confirm("r", [{ confirmed: false, tool_call: call }]);
    await expect(refused).rejects.toMatchObject({ status: 409, kind: "refused", line: 1, reason: expect.any(String) });
  });

  test("results of external tools and hints are appended", async () => {
    const name = await newSession();
    const session = follow(name);
    await service.append(name, [
      start("r"),
      { type: "TOOL_CALL_START", reply_id: "r", tool_call_id: "c", tool_call_name: "shell" },
      { type: "TOOL_CALL_END", reply_id: "r", tool_call_id: "c" },
      { type: "REQUIRE_EXTERNAL_EXECUTION", reply_id: "r", tool_calls: [call] },
    ]);
    await session.resolve("r", [{ type: "tool_result", id: "c", name: "shell", output: "done", state: "success" }]);
    await session.hint("r", "Hurry up", { source: "clock" });
    const { messages } = await until(session, ({ messages }) => !!messages[0]?.hasContentBlocks("hint"));
    expect(messages[0]?.getFirstContentBlock("tool_result")?.output).toBe("done");
    expect(messages[0]?.getFirstContentBlock("hint")).toMatchObject({ hint: "Hurry up", source: "clock" });
  });

  test("a message is answered, an early one is rejected, and the reply can be interrupted", async () => {
    const session = follow(await newSession());
    const { reply_id } = await session.send("Say something long");
    await until(session, ({ messages }) => !!messages[1]?.getTextContent());
    expect(session.getSnapshot().messages).toMatchObject([{ role: "user" }, { id: reply_id, finished_at: null }]);
    await expect(session.send("And this?")).rejects.toMatchObject({ status: 409, kind: "busy" });
    await session.interrupt();
    const { messages } = await until(session, ({ messages }) => messages[1]?.finished_at != null);
    expect(messages[1]?.finished_reason).toBe("interrupted");

    await session.send({ name: "Alice", content: [{ type: "text", text: "Hello" }] }, { onBusy: "queue" });
    const after = await until(session, ({ messages }) => messages[3]?.finished_at != null);
    expect(after.messages[2]).toMatchObject({ name: "Alice", content: [{ text: "Hello" }] });
    expect(after.messages[3]?.finished_reason).toBe("completed");
  });

  test("an interrupt whose response was lost stops only its own reply", async () => {
    const session = follow(await newSession());
    const first = await session.send("Say something long");
    await until(session, ({ messages }) => !!messages[1]?.getTextContent());
    const second = await session.send("Hello", { onBusy: "queue" });
    const { lost } = network.done;
    network.losesResponse = true;
    await session.interrupt();
    expect(network.done.lost).toBe(lost + 1);
    const { messages } = await until(session, ({ messages }) => messages[3]?.finished_at != null);
    expect(messages).toMatchObject([
      { role: "user" },
      { id: first.reply_id, finished_reason: "interrupted" },
      { role: "user" },
      { id: second.reply_id, finished_reason: "completed" },
    ]);
  });

  test("requests arrive in order", async () => {
    const name = await newSession();
    const session = follow(name);
    const ids = Array.from({ length: 20 }, (_, index) => `in-order-${index}`);
    network.losesResponse = true;
    await Promise.all(ids.map((id) => session.post([userMessage(id) as AgentEvent])));
    expect((await service.log(name)).map(({ id }) => id)).toEqual(ids);
  });

  test("an error names the invalid field", async () => {
    const session = follow(await newSession());
    const wrong = [userMessage("fine"), { type: "REPLY_START", reply_id: 7 }] as unknown as AgentEvent[];
    await expect(session.post(wrong)).rejects.toMatchObject({ status: 400, line: 2, field: expect.any(String) });
  });
});

test("all sessions of a page share one socket, and readers of a session share its data", async () => {
  const own = await BadNetwork.before(() => service.port);
  const options: ServerOptions = { url: own.url, transport: "ws" };
  const names = await Promise.all([newSession(), newSession(), newSession()]);
  const all = [...names, ...names].map((name) => connect(options, name));
  const list = connectSessions(options);
  for (const session of all) await until(session, ({ state }) => state === "live");
  await service.append(names[0] as string, [userMessage("hello")]);
  for (const session of [all[0], all[3]]) {
    await until(session as Session, ({ messages }) => messages.length === 1);
  }
  expect(all[0]?.getSnapshot()).toBe(all[3]?.getSnapshot());
  await until(list, ({ state }) => state === "live");
  // The socket and the list of sessions, which may be requested twice.
  expect(own.made).toBeLessThanOrEqual(3);

  all[0]?.close();
  await service.append(names[0] as string, [userMessage("again")]);
  await until(all[3] as Session, ({ messages }) => messages.length === 2);
  for (const session of all) session.close();
  list.close();
  own.close();
});
