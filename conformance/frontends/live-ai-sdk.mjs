// The chat of the AI SDK with the real service: its transport sends and resumes, and a chat that reconnects all the
// time ends with the same messages as one that stays connected.
import assert from "node:assert/strict";
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { Session, withService } from "./service.mjs";

/**
 * The transport from the documentation. User messages are sent to Recount's routes, and replies are read by the SDK.
 * The reply that it was reading may have ended when it reconnects, so it requests that reply.
 */
function transport(service, reply) {
  const stream = () => `stream?dialect=ai-sdk${reply ? `&reply=${reply}` : ""}`;
  return new DefaultChatTransport({
    api: `${service}/v1/sessions`,
    prepareReconnectToStreamRequest: ({ api, id }) => ({ api: `${api}/${id}/${stream()}` }),
    prepareSendMessagesRequest: ({ api, id, messages }) => ({ api: `${api}/${id}`, body: messages.at(-1) }),
    fetch: async (url, { body, ...init }) => {
      if (init.method === "GET") return fetch(url, init);
      const session = new Session(service, new URL(url).pathname.split("/").at(-1));
      const message = JSON.parse(body);
      reply = message.role === "user" ? await said(session, message) : await answered(session, message);
      return fetch(`${session.url}/${stream()}`, { signal: init.signal });
    },
  });
}

async function said(session, { id, parts }) {
  const content = parts.filter((part) => part.type === "text").map(({ text }) => ({ type: "text", text }));
  return (await session.say(content, id)).reply_id;
}

async function answered(session, { id, parts }) {
  const approved = parts.filter((part) => part.state === "approval-responded" && part.approval.approved);
  for (const part of approved) await session.allow(id, part.toolCallId);
  return id;
}

const plain = (value) => JSON.parse(JSON.stringify(value));

/** A chat whose connections are cut after a number of milliseconds, until all connections have completed. */
async function cutOff(chat, milliseconds) {
  let isOver = false;
  while (!isOver) {
    const resuming = chat.resumeStream();
    const cut = new Promise((resolve) => setTimeout(resolve, milliseconds, "cut"));
    isOver = (await Promise.race([resuming.then(() => "over"), cut])) === "over";
    if (!isOver) await chat.stop();
  }
}

await withService(async (service) => {
  const session = await Session.create(service, "ai-sdk");
  const stays = new Chat({ id: session.name, transport: transport(service) });
  await stays.resumeStream();
  assert.deepEqual([stays.status, stays.messages], ["ready", []]);
  for (const words of ["Hello, think first", "Show me an image", "Use a tool"]) {
    const before = plain(stays.messages);
    const sending = stays.sendMessage({ text: words });
    while (stays.messages.length < before.length + 2) await new Promise((resolve) => setTimeout(resolve, 10));
    const [user, { id: replyId }] = plain(stays.messages.slice(-2));
    const messages = [...before, user];
    const dropsOff = new Chat({ id: session.name, transport: transport(service, replyId), messages });
    await cutOff(dropsOff, 150);
    await sending;
    assert.equal(stays.error, undefined);
    const asked = stays.messages.at(-1).parts.filter((part) => part.state === "approval-requested");
    for (const { approval } of asked) {
      assert.deepEqual(plain(dropsOff.messages), plain(stays.messages));
      await stays.addToolApprovalResponse({ id: approval.id, approved: true });
      await stays.sendMessage();
      await dropsOff.resumeStream();
      const late = new Chat({ id: session.name, transport: transport(service), messages });
      await late.resumeStream();
      assert.deepEqual(plain(late.messages), messages, "nothing is going on any more");
    }
    assert.deepEqual(plain(dropsOff.messages), plain(stays.messages));
    const parts = stays.messages.at(-1).parts.map((part) => part.type);
    console.log(`ai-sdk: "${words}" is ${parts.join(", ")} to everybody`);
  }
});
