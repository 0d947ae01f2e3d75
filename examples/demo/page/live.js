// The socket to the demo: commands out, answers and what happens in.

/** Commands that may wait for their answers. */
const MAX_WAITING = 32;
/** Pauses before the socket is opened again, ms. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 5000];

/** Milliseconds an answer may take. */
const ANSWER_TIMEOUT = 15_000;

export class Live extends EventTarget {
  #socket = null;
  #waiting = new Map();
  #next = 1;
  #pause = FIRST_PAUSE;

  /** Opens the socket, and again whenever it is lost. */
  open() {
    const socket = this.#socket = new WebSocket(
      new URL("live", location.href.replace(/^http/, "ws")),
    );
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ reason }) => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The connection was lost"));
      this.#waiting.clear();
      this.#tell("state", { state: "lost", reason });
      setTimeout(() => this.open(), this.#pause);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    };
  }

  /** Sends a command; resolves to the text of its answer. */
  ask(command) {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error("There is no connection to the demo now"));
    }
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(new Error("Too much waits for an answer: wait a moment"));
    }
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error("No answer came in time"));
      }, ANSWER_TIMEOUT);
      this.#waiting.set(id, {
        resolve: (value) => (clearTimeout(timer), resolve(value)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      this.#socket.send(JSON.stringify({ id, ...command }));
    });
  }

  #receive(message) {
    if (message.is === "answer") {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.ok) waiting?.resolve(message);
      else waiting?.reject(new Error(message.text));
      return;
    }
    if (message.is === "hello") {
      this.#pause = FIRST_PAUSE;
      this.#tell("state", { state: "open", store: message.store });
    }
    this.#tell(message.is, message);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
