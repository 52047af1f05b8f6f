import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What a network has done to connections, by kind. */
export interface Disturbances {
  /** Connections that were ended. */
  cuts: number;
  /** How many of them in the middle of what was being said. */
  torn: number;
  /** Connections that stayed open and said nothing for a while. */
  stalled: number;
  /** Those that went on after all, when one that was made later had been heard. */
  late: number;
  /** Those whose client had given up by then: what it had asked for reached the service all the same. */
  orphaned: number;
  /** Connections that reached the service after one that was made later. */
  overtaken: number;
  /** Answers to what was posted that got lost. */
  lost: number;
}

const page = (status: string) =>
  `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\ncontent-length: 7\r\nconnection: close\r\n\r\nWelcome`;

/** A connection from a client, and the one to the service that goes with it. */
class Line {
  readonly client: Socket;
  readonly service: Promise<Socket>;
  /** What waits to go on, in its order; nothing is held up where it is `undefined`. */
  held: (() => void)[] | undefined;
  /** Whether one that was made later has been heard while this one was held up. */
  isBehind = false;
  /** Whether its client has gone. */
  isLeft = false;
  /** Whether it was cut: nothing goes over it any more, not even what was held up. */
  isCut = false;
  /** Whether what is said next answers something that was posted. */
  isPosting = false;
  #isReached = false;
  #reach: (service: Socket) => void = () => {};

  constructor(client: Socket) {
    this.client = client;
    this.service = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  /** Connects it with the service, unless it is. */
  reach(service: () => Socket): void {
    if (!this.#isReached) this.#reach(service());
    this.#isReached = true;
  }

  /** Lets something go on, now or when what came before it does. */
  pass(go: () => void): void {
    if (this.held) this.held.push(go);
    else go();
  }

  end(): void {
    this.isCut = true;
    this.client.resetAndDestroy();
    this.service.then((service) => service.destroy());
  }
}

/**
 * Something between a client and the service that treats connections as networks do: it cuts them, stalls them, and lets
 * what was said over one arrive after what was said later over another.
 */
export class BadNetwork {
  /** How many connections were made. */
  made = 0;
  /** Whether connections are refused. */
  isDown = false;
  /** What somebody else answers, as in a hotel where one has to log in first, or a proxy whose service is down. */
  portal: string | undefined;
  /** How many bytes of the next piece go through before its connection is cut, if it is to be. */
  cutAfter: number | undefined;
  /** Whether the next answer to something that was posted gets lost. */
  losesAnswer = false;
  /** Whether the next connection is overtaken by the one after it. */
  overtakesNext = false;
  readonly done: Disturbances = { cuts: 0, torn: 0, stalled: 0, late: 0, orphaned: 0, overtaken: 0, lost: 0 };
  readonly #port: () => number;
  /** In the order in which they were made. */
  readonly #lines = new Set<Line>();
  /** What was said over them waits for nobody. */
  readonly #orphans = new Set<Line>();
  readonly #server: Server;
  /** The connection that waits for another to overtake it. */
  #slow: Line | undefined;

  private constructor(port: () => number) {
    this.#port = port;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** A proxy in front of a port. */
  static async before(port: () => number): Promise<BadNetwork> {
    const network = new BadNetwork(port);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #accept(client: Socket): void {
    if (this.isDown) return void client.resetAndDestroy();
    const { portal } = this;
    if (portal) return void client.on("error", () => {}).once("data", () => client.end(page(portal)));
    this.made++;
    const line = new Line(client);
    this.#lines.add(line);
    client.setNoDelay().on("error", () => {});
    client.on("data", (piece) => {
      line.isPosting = piece.toString("latin1", 0, 18) === "POST /v1/sessions/";
      line.pass(() => line.service.then((service) => service.write(piece)));
    });
    client.on("close", () => this.#leave(line));
    if (this.overtakesNext && !this.#slow) {
      this.overtakesNext = false;
      this.#slow = line;
      line.held = [];
    } else this.#goOn(line);
  }

  #connect(line: Line): Socket {
    const service = connect(this.#port(), "127.0.0.1");
    service.setNoDelay().on("error", () => {});
    service.on("data", (piece) => line.pass(() => this.#hear(line, service, piece)));
    service.on("close", () => line.pass(() => line.client.destroySoon()));
    return service;
  }

  #leave(line: Line): void {
    this.#lines.delete(line);
    if (line === this.#slow) this.#slow = undefined;
    line.isLeft = true;
    // What is on its way to the service arrives there, whoever has gone in the meantime.
    if (line.held?.length) this.#orphans.add(line);
    else line.end();
  }

  #hear(line: Line, service: Socket, piece: Buffer): void {
    if (line.isLeft || line.isCut) return void service.destroy();
    this.#overtake(line);
    if (line.isPosting && this.losesAnswer) {
      this.losesAnswer = false;
      this.done.lost++;
      this.done.cuts++;
      return void line.end();
    }
    if (this.cutAfter === undefined) return void line.client.write(piece);
    const part = piece.subarray(0, this.cutAfter);
    this.cutAfter = undefined;
    this.done.cuts++;
    line.isCut = true;
    if (part.length < piece.length) this.done.torn++;
    line.client.write(part, () => line.client.destroy());
    service.destroy();
  }

  /** A connection is heard, and those from before it that are held up are not. */
  #overtake(line: Line): void {
    for (const earlier of this.#lines) {
      if (earlier === line) break;
      if (earlier.held) earlier.isBehind = true;
    }
    for (const orphan of this.#orphans) orphan.isBehind = true;
    const slow = this.#slow;
    if (!slow?.isBehind) return;
    this.#slow = undefined;
    this.done.overtaken++;
    this.#goOn(slow);
  }

  #goOn(line: Line): void {
    const held = line.held ?? [];
    line.held = undefined;
    line.isBehind = false;
    line.reach(() => this.#connect(line));
    for (const go of held) go();
  }

  /** Cuts all connections, or some. */
  cut(isMeant = (): boolean => true): void {
    for (const line of this.#lines) {
      if (line.isCut || !isMeant()) continue;
      this.done.cuts++;
      line.held = undefined;
      line.end();
    }
  }

  /** From now on the connections that there are, or some of them, stay open and say nothing, in both directions. */
  stall(isMeant = (): boolean => true): void {
    for (const line of this.#lines) {
      if (line.held || !isMeant()) continue;
      line.held = [];
      this.done.stalled++;
    }
  }

  /** What was held back goes on after all: the newest first. */
  release(isMeant = (): boolean => true): void {
    for (const line of [...this.#orphans, ...this.#lines].reverse()) {
      if (!line.held || !isMeant()) continue;
      if (line.isBehind) this.done.late++;
      if (this.#orphans.delete(line)) this.done.orphaned++;
      if (line === this.#slow) this.#slow = undefined;
      this.#goOn(line);
    }
  }

  close(): void {
    this.#server.close();
    this.cut();
    for (const orphan of this.#orphans) orphan.end();
  }
}
