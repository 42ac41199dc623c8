// Writable streams of the Streams Standard (https://streams.spec.whatwg.org). k6 does not have them. The names follow
// the algorithms of the standard.
(function (tools) {
  'use strict';
  const { internals, of, handled, deferred, method, highWaterMark, constructor, ReadableStream } = tools;
  const CLOSE = {};

  const isClosing = (stream) => stream.closeRequest !== undefined || stream.isClosing;
  const desiredSize = (controller) => controller.mark - controller.total;

  const called = (body) => {
    try {
      return Promise.resolve(body());
    } catch (reason) {
      return Promise.reject(reason);
    }
  };

  const rejectReady = (writer, reason) => {
    if (writer.isReady) [writer.ready, writer.isReady] = [deferred(), false];
    handled(writer.ready.promise);
    writer.ready.reject(reason);
  };

  const updateBackpressure = (stream) => {
    const { writer } = stream;
    if (stream.state !== 'writable' || isClosing(stream) || !writer) return;
    const hasSpace = desiredSize(stream.controller) > 0;
    if (hasSpace === writer.isReady) return;
    writer.isReady = hasSpace;
    if (hasSpace) writer.ready.resolve(undefined);
    else writer.ready = deferred();
  };

  const rejectClosed = (stream) => {
    stream.closeRequest?.reject(stream.reason);
    stream.closeRequest = undefined;
    if (stream.writer) {
      handled(stream.writer.closed.promise);
      stream.writer.closed.reject(stream.reason);
    }
  };

  const finishErroring = (stream) => {
    const { controller } = stream;
    stream.state = 'errored';
    [controller.queue, controller.total] = [[], 0];
    stream.requests.splice(0).forEach(({ reject }) => reject(stream.reason));
    const abort = stream.pendingAbort;
    stream.pendingAbort = undefined;
    if (!abort) return rejectClosed(stream);
    if (abort.wasErroring) {
      abort.reject(stream.reason);
      return rejectClosed(stream);
    }
    called(() => controller.abort?.(abort.reason)).then(abort.resolve, abort.reject).then(() => rejectClosed(stream));
  };

  const startErroring = (stream, reason) => {
    [stream.state, stream.reason] = ['erroring', reason];
    if (stream.writer) rejectReady(stream.writer, reason);
    if (!stream.inFlight && stream.controller.started) finishErroring(stream);
  };

  const fail = (stream, reason) => {
    if (stream.state === 'writable') startErroring(stream, reason);
    else if (stream.state === 'erroring') finishErroring(stream);
  };

  const advance = (stream) => {
    const { controller } = stream;
    if (!controller.started || stream.inFlight) return;
    if (stream.state === 'erroring') return finishErroring(stream);
    if (stream.state !== 'writable' || controller.queue.length === 0) return;
    const [first] = controller.queue;
    const ended = () => {
      const request = stream.inFlight;
      stream.inFlight = undefined;
      return request;
    };
    if (first === CLOSE) {
      controller.queue.shift();
      [stream.inFlight, stream.closeRequest, stream.isClosing] = [stream.closeRequest, undefined, true];
      called(() => controller.close?.()).then(
        () => {
          ended().resolve(undefined);
          stream.pendingAbort?.resolve(undefined);
          [stream.pendingAbort, stream.state] = [undefined, 'closed'];
          stream.writer?.closed.resolve(undefined);
        },
        (reason) => {
          ended().reject(reason);
          stream.pendingAbort?.reject(reason);
          stream.pendingAbort = undefined;
          fail(stream, reason);
        },
      );
      return;
    }
    stream.inFlight = stream.requests.shift();
    called(() => controller.write?.(first.chunk)).then(
      () => {
        ended().resolve(undefined);
        if (controller.queue[0] === first) {
          controller.queue.shift();
          controller.total = Math.max(0, controller.total - first.size);
        }
        updateBackpressure(stream);
        advance(stream);
      },
      (reason) => {
        ended().reject(reason);
        fail(stream, reason);
      },
    );
  };

  const abort = (stream, reason) => {
    if (stream.state === 'closed' || stream.state === 'errored') return Promise.resolve(undefined);
    if (stream.pendingAbort) return stream.pendingAbort.promise;
    const wasErroring = stream.state === 'erroring';
    stream.pendingAbort = { ...deferred(), wasErroring, reason: wasErroring ? undefined : reason };
    const { promise } = stream.pendingAbort;
    if (!wasErroring) startErroring(stream, reason);
    return promise;
  };

  const close = (stream) => {
    if (stream.state === 'closed' || stream.state === 'errored' || isClosing(stream)) {
      return Promise.reject(new TypeError('the stream is closed, or is being closed'));
    }
    const request = stream.closeRequest = deferred();
    if (stream.writer && !stream.writer.isReady && stream.state === 'writable') {
      stream.writer.isReady = true;
      stream.writer.ready.resolve(undefined);
    }
    stream.controller.queue.push(CLOSE);
    advance(stream);
    return request.promise;
  };

  const write = (stream, chunk) => {
    const { controller } = stream;
    let size = 1;
    try {
      if (controller.size) size = Number(controller.size(chunk));
      if (Number.isNaN(size) || size < 0 || size === Infinity) throw new RangeError('a chunk has an invalid size');
    } catch (reason) {
      if (stream.state === 'writable') startErroring(stream, reason);
    }
    if (stream.state === 'errored' || stream.state === 'erroring') return Promise.reject(stream.reason);
    if (stream.state === 'closed' || isClosing(stream)) {
      return Promise.reject(new TypeError('the stream is closed, or is being closed'));
    }
    const request = deferred();
    stream.requests.push(request);
    controller.queue.push({ chunk, size });
    controller.total += size;
    updateBackpressure(stream);
    advance(stream);
    return request.promise;
  };

  class WritableStreamDefaultController {
    error(reason) {
      const { stream } = of(this, 'writable controller');
      if (stream.state === 'writable') startErroring(stream, reason);
    }
  }

  const attempt = (body) => {
    try {
      return body();
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };

  class WritableStream {
    constructor(sink = {}, strategy = {}) {
      if (sink === null || typeof sink !== 'object') throw new TypeError('the underlying sink must be an object');
      if (sink.type !== undefined) throw new RangeError(`unknown type of stream '${sink.type}'`);
      const stream = { kind: 'writable stream', state: 'writable', requests: [], isClosing: false };
      const object = Object.create(WritableStreamDefaultController.prototype);
      const bound = (name) => {
        const found = method(sink, name);
        return found && ((...values) => found.call(sink, ...values));
      };
      const [start, put] = [bound('start'), bound('write')];
      const controller = {
        kind: 'writable controller', stream, queue: [], total: 0, started: false,
        mark: highWaterMark(strategy, 1), size: method(strategy ?? undefined, 'size'),
        write: put && ((chunk) => put(chunk, object)), close: bound('close'), abort: bound('abort'),
      };
      stream.controller = controller;
      internals.set(object, controller);
      internals.set(this, stream);
      const begun = start?.(object);
      Promise.resolve(begun).then(
        () => {
          controller.started = true;
          advance(stream);
        },
        (reason) => {
          controller.started = true;
          fail(stream, reason);
        },
      );
    }

    get locked() {
      return of(this, 'writable stream').writer !== undefined;
    }

    abort(reason) {
      return attempt(() => {
        const stream = of(this, 'writable stream');
        if (stream.writer) throw new TypeError('cannot abort a locked stream');
        return abort(stream, reason);
      });
    }

    close() {
      return attempt(() => {
        const stream = of(this, 'writable stream');
        if (stream.writer) throw new TypeError('cannot close a locked stream');
        return close(stream);
      });
    }

    getWriter() {
      return new WritableStreamDefaultWriter(this);
    }
  }

  class WritableStreamDefaultWriter {
    constructor(object) {
      if (object === null || typeof object !== 'object') throw new TypeError('a writer needs a WritableStream');
      const stream = of(object, 'writable stream');
      if (stream.writer) throw new TypeError('stream is locked');
      const writer = { kind: 'writer', stream, ready: deferred(), closed: deferred(), isReady: false };
      stream.writer = writer;
      internals.set(this, writer);
      if (stream.state === 'writable') {
        writer.isReady = isClosing(stream) || desiredSize(stream.controller) > 0;
        if (writer.isReady) writer.ready.resolve(undefined);
      } else if (stream.state === 'closed') {
        writer.isReady = true;
        writer.ready.resolve(undefined);
        writer.closed.resolve(undefined);
      } else {
        rejectReady(writer, stream.reason);
        if (stream.state === 'errored') {
          handled(writer.closed.promise);
          writer.closed.reject(stream.reason);
        }
      }
    }

    get closed() {
      return attempt(() => of(this, 'writer').closed.promise);
    }

    get ready() {
      return attempt(() => of(this, 'writer').ready.promise);
    }

    get desiredSize() {
      const { stream } = of(this, 'writer');
      if (!stream) throw new TypeError('the writer has been released');
      if (stream.state === 'errored' || stream.state === 'erroring') return null;
      return stream.state === 'closed' ? 0 : desiredSize(stream.controller);
    }

    abort(reason) {
      return attempt(() => abort(attached(this), reason));
    }

    close() {
      return attempt(() => close(attached(this)));
    }

    write(chunk) {
      return attempt(() => write(attached(this), chunk));
    }

    releaseLock() {
      const writer = of(this, 'writer');
      const { stream } = writer;
      if (!stream) return;
      const released = new TypeError('the writer has been released');
      rejectReady(writer, released);
      if (stream.state === 'closed' || stream.state === 'errored') writer.closed = deferred();
      handled(writer.closed.promise);
      writer.closed.reject(released);
      [stream.writer, writer.stream] = [undefined, undefined];
    }
  }

  const attached = (object) => {
    const { stream } = of(object, 'writer');
    if (!stream) throw new TypeError('the writer has been released');
    return stream;
  };

  class ByteLengthQueuingStrategy {
    constructor(options) {
      if (options === null || typeof options !== 'object' || options.highWaterMark === undefined) {
        throw new TypeError('ByteLengthQueuingStrategy needs a highWaterMark');
      }
      internals.set(this, { kind: 'strategy of bytes', mark: options.highWaterMark });
    }

    get highWaterMark() {
      return of(this, 'strategy of bytes').mark;
    }

    get size() {
      return (chunk) => chunk.byteLength;
    }
  }

  // Writes all chunks of a readable stream.
  const pipe = async (source, target, options) => {
    const { preventClose, preventAbort, preventCancel } = options ?? {};
    const reader = source.getReader();
    const writer = new WritableStreamDefaultWriter(target);
    try {
      for (;;) {
        try {
          await writer.ready;
        } catch (reason) {
          if (!preventCancel) await reader.cancel(reason);
          throw reason;
        }
        let next;
        try {
          next = await reader.read();
        } catch (reason) {
          if (!preventAbort) await writer.abort(reason);
          throw reason;
        }
        if (next.done) break;
        handled(writer.write(next.value));
      }
      if (!preventClose) await writer.close();
    } finally {
      writer.releaseLock();
      reader.releaseLock();
    }
  };
  ReadableStream.prototype.pipeTo = function pipeTo(target, options) {
    return pipe(this, target, options);
  };

  return {
    ByteLengthQueuingStrategy: constructor(ByteLengthQueuingStrategy),
    WritableStream: constructor(WritableStream),
    WritableStreamDefaultWriter: constructor(WritableStreamDefaultWriter),
  };
})
