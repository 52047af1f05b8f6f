// AG-UI's client with the real service: one client stays connected, one reconnects all the time, and one joins late.
import assert from "node:assert/strict";
import { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
import { replacing } from "./ag-ui.mjs";
import { Session, withService } from "./service.mjs";

/** An agent that shows a session of the service. */
class RecountAgent extends HttpAgent {
  connect() {
    const request = () =>
      this.fetch(`${this.url}/stream?dialect=ag-ui`, { headers: this.headers, signal: this.abortController.signal });
    return transformHttpEventStream(runHttpRequest(request));
  }
}

function reader(session) {
  const agent = new RecountAgent({ url: session.url, threadId: session.name });
  agent.subscribe(replacing);
  return agent;
}

/** Follows a session until a condition holds or a number of events has arrived. */
async function follow(agent, isEnough) {
  const done = agent.subscribe({
    onEvent: ({ event }) => {
      if (isEnough(event)) setImmediate(() => agent.detachActiveRun());
    },
  });
  agent.abortController = new AbortController();
  await agent.connectAgent();
  agent.abortController.abort();
  done.unsubscribe();
}

const isOver = (replyId) => (event) => event.type === "RUN_FINISHED" && event.runId === replyId;

await withService(async (service) => {
  const session = await Session.create(service, "ag-ui");
  for (const [number, words] of ["Hello, think first", "Show me an image", "Use a tool"].entries()) {
    const { reply_id: replyId } = await session.say(words, `m${number}`);
    const [stays, dropsOff] = [reader(session), reader(session)];
    const staying = (async () => {
      await follow(stays, isOver(replyId));
      for (const { metadata } of stays.pendingInterrupts) {
        await session.allow(replyId, metadata.recount.tool_call_id);
        stays.pendingInterrupts = [];
        await follow(stays, (event) => isOver(replyId)(event) && event.outcome.type === "success");
      }
    })();
    let last;
    while (!(last && isOver(replyId)(last) && last.outcome.type === "success")) {
      let count = 0;
      dropsOff.pendingInterrupts = [];
      await follow(dropsOff, (event) => {
        last = event;
        count += 1;
        return count >= 5 || isOver(replyId)(event);
      });
    }
    await staying;
    const late = reader(session);
    await follow(late, (event) => event.type === "RUN_FINISHED");
    assert.deepEqual(dropsOff.messages, stays.messages);
    assert.deepEqual(late.messages, stays.messages);
    console.log(`ag-ui: "${words}" is ${stays.messages.length} messages to everybody`);
  }
});
