// A frame of a page: its document, and the contexts in which functions run.

class Frame {
  constructor(page, id, parent) {
    this.page_ = page;
    this.id = id;
    this.parent = parent;
    this.children = new Set();
    this.url_ = '';
    this.name_ = '';
    this.detached = false;
    /** The lifecycle events of the current document: init, DOMContentLoaded, load, networkIdle… */
    this.lifecycle = new Set();
    this.loader = undefined;
    this.context = null;
    parent?.children.add(this);
  }

  /** The page, for the code of this module. Scripts call `page()`. */
  get owner() {
    return this.page_;
  }

  page() {
    return this.page_;
  }

  parentFrame() {
    return this.parent ?? null;
  }

  childFrames() {
    return [...this.children];
  }

  isDetached() {
    return this.detached;
  }

  name() {
    return this.name_;
  }

  url() {
    return this.url_;
  }

  title() {
    return this.evaluate('document.title');
  }

  content() {
    return this.evaluate(`(() => {
      const { doctype } = document;
      const type = doctype ? new XMLSerializer().serializeToString(doctype) : '';
      return type + (document.documentElement?.outerHTML ?? '');
    })()`);
  }

  async setContent(html, options) {
    const arrived = waitForDocument(this, options, 'setContent');
    arrived.catch(() => {});
    this.lifecycle.clear();
    // The code is a string, because functions of this script have no source.
    await this.evaluate(`(text) => {
      window.stop();
      document.open();
      document.write(text);
      document.close();
    }`, String(html));
    await arrived;
  }

  /** The context in which the page's own scripts run, as soon as it exists. */
  async world() {
    if (this.detached) throw new Closed('the frame was detached');
    if (!this.context) {
      await this.owner.session.wait(['context'], () => (this.context || this.detached ? true : undefined),
        this.owner.defaultTimeout(), 'waiting for the document');
      if (this.detached) throw new Closed('the frame was detached');
    }
    return this.context;
  }

  async evaluate(pageFunction, ...args) {
    return run(await this.world(), pageFunction, args, true, 'evaluate');
  }

  async evaluateHandle(pageFunction, ...args) {
    return run(await this.world(), pageFunction, args, false, 'evaluateHandle');
  }

  /** The object with the code that finds elements and acts on them, created once per document. */
  async helper() {
    const world = await this.world();
    world.helper ??= world.session
      .send('Runtime.evaluate', { expression: pageCode(), contextId: world.id })
      .then(({ result, exceptionDetails }) => {
        if (exceptionDetails) throw pageError(exceptionDetails);
        return result.objectId;
      });
    return { world, objectId: await world.helper };
  }

  /** Calls a function of the helper. */
  async call(name, args, timeout, byValue = true) {
    const { world, objectId } = await this.helper();
    const { result, exceptionDetails } = await world.session.send('Runtime.callFunctionOn', {
      functionDeclaration: `function (...args) { return this.${name}(...args); }`,
      objectId, arguments: args.map(argument), returnByValue: byValue, awaitPromise: true, userGesture: true,
    }, timeout > PATIENT ? undefined : timeout);
    if (exceptionDetails) throw new Error(pageError(exceptionDetails).message.split('\n')[0].replace(/^Error: /, ''));
    return byValue ? result.value : handleOf(world, result);
  }

  /** The element that the helper has kept. */
  take() {
    return this.call('take', [], undefined, false);
  }

  /** Handles of all elements. */
  async elements(parts, root) {
    const list = await this.call('all', [parts, root], undefined, false);
    const properties = await list.getProperties();
    list.dispose();
    return [...properties.values()].filter((handle) => handle instanceof ElementHandle);
  }

  async $(selector) {
    return (await this.elements([{ selector: String(selector) }]))[0] ?? null;
  }

  $$(selector) {
    return this.elements([{ selector: String(selector) }]);
  }

  async waitForSelector(selector, options, root) {
    const state = options?.state ?? 'visible';
    checkState(state, 'waitForSelector');
    const target = { frame: this, parts: [{ selector: String(selector) }], root, strict: Boolean(options?.strict), shown: `"${selector}"` };
    return waitUntil(target, state, options, `waiting for selector ${target.shown}`);
  }

  async waitForFunction(pageFunction, options, ...args) {
    const timeout = timeoutOf(options, this.owner);
    const polling = options?.polling ?? 'raf';
    if (typeof polling === 'number' ? polling <= 0 : !['raf', 'mutation'].includes(polling)) {
      throw new Error(`waitForFunction: polling is a number of milliseconds, 'raf' or 'mutation', not ${polling}`);
    }
    const deadline = Date.now() + (timeout > 0 ? timeout : PATIENT);
    for (;;) {
      try {
        const value = await this.evaluateHandle(pageFunction, ...args);
        const isTrue = value.remote.objectId ? value.remote.subtype !== 'null' : Boolean(valueOf(value.remote));
        if (isTrue) return value;
      } catch (error) {
        if (!isStale(error)) throw error;
      }
      if (Date.now() >= deadline) throw new TimedOut(`waiting for function: timed out after ${timeout}ms`);
      await delay(typeof polling === 'number' ? polling : 16);
    }
  }

  waitForTimeout(timeout) {
    return delay(Number(timeout)).then(() => undefined);
  }

  async frameElement() {
    if (!this.parent) throw new Error('the main frame has no element');
    const { backendNodeId } = await this.owner.session.send('DOM.getFrameOwner', { frameId: this.id });
    const world = await this.parent.world();
    const { object } = await this.owner.session.send('DOM.resolveNode', { backendNodeId, executionContextId: world.id });
    return new ElementHandle(world, object);
  }

  /** The position of the frame's viewport in the page's viewport. */
  async offset() {
    if (!this.parent) return { x: 0, y: 0 };
    const { backendNodeId } = await this.owner.session.send('DOM.getFrameOwner', { frameId: this.id });
    const { model } = await this.owner.session.send('DOM.getBoxModel', { backendNodeId });
    const [x, y] = model.content;
    // The bounding box of an element in an inner frame is already relative to the page's viewport.
    return { x, y };
  }

  goto(url, options) {
    return navigate(this, url, options);
  }

  waitForLoadState(state, options) {
    return waitForLoadState(this, state, options);
  }

  waitForNavigation(options) {
    return waitForNavigation(this, options);
  }

  waitForURL(url, options) {
    return waitForURL(this, url, options);
  }
}

let pageCode_;
const pageCode = () => (pageCode_ ??= native.codeOfPage('helper'));
