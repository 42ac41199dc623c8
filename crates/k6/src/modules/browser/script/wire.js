// Commands to Chromium and its events: one wire per iteration, one session per page.

const DEFAULT_TIMEOUT = 30000;

/** Whether callbacks run with the tags with which they were registered. */
const bindsCallbacks = native.bindsCallbacks();

/** The wire of this iteration. */
let wire = null;

/** The wire. Connects it first if a new iteration has none. */
function connected() {
  if (!wire || !native.isConnected()) {
    wire = new Wire(JSON.parse(native.connect()).result);
  }
  return wire;
}

native.receive((message, error) => {
  if (message === null) wire?.fail(error);
  else wire?.receive(JSON.parse(message));
});

class Wire {
  constructor(version) {
    this.version = version;
    // As in k6, servers see the same browser with and without windows.
    this.userAgent = version.userAgent.replace('HeadlessChrome', 'Chrome');
    this.lastId = 0;
    this.pending = new Map();
    this.sessions = new Map();
    this.contexts = [];
    this.isReceiving = false;
    this.failure = null;
    this.root = new Session(this, undefined);
  }

  /**
   * Sends a command. Returns a promise of its result. With `timeout`, it gives up after that many milliseconds, for
   * commands that Chromium may never respond to.
   */
  send(sessionId, method, params, timeout) {
    if (this.failure) return Promise.reject(new Error(this.failure));
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const command = { method, sessionId, resolve, reject, timer: undefined };
      if (timeout !== undefined) {
        command.timer = native.setTimeout(() => {
          command.timer = undefined;
          const error = new TimedOut(`${method} timed out after ${timeout}ms`);
          error.method = method;
          this.settle(id)?.reject(error);
        }, timeout);
      }
      this.pending.set(id, command);
      native.hold(1);
      native.send(JSON.stringify({ id, sessionId, method, params }));
    });
  }

  /** Removes a command from the list of pending commands. */
  settle(id) {
    const command = this.pending.get(id);
    if (command) {
      this.pending.delete(id);
      if (command.timer !== undefined) native.clearTimeout(command.timer);
      native.hold(-1);
    }
    return command;
  }

  receive(message) {
    this.isReceiving = true;
    try {
      this.dispatch(message);
    } finally {
      this.isReceiving = false;
    }
  }

  dispatch(message) {
    if (message.id !== undefined) {
      const command = this.settle(message.id);
      if (!command) return;
      if (message.error) command.reject(new CommandError(command.method, message.error));
      else command.resolve(message.result);
      return;
    }
    if (message.method === 'Target.detachedFromTarget') {
      this.detached(message.params.sessionId);
    }
    const session = message.sessionId === undefined ? this.root : this.sessions.get(message.sessionId);
    session?.emit(message.method, message.params);
  }

  /** Reports that a page has ended: its commands will get no response. */
  detached(sessionId, reason = 'the page was closed') {
    for (const [id, command] of [...this.pending]) {
      if (command.sessionId === sessionId) this.settle(id).reject(new Closed(`${command.method}: ${reason}`));
    }
    this.sessions.get(sessionId)?.emit('detached', reason);
    this.sessions.delete(sessionId);
  }

  /** Reports that Chromium has ended. */
  fail(error) {
    this.failure = error;
    for (const id of [...this.pending.keys()]) this.settle(id).reject(new Closed(error));
    for (const session of [...this.sessions.values()]) session.emit('detached', error);
    this.sessions.clear();
  }

  session(sessionId) {
    const session = new Session(this, sessionId);
    this.sessions.set(sessionId, session);
    return session;
  }
}

/** Why a command failed. */
class CommandError extends Error {
  constructor(method, error) {
    super(error.data ? `${error.message}: ${error.data}` : error.message);
    this.method = method;
    this.code = error.code;
  }
}

class TimedOut extends Error {}
TimedOut.prototype.name = 'TimeoutError';

class Closed extends Error {}

/** Functions by event. */
class Emitter {
  constructor() {
    this.listeners = new Map();
  }

  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event).add(listener);
    return () => this.listeners.get(event)?.delete(listener);
  }

  has(event) {
    return (this.listeners.get(event)?.size ?? 0) > 0;
  }

  emit(event, value) {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(value);
  }

  /**
   * Waits until `accept` returns something other than undefined for one of `events`, which `read` may know already.
   * Rejects after `timeout` milliseconds (0: never) or when the emitter ends.
   */
  wait(events, accept, timeout, what) {
    return new Promise((resolve, reject) => {
      const undo = [];
      const end = (settle, value) => {
        for (const one of undo) one();
        native.hold(-1);
        settle(value);
      };
      native.hold(1);
      for (const event of events) {
        undo.push(this.on(event, (value) => {
          let accepted;
          try {
            accepted = accept(value, event);
          } catch (error) {
            return end(reject, error);
          }
          if (accepted !== undefined) end(resolve, accepted);
        }));
      }
      undo.push(this.on('detached', (reason) => end(reject, new Closed(`${what}: ${reason}`))));
      if (timeout > 0) {
        const timer = native.setTimeout(() => {
          timed = true;
          end(reject, new TimedOut(`${what}: timed out after ${timeout}ms`));
        }, timeout);
        let timed = false;
        undo.push(() => timed || native.clearTimeout(timer));
      }
    });
  }
}

/** Commands and events of one target. */
class Session extends Emitter {
  constructor(wire, id) {
    super();
    this.wire = wire;
    this.id = id;
    this.sample = native.sample;
  }

  send(method, params = {}, timeout = undefined) {
    if (this.id !== undefined && !this.wire.sessions.has(this.id) && !this.wire.failure) {
      return Promise.reject(new Closed('the page was closed'));
    }
    // Chromium does not say which command causes a request, so what follows has the tags of the latest command.
    if (bindsCallbacks && !this.wire.isReceiving) this.sample = native.bind(native.sample);
    return this.wire.send(this.id, method, params, timeout);
  }

  wait(events, accept, timeout, what) {
    if (this.id !== undefined && !this.wire.sessions.has(this.id)) {
      return Promise.reject(new Closed(`${what}: the page was closed`));
    }
    return super.wait(events, accept, timeout, what);
  }

  /** Sends a command whose outcome does not matter, because its page may end meanwhile. */
  tell(method, params = {}) {
    this.send(method, params).catch(() => {});
  }
}

/** A promise that resolves after a while. Events are processed meanwhile. */
function delay(milliseconds) {
  native.hold(1);
  return new Promise((resolve) => native.setTimeout(resolve, milliseconds)).finally(() => native.hold(-1));
}

/** Whether a command failed because the page has navigated. Repeating it can succeed then. */
function isStale(error) {
  return error instanceof CommandError
    && /context was destroyed|Cannot find context|Inspected target navigated|find (object|node) with|Node with given id does not belong|Argument should belong to the same/i.test(error.message);
}

