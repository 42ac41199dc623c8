// The class Client of k6/x/mqtt.

const QoS = { AtMostOnce: 0, AtLeastOnce: 1, ExactlyOnce: 2 };

const EVENTS = ['connect', 'message', 'end', 'reconnect', 'error'];

// How long a client that is closing waits for acknowledgements, in milliseconds.
const GRACE = 250;

// The reasons why a broker refuses a connection (section 3.2.2.3 of the standard).
const REFUSALS = [
  '',
  'it does not support MQTT 3.1.1',
  'it does not accept the client identifier',
  'it is unavailable',
  'the user name or the password is malformed',
  'the client is not authorized',
];

class Client {
  #options;
  #tags;
  #handlers = {};
  #servers = [];
  #connectOptions = {};
  #session;

  constructor(options) {
    this.#options = options ?? {};
    this.#tags = { ...options?.tags };
  }

  get connected() {
    return this.#session?.isConnected ?? false;
  }

  on(event, listener) {
    if (!EVENTS.includes(event)) {
      throw new Error(`unknown event ${event}: an MQTT client has ${EVENTS.join(', ')}`);
    }
    this.#handlers[event] = listener;
  }

  connect(url, options) {
    const given = typeof url === 'object' && url !== null ? url : options;
    const urls = typeof url === 'string' ? [url] : [];
    this.#servers = [...urls, ...(given?.servers ?? [])].map(parse);
    if (this.#servers.length === 0) {
      throw mqttError('connect', 'no broker is given: write client.connect("mqtt://HOST:PORT")');
    }
    this.#connectOptions = given ?? {};
    this.#start('connect');
  }

  reconnect() {
    if (this.#servers.length === 0) {
      throw mqttError('reconnect', 'the client was never connected');
    }
    this.#session?.close();
    this.#emit('reconnect');
    this.#start('reconnect');
  }

  publish(topic, payload, options) {
    this.#quietly('publish', this.#publish('publish', topic, payload, options));
  }

  publishAsync(topic, payload, options) {
    return this.#publish('publishAsync', topic, payload, options);
  }

  subscribe(topic, options) {
    this.#quietly('subscribe', this.#subscribe('subscribe', topic, options));
  }

  subscribeAsync(topic, options) {
    return this.#subscribe('subscribeAsync', topic, options);
  }

  unsubscribe(topic) {
    this.#quietly('unsubscribe', this.#unsubscribe('unsubscribe', topic));
  }

  unsubscribeAsync(topic) {
    return this.#unsubscribe('unsubscribeAsync', topic);
  }

  end() {
    this.#quietly('end', this.endAsync());
  }

  async endAsync() {
    await this.#session?.end();
  }

  #start(method) {
    const session = new Session({
      servers: this.#servers,
      client: this.#options,
      options: this.#connectOptions,
      tags: { ...this.#tags, ...this.#connectOptions.tags },
      emit: (event, ...values) => {
        // A client that has reconnected has another session.
        if (this.#session === session) this.#emit(event, ...values);
      },
      fail: (text) => this.#fail(method, text),
    });
    this.#session = session;
    session.open();
  }

  async #publish(method, topic, payload, options) {
    const session = this.#open(method);
    await session.publish(topic, payload, options ?? {});
  }

  async #subscribe(method, topic, options) {
    const session = this.#open(method);
    const topics = list(topic);
    const codes = await session.request((id) => native.subscribePacket(id, topics, options?.qos));
    const refused = topics.filter((_, at) => codes[at] === 128);
    if (refused.length > 0) {
      throw mqttError(method, `the broker refused the subscription to ${refused.join(', ')}`);
    }
  }

  async #unsubscribe(method, topic) {
    const session = this.#open(method);
    await session.request((id) => native.unsubscribePacket(id, list(topic)));
  }

  #open(method) {
    if (!this.connected) {
      throw mqttError(method, 'the client is not connected');
    }
    return this.#session;
  }

  // Handles the outcome of a call that does not return one.
  #quietly(method, promise) {
    promise.catch((error) => this.#fail(method, error.message));
  }

  #fail(method, text) {
    native.sample('mqtt_errors', 1, this.#tags);
    const error = mqttError(method, text);
    if (this.#handlers.error === undefined) {
      console.error(`${error.name}: ${error.message}`);
    }
    this.#emit('error', error);
  }

  #emit(event, ...values) {
    this.#handlers[event]?.(...values);
  }
}

