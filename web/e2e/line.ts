import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy to a port, which can be cut and restored. */
export class Line {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server, target: number) {
    this.#server = server;
    const address = server.address();
    this.port = typeof address === "object" && address ? address.port : 0;
    server.on("connection", (near) => {
      if (this.#isCut) return near.destroy();
      const far = connect(target, "127.0.0.1");
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
      return;
    });
  }

  static to(target: number): Promise<Line> {
    return new Promise((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => resolve(new Line(server, target)));
    });
  }

  /** Ends all connections and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
