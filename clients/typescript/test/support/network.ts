import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The disturbances so far, by kind. */
export interface Disturbances {
  /** Connections that were cut. */
  cuts: number;
  /** Cut connections that were in the middle of a response. */
  torn: number;
  /** Connections that stayed open without data for a while. */
  stalled: number;
  /** Stalled connections that continued after data from a later connection. */
  late: number;
  /** Stalled connections whose client had already gone. Its requests reached the service nevertheless. */
  orphaned: number;
  /** Connections that reached the service after a later connection. */
  overtaken: number;
  /** Lost responses to POST requests. */
  lost: number;
}

const page = (status: string) =>
  `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\ncontent-length: 7\r\nconnection: close\r\n\r\nWelcome`;

/** A client connection and its connection to the service. */
class Line {
  readonly client: Socket;
  readonly service: Promise<Socket>;
  /** The held data in order; `undefined` if the connection is not stalled. */
  held: (() => void)[] | undefined;
  /** Whether a later connection has sent data while this one was stalled. */
  isBehind = false;
  /** Whether the client has closed the connection. */
  isLeft = false;
  /** Whether the connection was cut: no data passes any more, not even held data. */
  isCut = false;
  /** Whether the next response belongs to a POST request. */
  isPosting = false;
  #isReached = false;
  #reach: (service: Socket) => void = () => {};

  constructor(client: Socket) {
    this.client = client;
    this.service = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  /** Connects to the service, unless already connected. */
  reach(service: () => Socket): void {
    if (!this.#isReached) this.#reach(service());
    this.#isReached = true;
  }

  /** Passes data on, now or after the data before it. */
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
 * A proxy between a client and the service that behaves like a bad network: it cuts and stalls connections, and delays
 * data past that of later connections.
 */
export class BadNetwork {
  /** The number of connections so far. */
  made = 0;
  /** Whether connections are refused. */
  isDown = false;
  /** The response of another server, such as a captive portal, or a proxy whose service is down. */
  portal: string | undefined;
  /** The number of bytes of the next piece that pass before its connection is cut. `undefined` cuts none. */
  cutAfter: number | undefined;
  /** Whether the response to the next POST request is lost. */
  losesResponse = false;
  /** Whether the next connection is overtaken by the one after it. */
  overtakesNext = false;
  readonly done: Disturbances = { cuts: 0, torn: 0, stalled: 0, late: 0, orphaned: 0, overtaken: 0, lost: 0 };
  readonly #port: () => number;
  /** The connections, in the order in which they were made. */
  readonly #lines = new Set<Line>();
  /** Stalled connections whose client has gone. */
  readonly #orphans = new Set<Line>();
  readonly #server: Server;
  /** The connection that waits to be overtaken. */
  #slow: Line | undefined;

  private constructor(port: () => number) {
    this.#port = port;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy in front of a port. */
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
    // Data that was sent to the service arrives, even if the client has gone.
    if (line.held?.length) this.#orphans.add(line);
    else line.end();
  }

  #hear(line: Line, service: Socket, piece: Buffer): void {
    if (line.isLeft || line.isCut) return void service.destroy();
    this.#overtake(line);
    if (line.isPosting && this.losesResponse) {
      this.losesResponse = false;
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

  /** Records that a connection has data while earlier ones are stalled. */
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

  /** Cuts all connections, or those that match. */
  cut(matches = (): boolean => true): void {
    for (const line of this.#lines) {
      if (line.isCut || !matches()) continue;
      this.done.cuts++;
      line.held = undefined;
      line.end();
    }
  }

  /** Stalls the current connections, or those that match, in both directions. They stay open. */
  stall(matches = (): boolean => true): void {
    for (const line of this.#lines) {
      if (line.held || !matches()) continue;
      line.held = [];
      this.done.stalled++;
    }
  }

  /** Releases the held data, newest connection first. */
  release(matches = (): boolean => true): void {
    for (const line of [...this.#orphans, ...this.#lines].reverse()) {
      if (!line.held || !matches()) continue;
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