// One connection to a broker.
class Session {
  isConnected = false;
  #owner;
  #link;
  #decoder = native.decoder();
  #hasEnded = false;
  #isEnding = false;
  #started = native.now();
  #timer;
  #pings;
  #isPinged = false;
  #lastId = 0;
  // The pending acknowledgements, by packet id.
  #waiting = new Map();
  // The received messages with QoS 2 that were not released yet.
  #unreleased = new Set();
  // Called when the broker has acknowledged everything.
  #onSettled;

  constructor(owner) {
    this.#owner = owner;
  }

  async open() {
    const { options } = this.#owner;
    const timeout = options.connect_timeout ?? 30000;
    this.#timer = native.setTimeout(
      () => this.#break(`no connection within ${timeout} ms`),
      timeout,
    );
    let server;
    for (server of this.#owner.servers) {
      try {
        const link = await native.connect(
          server.host,
          server.port,
          server.isTls,
          (bytes) => this.#receive(bytes),
          (reason) => this.#closed(reason),
        );
        if (this.#hasEnded) {
          link.close();
          return;
        }
        this.#link = link;
        break;
      } catch (error) {
        if (this.#hasEnded) {
          return;
        }
        if (server === this.#owner.servers.at(-1)) {
          this.#break(error.message);
          return;
        }
      }
    }
    try {
      this.#send(native.connectPacket(this.#introduction(server)));
    } catch (error) {
      this.#break(error.message);
    }
  }

  #introduction(server) {
    const { client, options } = this.#owner;
    const given = client.credentials_provider?.() ?? client;
    return {
      client_id: client.client_id ?? client.clientId,
      username: given.username ?? server.username,
      password: given.password ?? server.password,
      will: client.will,
      keepalive: options.keepalive ?? 60,
      clean_session: options.clean_session ?? true,
    };
  }

  async publish(topic, payload, options) {
    const tags = { ...this.#owner.tags, ...options.tags };
    const qos = Number(options.qos ?? 0);
    const packet = (id) => native.publishPacket(topic, payload, qos, options.retain, id);
    if (qos === 0) {
      await this.#send(packet(0));
    } else {
      const started = native.now();
      await this.request(packet);
      native.sample('mqtt_publish_duration', native.now() - started, tags);
    }
    native.sample('mqtt_messages_sent', 1, tags);
  }

  // Sends a packet with its own id. Returns a promise of its acknowledgement.
  request(packet) {
    return new Promise((resolve, reject) => {
      let id = this.#lastId;
      do {
        id = (id % 65535) + 1;
      } while (this.#waiting.has(id) && id !== this.#lastId);
      this.#lastId = id;
      const bytes = packet(id);
      this.#waiting.set(id, { resolve, reject });
      this.#send(bytes);
    });
  }

  async end() {
    if (this.#hasEnded || this.#isEnding) {
      return;
    }
    if (this.isConnected) {
      this.#isEnding = true;
      await this.#settled();
      if (this.#hasEnded) {
        return;
      }
      await this.#send(native.disconnectPacket());
    }
    this.close();
  }

  // Waits until the broker has acknowledged everything, or until the time limit.
  #settled() {
    if (this.#waiting.size === 0) {
      return undefined;
    }
    return new Promise((resolve) => {
      const timer = native.setTimeout(resolve, GRACE);
      this.#onSettled = () => {
        native.clearTimeout(timer);
        resolve();
      };
    });
  }

  close() {
    this.#isEnding = true;
    if (this.#link === undefined) {
      this.#finish();
    } else {
      this.#link.close();
    }
  }

  #send(bytes) {
    const sent = this.#link.write(bytes);
    // The error handlers are notified of this. The end of the connection is reported only once.
    sent.catch(() => {});
    return sent;
  }

  #receive(bytes) {
    if (this.#hasEnded) {
      return;
    }
    let packets;
    try {
      packets = this.#decoder.read(bytes);
    } catch (error) {
      this.#break(error.message);
      return;
    }
    for (const [kind, id, ...content] of packets) {
      this.#packet(kind, id, content);
    }
  }

  #packet(kind, id, content) {
    switch (kind) {
      case 'connack':
        this.#accepted(id);
        break;
      case 'publish':
        this.#message(id, ...content);
        break;
      case 'pubrec':
        this.#send(native.acknowledgement(6, id));
        break;
      case 'pubrel':
        this.#unreleased.delete(id);
        this.#send(native.acknowledgement(7, id));
        break;
      case 'pingresp':
        this.#isPinged = false;
        break;
      default:
        this.#waiting.get(id)?.resolve(content[0]);
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) {
          this.#onSettled?.();
        }
    }
  }

  #accepted(code) {
    if (this.isConnected) {
      return;
    }
    if (code !== 0) {
      this.#break(`the broker refused the connection: ${REFUSALS[code] ?? `code ${code}`}`);
      return;
    }
    native.clearTimeout(this.#timer);
    this.isConnected = true;
    native.sample('mqtt_connecting', native.now() - this.#started, this.#owner.tags);
    const keepalive = this.#owner.options.keepalive ?? 60;
    if (keepalive > 0) {
      this.#pings = native.setInterval(() => this.#ping(), keepalive * 1000);
    }
    this.#owner.emit('connect');
  }

  #message(id, topic, payload, qos) {
    const isNew = qos < 2 || !this.#unreleased.has(id);
    if (qos === 1) {
      this.#send(native.acknowledgement(4, id));
    } else if (qos === 2) {
      this.#unreleased.add(id);
      this.#send(native.acknowledgement(5, id));
    }
    if (isNew) {
      native.sample('mqtt_messages_received', 1, this.#owner.tags);
      this.#owner.emit('message', topic, payload);
    }
  }

  #ping() {
    if (this.#isPinged) {
      this.#break('the broker does not respond to pings');
      return;
    }
    this.#isPinged = true;
    this.#send(native.pingPacket());
  }

  // Ends the connection because of an error.
  #break(text) {
    if (this.#hasEnded) {
      return;
    }
    this.#isEnding = true;
    this.#owner.fail(text);
    this.close();
  }

  #closed(reason) {
    if (!this.#isEnding) {
      this.#owner.fail(reason ?? 'the broker closed the connection');
    }
    this.#finish();
  }

  #finish() {
    if (this.#hasEnded) {
      return;
    }
    this.#hasEnded = true;
    this.isConnected = false;
    native.clearTimeout(this.#timer);
    if (this.#pings !== undefined) {
      native.clearTimeout(this.#pings);
    }
    for (const { reject } of this.#waiting.values()) {
      reject(new Error('the connection has ended'));
    }
    this.#waiting.clear();
    this.#onSettled?.();
    this.#owner.emit('end');
  }
}

const list = (topic) => (Array.isArray(topic) ? topic : [topic]);

const mqttError = (method, text) => {
  const error = new Error(text);
  error.name = 'MQTTError';
  error.method = method;
  return error;
};

// The parts of a broker's address.
const parse = (url) => {
  const match = /^(?:([a-z]+):\/\/)?(?:([^@/]*)@)?(\[[^\]]+\]|[^:/?#]+)(?::(\d+))?\/?$/i.exec(url);
  const scheme = match?.[1]?.toLowerCase() ?? 'mqtt';
  const isTls = ['mqtts', 'ssl', 'tls'].includes(scheme);
  if (match === null || (!isTls && scheme !== 'mqtt' && scheme !== 'tcp')) {
    throw mqttError(
      'connect',
      `${url} is not the address of a broker: write mqtt://HOST:PORT or mqtts://HOST:PORT`,
    );
  }
  const [username, password] = (match[2] ?? '').split(':');
  return {
    isTls,
    host: match[3].replace(/^\[|\]$/g, ''),
    port: Number(match[4] ?? (isTls ? 8883 : 1883)),
    username: username ? decodeURIComponent(username) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
  };
};
