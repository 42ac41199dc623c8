// The class Socket of k6/x/tcp.

const EVENTS = ['connect', 'data', 'close', 'error', 'timeout'];

class Socket {
  #state = 'disconnected';
  #handlers = {};
  #tags;
  #link;
  #opened = 0;
  #written = 0;
  #read = 0;
  #timeout = 0;
  #timer;

  constructor(options) {
    this.#tags = { ...options?.tags };
  }

  get ready_state() {
    return this.#state;
  }

  get connected() {
    return this.#state === 'open';
  }

  get local_ip() {
    return this.#link?.local_ip;
  }

  get local_port() {
    return this.#link?.local_port;
  }

  get remote_ip() {
    return this.#link?.remote_ip;
  }

  get remote_port() {
    return this.#link?.remote_port;
  }

  get bytes_written() {
    return this.#written;
  }

  get bytes_read() {
    return this.#read;
  }

  on(event, listener) {
    if (!EVENTS.includes(event)) {
      throw new Error(`unknown event ${event}: a socket has ${EVENTS.join(', ')}`);
    }
    this.#handlers[event] = listener;
    return this;
  }

  async connect(port, host) {
    const options = typeof port === 'object' && port !== null ? port : { port, host };
    if (this.#state !== 'disconnected') {
      throw new Error(`a socket can be connected once, and this one is ${this.#state}`);
    }
    this.#tags = { ...this.#tags, ...options.tags };
    this.#state = 'opening';
    let link;
    try {
      link = await native.connect(
        String(options.host ?? 'localhost'),
        Number(options.port),
        Boolean(options.tls),
        (bytes) => this.#receive(bytes),
        (reason) => this.#end(reason),
      );
    } catch (error) {
      this.#state = 'destroyed';
      this.#fail(error);
      this.#emit('close');
      throw error;
    }
    this.#link = link;
    this.#opened = native.now();
    this.#sample('tcp_sockets', 1);
    this.#sample('tcp_socket_resolving', link.resolving);
    this.#sample('tcp_socket_connecting', link.connecting);
    if (this.#state === 'destroyed') {
      // destroy() was called while the connection was being opened.
      link.close();
      return;
    }
    this.#state = 'open';
    this.#restartTimer();
    this.#emit('connect');
  }

  async write(data, options) {
    if (this.#state !== 'open') {
      throw new Error(`cannot write to a socket that is ${this.#state}`);
    }
    const tags = { ...this.#tags, ...options?.tags };
    try {
      const count = await this.#link.write(data, options?.encoding ?? 'utf8');
      this.#written += count;
      native.sample('tcp_writes', 1, tags);
    } catch (error) {
      if (this.#link.has_partial_write) {
        native.sample('tcp_partial_writes', 1, tags);
      }
      native.sample('tcp_errors', 1, tags);
      throw error;
    }
  }

  destroy() {
    if (this.#state === 'destroyed') {
      return;
    }
    const before = this.#state;
    this.#state = 'destroyed';
    if (before === 'open') {
      this.#link.close();
    } else if (before === 'disconnected') {
      this.#emit('close');
    }
  }

  setTimeout(timeout) {
    this.#timeout = Number(timeout) || 0;
    this.#restartTimer();
    return this;
  }

  #receive(bytes) {
    if (this.#state === 'destroyed') {
      return;
    }
    this.#read += bytes.length;
    this.#sample('tcp_reads', 1);
    this.#restartTimer();
    this.#emit('data', bytes);
  }

  // The connection has ended. Without a reason, this side closed it; otherwise the peer or an error did.
  #end(reason) {
    clear(this.#timer);
    this.#state = 'destroyed';
    this.#sample('tcp_socket_duration', native.now() - this.#opened);
    if (reason !== undefined) {
      this.#fail(new Error(reason));
    }
    this.#emit('close');
  }

  #fail(error) {
    this.#sample('tcp_errors', 1);
    this.#emit('error', error);
  }

  #restartTimer() {
    clear(this.#timer);
    this.#timer = undefined;
    if (this.#timeout > 0 && this.#state === 'open') {
      this.#timer = native.setTimeout(() => {
        this.#sample('tcp_timeouts', 1);
        this.#emit('timeout');
      }, this.#timeout);
    }
  }

  #sample(metric, value) {
    native.sample(metric, value, this.#tags);
  }

  #emit(event, ...values) {
    this.#handlers[event]?.(...values);
  }
}

const clear = (timer) => {
  if (timer !== undefined) {
    native.clearTimeout(timer);
  }
};
