/**
 * Clients with cut, stalled and reordered connections end up with the same state as other readers, and their messages
 * are appended once.
 */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type AgentEvent,
  type Appended,
  connect,
  connectSessions,
  request,
  type ServerOptions,
  type Session,
  type SessionInfo,
} from "../../src/index.js";
import { BadNetwork } from "../support/network.js";
import { Random } from "../support/random.js";
import { RandomWriter } from "../support/random-writer.js";
import { Service } from "../support/service.js";
import { until } from "../support/until.js";

/** The number of connections that are cut for each transport. `pnpm soak` cuts many more. */
const CUTS = Number(process.env.RECOUNT_CUTS ?? 150);
/** Short timeouts, but long enough for a busy machine. */
const HASTY = { minDelay: 1, maxDelay: 20, silence: 1_600 };

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const transports = ["ws", "sse"] as const;

/** Collects the ids of events up to the one named `end`. */
async function collect(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) {
    ids.push(id as string);
    if (id === "end") break;
  }
  return ids;
}

/** Waits until a session has ended, and compares it with the log. */
async function expectWhole(of: Service, session: Session): Promise<void> {
  const expected = await of.folded(session.name);
  await until(session, ({ messages, state }) => state === "live" && JSON.stringify(messages) === `[${expected}]`);
}

/** Sends many messages over a bad network, without waiting for a response before the next one. */
class Post {
  readonly answers: Promise<Appended>[] = [];
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  more(): void {
    const id = `posted-${this.answers.length}`;
    this.answers.push(this.#session.post([{ type: "CUSTOM", id, name: "posted", value: {} }]));
  }

  get ids(): string[] {
    return this.answers.map((_, index) => `posted-${index}`);
  }
}

test.each(transports)(
  "nothing is lost or doubled by a network that cuts, stalls and reorders (%s)",
  async (transport) => {
    const random = new Random(transport === "ws" ? 11 : 12);
    const network = await BadNetwork.before(() => service.port);
    const options: ServerOptions = { url: network.url, transport, ...HASTY };
    const name = await service.session(`cuts-${transport}`);
    const session = connect(options, name);
    const list = connectSessions(options);
    const ids = collect(session.events("start"));
    const writer = new RandomWriter(service, name, random);
    const post = new Post(session);
    const some = () => random.oneIn(2);
    const disturb = [
      () => network.cut(),
      () => network.cut(some),
      () => {
        network.cutAfter = random.between(0, 600);
      },
      () => {
        network.losesResponse = true;
      },
      () => {
        network.overtakesNext = true;
      },
      () => network.stall(),
      () => network.stall(some),
      () => network.release(),
      () => network.release(some),
      async () => {
        network.stall();
        // A client that timed out connects again, and earlier data arrives late or twice.
        if (random.oneIn(4)) for (const { made } = network; network.made === made; ) await pause(5);
      },
    ];
    const { done } = network;
    // Each kind of disturbance must have occurred.
    for (let rounds = 0; done.cuts < CUTS || Object.values(done).includes(0); rounds++) {
      await writer.more();
      if (random.oneIn(3)) post.more();
      if (random.oneIn(10)) {
        await request(service.url, "PUT", `sessions/listed-${random.between(0, 9)}`, { title: `${rounds}` });
      }
      await random.pick(disturb)();
    }
    console.log(`${transport}: ${network.made} connections, ${post.answers.length} posts, ${JSON.stringify(done)}`);

    Object.assign(network, { cutAfter: undefined, losesResponse: false, overtakesNext: false });
    network.release();
    // A posted event counts once and in order, even if the network lost the request or the response.
    for (const { written, duplicates } of await Promise.all(post.answers)) expect(written + duplicates).toBe(1);
    await service.append(name, [{ type: "CUSTOM", id: "end", name: "end", value: {} }]);
    const log = (await service.log(name)).map(({ id }) => id);
    expect(log.filter((id) => id?.startsWith("posted-"))).toEqual(post.ids);
    expect(await ids).toEqual(log);
    await expectWhole(service, session);
    const { sessions } = await request<{ sessions: SessionInfo[] }>(service.url, "GET", "sessions?limit=1000");
    const titles = (infos: readonly SessionInfo[]) =>
      infos
        .map(({ id, title }) => `${id} ${title}`)
        .sort()
        .join();
    await until(list, (view) => view.state === "live" && titles(view.sessions) === titles(sessions));
    session.close();
    list.close();
    network.close();
  },
);

test.each(transports)("nothing is lost or doubled by a service that is killed (%s)", async (transport) => {
  const random = new Random(7);
  const own = await Service.start();
  const name = await own.session("killed");
  const session = connect({ url: own.url, transport, ...HASTY }, name);
  const ids = collect(session.events("start"));
  const writer = new RandomWriter(own, name, random);
  for (let kills = 0; kills < 5; kills++) {
    for (let round = 0; round < 5; round++) await writer.more();
    await own.kill();
    await own.start();
  }
  await own.append(name, [{ type: "CUSTOM", id: "end", name: "end", value: {} }]);
  expect(await ids).toEqual((await own.log(name)).map(({ id }) => id));
  await expectWhole(own, session);
  session.close();
  await own.stop();
});
