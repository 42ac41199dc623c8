// Values in pages, and the functions that scripts run in pages.

/** Methods that Playwright and sometimes k6 have, but not this module. Calling one explains that. */
function unsupported(type, names) {
  for (const name of names) {
    if (name in type.prototype) continue;
    Object.defineProperty(type.prototype, name, {
      configurable: true,
      enumerable: false,
      writable: true,
      value() {
        throw new Error(`${type.name}.${name} is not supported: neither k6/browser nor Plimsoll has it`);
      },
    });
  }
}

/** An argument for a function that runs in a page. */
function argument(value) {
  if (value instanceof JSHandle) {
    if (value.disposed) throw new Error('the handle was disposed');
    return { objectId: value.remote.objectId };
  }
  if (value === undefined) return {};
  if (typeof value === 'bigint') return { unserializableValue: `${value}n` };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { unserializableValue: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (typeof value === 'function') throw new TypeError('a function cannot be passed to a page');
  return { value };
}

/** The value that a page has returned. */
function valueOf(remote) {
  if (remote.unserializableValue !== undefined) {
    const text = remote.unserializableValue;
    if (text.endsWith('n')) return BigInt(text.slice(0, -1));
    return text === '-0' ? -0 : Number(text);
  }
  // As in k6.
  if (remote.type === 'undefined') return null;
  if (remote.subtype === 'null') return null;
  return remote.value;
}

/** An exception in a page, as an error of the script. */
function pageError(details) {
  const { exception, text } = details;
  const description = exception?.description ?? (exception?.value !== undefined ? String(exception.value) : text);
  return new Error(`evaluating JS: ${description}`);
}

const isFunctionText = (text) => /^(async\b\s*)?(function\b|\(|[\w$]+\s*=>)/.test(text);

/** The source of a function. */
function functionText(given, what) {
  const text = String(given);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) {
    throw new TypeError(`${what}: the text of the function is not known; write the function where it is passed`);
  }
  // A method, `name() {}`.
  return isFunctionText(text) ? text : text.replace(/^(async\s+)?/, '$1function ');
}

/** Runs a function, the source of one, or an expression in the execution context of a frame. */
async function run(context, given, args, byValue, what) {
  if (given === undefined || given === null) throw new TypeError(`${what} requires a function or a text`);
  const { session, id } = context;
  const common = { returnByValue: byValue, awaitPromise: true, userGesture: true };
  const call = (functionDeclaration) => session.send('Runtime.callFunctionOn', {
    functionDeclaration, executionContextId: id, arguments: args.map(argument), ...common,
  });
  let outcome;
  if (typeof given === 'function') {
    outcome = await call(functionText(given, what));
  } else {
    outcome = await session.send('Runtime.evaluate', { expression: String(given), contextId: id, ...common });
    // If the expression is a function, call it.
    if (outcome.result.type === 'function' && !outcome.exceptionDetails) outcome = await call(String(given));
  }
  const { result, exceptionDetails } = outcome;
  if (exceptionDetails) throw pageError(exceptionDetails);
  return byValue ? valueOf(result) : handleOf(context, result);
}

function handleOf(context, remote) {
  return remote.subtype === 'node' ? new ElementHandle(context, remote) : new JSHandle(context, remote);
}

/** A JavaScript value in a page. */
class JSHandle {
  constructor(context, remote) {
    this.context = context;
    this.remote = remote;
    this.disposed = false;
  }

  asElement() {
    return this instanceof ElementHandle ? this : null;
  }

  async dispose() {
    if (this.disposed) return;
    this.disposed = true;
    if (this.remote.objectId) this.context.session.tell('Runtime.releaseObject', { objectId: this.remote.objectId });
  }

  evaluate(pageFunction, ...args) {
    return run(this.context, pageFunction, [this.given(), ...args], true, 'evaluate');
  }

  evaluateHandle(pageFunction, ...args) {
    return run(this.context, pageFunction, [this.given(), ...args], false, 'evaluateHandle');
  }

  /** The handle, or the value itself if the page keeps no object for it. */
  given() {
    return this.remote.objectId ? this : valueOf(this.remote);
  }

  async getProperties() {
    const properties = new Map();
    if (!this.remote.objectId) return properties;
    const { result } = await this.context.session.send('Runtime.getProperties', {
      objectId: this.remote.objectId, ownProperties: true,
    });
    for (const { name, value, enumerable } of result) {
      if (enumerable && value) properties.set(name, handleOf(this.context, value));
    }
    return properties;
  }

  async jsonValue() {
    if (!this.remote.objectId) return valueOf(this.remote);
    const { result, exceptionDetails } = await this.context.session.send('Runtime.callFunctionOn', {
      functionDeclaration: 'function () { return this; }', objectId: this.remote.objectId, returnByValue: true,
    });
    if (exceptionDetails) throw pageError(exceptionDetails);
    return valueOf(result);
  }

  toString() {
    return this.remote.description ?? String(valueOf(this.remote));
  }
}

/** The options of an action: what it waits for, and how long. */
function timeoutOf(options, page) {
  const timeout = options?.timeout;
  return timeout === undefined || timeout === null ? page.defaultTimeout() : Number(timeout);
}

/** An element. It has the same actions as locators. */
class ElementHandle extends JSHandle {
  get frame() {
    return this.context.frame;
  }

  get target() {
    return { frame: this.frame, element: this };
  }

  async $(selector) {
    return (await this.frame.elements([{ selector }], this))[0] ?? null;
  }

  $$(selector) {
    return this.frame.elements([{ selector }], this);
  }

  async contentFrame() {
    const frame = await this.frame.owner.frameOf(this);
    if (!frame) throw new Error('Element is not an <iframe>');
    return frame;
  }

  ownerFrame() {
    return Promise.resolve(this.frame);
  }

  async waitForElementState(state, options) {
    if (!['visible', 'hidden', 'stable', 'enabled', 'disabled', 'editable'].includes(state)) {
      throw new Error(`waitForElementState: unknown state "${state}"`);
    }
    await waitUntil(this.target, state, options, `waiting for the element to be ${state}`);
  }

  waitForSelector(selector, options) {
    return this.frame.waitForSelector(selector, options, this);
  }

  async screenshot(options) {
    const box = await act(this.target, 'box', [], { timeout: timeoutOf(options, this.frame.owner), states: ['visible'] }, 'screenshot');
    const { x, y } = await this.frame.offset();
    return this.frame.owner.screenshot({ ...options, clip: { ...box, x: box.x + x, y: box.y + y } });
  }
}
