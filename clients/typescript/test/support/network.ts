import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A pair of sockets, and what is done to what goes through it. */
interface Pair {
  readonly client: Socket;
  readonly service: Socket;
  /** What has been held back, towards the client. */
  held: Buffer[] | undefined;
}

/** Something between a client and the service that breaks connections as networks do. */
export class BadNetwork {
  /** How many connections were made, and how many of them were cut. */
  made = 0;
  cuts = 0;
  /** Whether connections are refused. */
  isDown = false;
  /** How many bytes of the next piece go through before its connection is cut, if it is to be. */
  cutAfter: number | undefined;
  readonly #pairs = new Set<Pair>();
  readonly #server: Server;

  private constructor(port: () => number) {
    this.#server = createServer((client) => {
      if (this.isDown) return void client.resetAndDestroy();
      this.made++;
      const pair: Pair = { client, service: connect(port(), "127.0.0.1"), held: undefined };
      this.#pairs.add(pair);
      const end = () => {
        this.#pairs.delete(pair);
        client.destroy();
        pair.service.destroy();
      };
      for (const socket of [client, pair.service]) socket.setNoDelay().on("error", end).on("close", end);
      client.on("data", (piece) => pair.held || pair.service.write(piece));
      pair.service.on("data", (piece) => this.#pass(pair, piece));
    });
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

  get connections(): number {
    return this.#pairs.size;
  }

  #pass(pair: Pair, piece: Buffer): void {
    if (pair.held) return void pair.held.push(piece);
    if (this.cutAfter === undefined) return void pair.client.write(piece);
    const part = piece.subarray(0, this.cutAfter);
    this.cutAfter = undefined;
    this.cuts++;
    pair.client.write(part, () => pair.client.destroy());
    pair.service.destroy();
  }

  /** Cuts all connections. */
  cut(): void {
    for (const { client, service } of this.#pairs) {
      this.cuts++;
      client.resetAndDestroy();
      service.destroy();
    }
  }

  /** From now on the connections that there are stay open and say nothing, in both directions. */
  stall(): void {
    for (const pair of this.#pairs) pair.held ??= [];
  }

  /** What was held back comes after all, later than what came over other connections. */
  release(): void {
    for (const pair of this.#pairs) {
      for (const piece of pair.held ?? []) pair.client.write(piece);
      pair.held = undefined;
    }
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
