import type { Session } from "@recount/client";
import { beforeEach, expect, test, vi } from "vitest";
import { contentOf } from "../src/conversation/content";
import { Unsent } from "../src/conversation/unsent";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    removeItem: (name: string) => kept.delete(name),
    setItem(name: string, text: string) {
      if (text.length > 1_000) throw new Error("there is no room");
      kept.set(name, text);
    },
  });
});

const words = (text: string) => contentOf(text, []);

/** A session whose requests are settled by hand. */
function line() {
  const sent: { id: string; answer: (error?: Error) => void }[] = [];
  const send = ({ id }: { id: string }) =>
    new Promise<void>((resolve, reject) => {
      sent.push({ id, answer: (error) => (error ? reject(error) : resolve()) });
    });
  return { sent, session: { send } as unknown as Session };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("messages are sent in order, for any number of views", async () => {
  const { sent, session } = line();
  const box = new Unsent("a");
  const first = box.subscribe(() => {});
  box.say(session, words("one"));
  await settled();
  first();
  box.leave();
  box.subscribe(() => {});
  box.say(session, words("two"));
  await settled();
  expect(sent).toHaveLength(1);
  expect(box.look().map(({ message }) => message.getTextContent())).toEqual(["one", "two"]);
  sent[0]!.answer();
  await settled();
  expect(sent.map(({ id }) => id)).toEqual(box.look().map(({ message }) => message.id));
  expect(box.look().map(({ isSent }) => isSent)).toEqual([true, false]);
  box.arrived([box.look()[0]!.message]);
  expect(box.look().map(({ message }) => message.getTextContent())).toEqual(["two"]);
});

test("an unsent message is sent after a reload with the same id", async () => {
  const { sent, session } = line();
  const before = new Unsent("a");
  before.say(session, words("one"));
  await settled();
  const after = new Unsent("a");
  expect(after.look().map(({ message }) => message.getTextContent())).toEqual(["one"]);
  after.deliver(session);
  after.deliver(session);
  await settled();
  expect(sent.map(({ id }) => id)).toEqual([sent[0]!.id, sent[0]!.id]);
  expect(new Unsent("b").look()).toEqual([]);
  after.subscribe(() => {});
  sent[1]!.answer();
  await settled();
  expect(new Unsent("a").look()).toEqual([]);
});

test("a rejected message waits for a retry, and one that does not fit into storage is still sent", async () => {
  const { sent, session } = line();
  const box = new Unsent("a");
  box.subscribe(() => {});
  box.say(session, words("x".repeat(2_000)));
  await settled();
  sent[0]!.answer(new Error("not now"));
  await settled();
  expect(box.look()[0]?.error).toBe("Not now.");
  box.deliver(session);
  await settled();
  expect(sent).toHaveLength(1);
  box.again(session, box.look()[0]!.message);
  await settled();
  expect(sent).toHaveLength(2);
  box.discard(box.look()[0]!.message);
  expect(box.look()).toEqual([]);
});

test("a message received without views is not shown as waiting", async () => {
  const { sent, session } = line();
  const box = new Unsent("a");
  box.say(session, words("one"));
  await settled();
  sent[0]!.answer();
  await settled();
  expect(box.look()).toEqual([]);
});
