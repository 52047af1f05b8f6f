/** A service that requires tokens. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, connectSessions, request } from "../../src/index.js";
import { Service } from "../support/service.js";
import { until } from "../support/until.js";

let service: Service;
let token: string;
beforeAll(async () => {
  service = await Service.start();
  token = service.token("write");
  await service.session("chat", token);
});
afterAll(() => service.stop());

const transports = ["ws", "sse"] as const;

test.each(transports)("a token opens sessions and their list (%s)", async (transport) => {
  const server = { url: service.url, token, transport };
  const session = connect(server, "chat");
  const list = connectSessions(server);
  await until(session, ({ state }) => state === "live");
  await until(list, ({ sessions }) => sessions.some(({ id }) => id === "chat"));
  const id = `posted-${transport}`;
  await session.post([{ type: "CUSTOM", id, name: "hello", value: {} }]);
  for await (const event of session.events("start")) if (event.id === id) break;
  session.close();
  list.close();
});

test.each(transports)("a missing or unknown token is an error (%s)", async (transport) => {
  for (const wrong of [undefined, "wrong"]) {
    const server = { url: service.url, token: wrong, transport };
    const list = connectSessions(server);
    const session = connect(server, "chat");
    const seen = await Promise.race([
      until(list, ({ error }) => !!error).then(({ error }) => error),
      until(session, ({ error }) => !!error).then(({ error }) => error),
    ]);
    expect(seen).toMatchObject({ status: 401, kind: expect.any(String) });
    session.close();
    list.close();
  }
});

test("requests beyond a token's scope are rejected", async () => {
  const server = { url: service.url, token: service.token("read"), transport: "sse" as const };
  const session = connect(server, "chat");
  await until(session, ({ state }) => state === "live");
  await expect(session.interrupt()).rejects.toMatchObject({ status: 403 });
  await expect(request(server, "DELETE", "sessions/chat")).rejects.toMatchObject({ status: 403 });
  session.close();
});
