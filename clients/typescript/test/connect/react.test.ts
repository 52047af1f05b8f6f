/** The hooks, in a page with nothing but a document. */

import { Window } from "happy-dom";
import { createElement, StrictMode } from "react";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Service } from "../support/service.js";

const window = new Window();
Object.assign(globalThis, {
  window,
  document: window.document,
  navigator: window.navigator,
  requestAnimationFrame: window.requestAnimationFrame.bind(window),
});

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(async () => {
  await service.stop();
  await window.happyDOM.close();
});

const delta = (text: string) => ({ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "b", delta: text });

test("a component shows a session and renders at most once per frame", async () => {
  const { createRoot } = await import("react-dom/client");
  const { useSession, useSessions } = await import("../../src/react.js");
  const name = await service.session("chat");
  await service.append(name, [
    { type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" },
    { type: "TEXT_BLOCK_START", reply_id: "r", block_id: "b" },
  ]);
  let renders = 0;
  let contents = new Set<unknown>();

  function Page() {
    const { messages, state } = useSession({ url: service.url, transport: "ws" }, name);
    const { sessions } = useSessions(service.url);
    renders++;
    contents.add(messages[0]?.content);
    const text = messages.map((message) => message.getTextContent()).join();
    return `${state}: ${text}; ${sessions.map(({ id }) => id)}`;
  }

  const element = document.createElement("div");
  const root = createRoot(element);
  const shows = async (text: string) => {
    while (element.textContent !== text) await new Promise(requestAnimationFrame);
  };
  root.render(createElement(StrictMode, null, createElement(Page)));
  await shows(`live: ; ${name}`);

  renders = 0;
  contents = new Set();
  const count = 2_000;
  await service.append(
    name,
    Array.from({ length: count }, () => delta("x")),
  );
  await shows(`live: ${"x".repeat(count)}; ${name}`);
  // Each frame copies the blocks once, however many events it has.
  expect(contents.size).toBeLessThan(100);
  expect(renders).toBeLessThan(400);
  root.unmount();
});

test("a component that switches sessions never shows the previous one", async () => {
  const { createRoot } = await import("react-dom/client");
  const { useSession } = await import("../../src/react.js");
  const names = [await service.session("first"), await service.session("second")];
  for (const name of names) {
    await service.append(name, [{ type: "REPLY_START", session_id: "s", reply_id: name, name }]);
  }
  const shown: string[] = [];

  function Page({ name }: { name: string }) {
    const { messages, session } = useSession({ url: service.url, transport: "ws" }, name);
    shown.push(`${name}: ${messages[0]?.id ?? "nothing"} of ${session?.name ?? "nobody"}`);
    return messages.map(({ id }) => id).join();
  }

  const element = document.createElement("div");
  const root = createRoot(element);
  for (const name of names) {
    root.render(createElement(Page, { name }));
    while (element.textContent !== name) await new Promise(requestAnimationFrame);
  }
  root.unmount();
  // No session at first, then the empty session, then its messages.
  const others = shown.filter((what) => !/^(\w+): (nothing of (nobody|\1)|\1 of \1)$/.test(what));
  expect(others).toEqual([]);
});
