// The part of the Streams Standard (https://streams.spec.whatwg.org) that k6/experimental/streams supports. The names
// follow the algorithms of the standard.
(function () {
  'use strict';
  const internals = new WeakMap();
  const of = (object, kind) => {
    const state = internals.get(object);
    if (!state || state.kind !== kind) throw new TypeError(`not a ${kind}`);
    return state;
  };
  const handled = (promise) => {
    promise.then(undefined, () => {});
    return promise;
  };
  const deferred = () => {
    const result = {};
    result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
    return result;
  };
  const method = (object, name) => {
    const found = object === undefined ? undefined : object[name];
    if (found !== undefined && typeof found !== 'function') throw new TypeError(`${name} must be a function`);
    return found;
  };

  const unsupported = (message) => Object.defineProperty(new Error(message), 'name', { value: 'GoError' });

  const highWaterMark = (strategy, standard) => {
    const mark = strategy?.highWaterMark;
    if (mark === undefined || mark === null) return standard;
    if (typeof mark !== 'number' || Number.isNaN(mark) || mark < 0) {
      throw new RangeError('highWaterMark must be a number from 0 up');
    }
    return mark;
  };

  const finish = (stream, outcome, reason) => {
    stream.state = outcome;
    stream.reason = reason;
    const reader = stream.reader;
    if (!reader) return;
    const waiting = reader.waiting.splice(0);
    if (outcome === 'closed') {
      waiting.forEach(({ resolve }) => resolve({ value: undefined, done: true }));
      reader.closed.resolve(undefined);
    } else {
      waiting.forEach(({ reject }) => reject(reason));
      handled(reader.closed.promise);
      reader.closed.reject(reason);
    }
  };

  const clear = (controller) => {
    controller.pull = controller.cancel = controller.size = undefined;
  };
  const fail = (controller, reason) => {
    const stream = controller.stream;
    if (stream.state !== 'readable') return;
    controller.queue = [];
    controller.total = 0;
    clear(controller);
    finish(stream, 'errored', reason);
  };
  const desiredSize = (controller) => {
    const { state } = controller.stream;
    if (state === 'errored') return null;
    return state === 'closed' ? 0 : controller.mark - controller.total;
  };
  const accepts = (controller) => controller.stream.state === 'readable' && !controller.closing;

  const pullIfNeeded = (controller) => {
    const { stream } = controller;
    if (!accepts(controller) || !controller.started) return;
    const isRead = stream.reader && stream.reader.waiting.length > 0;
    if (!isRead && desiredSize(controller) <= 0) return;
    if (controller.pulling) {
      controller.again = true;
      return;
    }
    controller.pulling = true;
    let pulled;
    try {
      pulled = Promise.resolve(controller.pull ? controller.pull() : undefined);
    } catch (reason) {
      pulled = Promise.reject(reason);
    }
    pulled.then(
      () => {
        controller.pulling = false;
        if (controller.again) {
          controller.again = false;
          pullIfNeeded(controller);
        }
      },
      (reason) => fail(controller, reason),
    );
  };

  class ReadableStreamDefaultController {
    get desiredSize() {
      return desiredSize(of(this, 'controller'));
    }

    close() {
      const controller = of(this, 'controller');
      if (!accepts(controller)) throw new TypeError('cannot close or enqueue');
      controller.closing = true;
      if (controller.queue.length === 0) {
        clear(controller);
        finish(controller.stream, 'closed');
      }
    }

    enqueue(chunk) {
      const controller = of(this, 'controller');
      if (!accepts(controller)) throw new TypeError('cannot close or enqueue');
      const { reader } = controller.stream;
      if (reader && reader.waiting.length > 0) {
        reader.waiting.shift().resolve({ value: chunk, done: false });
      } else {
        let size = 1;
        try {
          if (controller.size) size = Number(controller.size(chunk));
          if (Number.isNaN(size) || size < 0 || size === Infinity) throw new RangeError('a chunk has an invalid size');
        } catch (reason) {
          fail(controller, reason);
          throw reason;
        }
        controller.queue.push({ chunk, size });
        controller.total += size;
      }
      pullIfNeeded(controller);
    }

    error(reason) {
      // As in k6, the reason cannot be null.
      if (reason === null) reason = new TypeError('Cannot convert undefined or null to object');
      fail(of(this, 'controller'), reason);
    }
  }

  const cancel = (stream, reason) => {
    if (stream.state === 'closed') return Promise.resolve(undefined);
    if (stream.state === 'errored') return Promise.reject(stream.reason);
    const { controller } = stream;
    const { cancel: own } = controller;
    finish(stream, 'closed');
    controller.queue = [];
    controller.total = 0;
    clear(controller);
    try {
      return Promise.resolve(own ? own(reason) : undefined).then(() => undefined);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };

  class ReadableStream {
    constructor(source, strategy) {
      if (source === undefined) source = {};
      if (source === null || typeof source !== 'object') throw new TypeError('the underlying source must be an object');
      if (source.type !== undefined) {
        if (source.type === 'bytes') throw unsupported('byte streams are not supported');
        throw new TypeError(`unknown type of stream '${source.type}'`);
      }
      if (strategy === null) strategy = undefined;
      if (strategy !== undefined && typeof strategy !== 'object') throw new TypeError('the strategy must be an object');
      const size = strategy?.size === null ? undefined : method(strategy, 'size');
      const stream = { kind: 'stream', state: 'readable', reader: undefined };
      const start = method(source, 'start');
      const [pull, stop] = [method(source, 'pull'), method(source, 'cancel')];
      const object = Object.create(ReadableStreamDefaultController.prototype);
      const controller = {
        kind: 'controller', stream, queue: [], total: 0, mark: highWaterMark(strategy, 1), size,
        pull: pull && (() => pull.call(source, object)), cancel: stop && ((reason) => stop.call(source, reason)),
        started: false, closing: false, pulling: false, again: false,
      };
      internals.set(object, controller);
      stream.controller = controller;
      internals.set(this, stream);
      const started = start ? start.call(source, object) : undefined;
      Promise.resolve(started).then(
        () => {
          controller.started = true;
          pullIfNeeded(controller);
        },
        (reason) => fail(controller, reason),
      );
    }

    get locked() {
      return of(this, 'stream').reader !== undefined;
    }

    cancel(reason) {
      try {
        const stream = of(this, 'stream');
        if (stream.reader) throw new TypeError('cannot cancel a locked stream');
        return cancel(stream, reason);
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    }

    getReader(options) {
      of(this, 'stream');
      if (options !== undefined && options !== null && typeof options !== 'object') {
        throw new TypeError('the options must be an object');
      }
      const mode = options?.mode;
      if (mode === 'byob') throw unsupported(`readers with the mode 'byob' are not supported`);
      if (mode !== undefined) throw new TypeError(`unknown mode of a reader '${mode}'`);
      return new ReadableStreamDefaultReader(this);
    }

    // Two streams with the same chunks. The source is canceled when both of them are.
    tee() {
      of(this, 'stream');
      const reader = new ReadableStreamDefaultReader(this);
      const branches = [0, 1].map(() => ({ isCancelled: false }));
      const open = () => branches.filter((branch) => !branch.isCancelled);
      const cancelled = deferred();
      let [isReading, again] = [false, false];
      const fail = (reason) => {
        open().forEach(({ controller }) => controller.error(reason));
        cancelled.resolve();
      };
      const pull = () => {
        again = isReading;
        if (isReading) return;
        isReading = true;
        reader.read().then(({ value, done }) => {
          isReading = false;
          open().forEach(({ controller }) => (done ? controller.close() : controller.enqueue(value)));
          if (done) cancelled.resolve();
          else if (again) pull();
        }, fail);
      };
      reader.closed.then(undefined, fail);
      return branches.map((branch) => new ReadableStream({
        start(controller) { branch.controller = controller; },
        pull,
        cancel(reason) {
          [branch.isCancelled, branch.reason] = [true, reason];
          if (open().length === 0) cancelled.resolve(reader.cancel(branches.map((each) => each.reason)));
          return cancelled.promise;
        },
      }));
    }
  }

  class ReadableStreamDefaultReader {
    constructor(object) {
      if (object === null || typeof object !== 'object') throw new TypeError('a reader needs a ReadableStream');
      const stream = of(object, 'stream');
      if (stream.reader) throw new TypeError('stream is locked');
      const reader = { kind: 'reader', stream, waiting: [], closed: deferred() };
      stream.reader = reader;
      internals.set(this, reader);
      if (stream.state === 'closed') reader.closed.resolve(undefined);
      if (stream.state === 'errored') {
        handled(reader.closed.promise);
        reader.closed.reject(stream.reason);
      }
    }

    get closed() {
      try {
        return of(this, 'reader').closed.promise;
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    }

    cancel(reason) {
      try {
        const { stream } = of(this, 'reader');
        if (!stream) throw new TypeError('stream is undefined');
        return cancel(stream, reason);
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    }

    read() {
      try {
        const reader = of(this, 'reader');
        const { stream } = reader;
        if (!stream) throw new TypeError('stream is undefined');
        if (stream.state === 'closed') return Promise.resolve({ value: undefined, done: true });
        if (stream.state === 'errored') return Promise.reject(stream.reason);
        const { controller } = stream;
        if (controller.queue.length > 0) {
          const { chunk, size } = controller.queue.shift();
          controller.total = Math.max(0, controller.total - size);
          if (controller.closing && controller.queue.length === 0) {
            clear(controller);
            finish(stream, 'closed');
          } else {
            pullIfNeeded(controller);
          }
          return Promise.resolve({ value: chunk, done: false });
        }
        const request = deferred();
        reader.waiting.push(request);
        pullIfNeeded(controller);
        return request.promise;
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    }

    releaseLock() {
      const reader = of(this, 'reader');
      const { stream } = reader;
      if (!stream) return;
      const isReadable = stream.state === 'readable';
      const released = new TypeError(isReadable ? 'stream is readable' : 'stream is not readable');
      if (!isReadable) reader.closed = deferred();
      handled(reader.closed.promise);
      reader.closed.reject(released);
      reader.waiting.splice(0).forEach(({ reject }) => reject(released));
      stream.reader = undefined;
      reader.stream = undefined;
    }
  }

  class CountQueuingStrategy {
    constructor(options) {
      if (options === null || typeof options !== 'object' || options.highWaterMark === undefined) {
        throw new TypeError('CountQueuingStrategy needs a highWaterMark');
      }
      internals.set(this, { kind: 'strategy', mark: options.highWaterMark });
    }

    get highWaterMark() {
      return of(this, 'strategy').mark;
    }

    get size() {
      return () => 1;
    }
  }

  // As in k6, they can be called without `new`, and the resulting objects are not instances of them.
  const constructor = (Made) => function (...values) { return new Made(...values); };
  const made = {
    CountQueuingStrategy: constructor(CountQueuingStrategy),
    ReadableStream: constructor(ReadableStream),
    ReadableStreamDefaultReader: constructor(ReadableStreamDefaultReader),
  };
  return [made, { internals, of, handled, deferred, method, highWaterMark, constructor, ReadableStream }];
})
