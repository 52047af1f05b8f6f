/** Readers whose connections are cut, stalled and held up end up with what everybody else has. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentEvent, connect, type ServerOptions, type Session } from "../../src/index.js";
import { BadNetwork } from "../support/network.js";
import { Random } from "../support/random.js";
import { Service } from "../support/service.js";
import { Talk } from "../support/talk.js";
import { until } from "../support/until.js";

/** How many connections are cut for each transport. `pnpm soak` cuts many more. */
const CUTS = Number(process.env.RECOUNT_CUTS ?? 150);
/** Nobody waits long here. */
const HASTY = { minDelay: 1, maxDelay: 20, silence: 400 };

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const transports = ["ws", "sse"] as const;

/** The ids of events up to the one that is called the end. */
async function collect(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) {
    ids.push(id as string);
    if (id === "end") break;
  }
  return ids;
}

/** Waits until a session has come to its end, and compares it with the log. */
async function expectWhole(of: Service, session: Session): Promise<void> {
  const expected = await of.folded(session.name);
  await until(session, ({ messages, state }) => state === "live" && JSON.stringify(messages) === `[${expected}]`);
}

test.each(transports)("nothing is lost or doubled by a network that cuts (%s)", async (transport) => {
  const random = new Random(transport === "ws" ? 11 : 12);
  const network = await BadNetwork.before(() => service.port);
  const options: ServerOptions = { url: network.url, transport, ...HASTY };
  const name = await service.session(`cuts-${transport}`);
  const session = connect(options, name);
  const ids = collect(session.events("start"));
  const talk = new Talk(service, name, random);
  const breakSomething = [
    () => network.cut(),
    () => {
      network.cutAfter = random.between(0, 4_000);
    },
    () => network.stall(),
    () => network.release(),
  ];
  while (network.cuts < CUTS) {
    await talk.more();
    random.pick(breakSomething)();
  }
  network.cutAfter = undefined;
  network.release();
  await service.append(name, [{ type: "CUSTOM", id: "end", name: "end", value: {} }]);
  const log = await service.log(name);
  expect(await ids).toEqual(log.map(({ id }) => id));
  await expectWhole(service, session);
  session.close();
  network.close();
});

test.each(transports)("nothing is lost or doubled by a service that is killed (%s)", async (transport) => {
  const random = new Random(7);
  const own = await Service.start();
  const name = await own.session("killed");
  const session = connect({ url: own.url, transport, ...HASTY }, name);
  const ids = collect(session.events("start"));
  const talk = new Talk(own, name, random);
  for (let kills = 0; kills < 5; kills++) {
    for (let said = 0; said < 5; said++) await talk.more();
    await own.kill();
    await own.start();
  }
  await own.append(name, [{ type: "CUSTOM", id: "end", name: "end", value: {} }]);
  expect(await ids).toEqual((await own.log(name)).map(({ id }) => id));
  await expectWhole(own, session);
  session.close();
  await own.stop();
});
